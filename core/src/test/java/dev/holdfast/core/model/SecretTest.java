package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretTest {

  @Test
  void its_text_is_a_prefix_and_the_key_in_base64() {
    assertThat(Secret.keyOf("whsec_AAEC")).hasValue(new byte[] {0, 1, 2});
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "AAEC", "whsec_", "whsec_%%%%", "whsk_AAEC", "WHSEC_AAEC"})
  void anything_else_is_no_secret(String text) {
    assertThat(Secret.keyOf(text)).isEmpty();
  }
}
