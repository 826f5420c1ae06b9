package dev.holdfast.core.model;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Secret.Signature;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretTest {

  /** The example of the implementation that others follow. */
  private static final String PAIR =
      "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";

  private static final String PUBLIC = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";

  @Test
  void its_text_is_a_prefix_and_the_key_in_base64() {
    assertThat(Secret.keyOf("whsec_AAEC")).hasValue(new byte[] {0, 1, 2});
    assertThat(secret("whsec_AAEC").signature()).isEqualTo(Signature.V1);
    assertThat(secret("whsec_AAEC").publicKey()).isEmpty();
  }

  @Test
  void a_pair_of_keys_ends_with_the_public_one_which_can_be_shown() {
    assertThat(Secret.keyOf(PAIR).orElseThrow()).hasSize(64);
    assertThat(secret(PAIR).signature()).isEqualTo(Signature.V1A);
    assertThat(secret(PAIR).publicKey()).hasValue(PUBLIC);
    assertThat(Secret.publicKeyOf(PUBLIC).orElseThrow()).hasSize(32);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "AAEC",
        "whsec_",
        "whsec_%%%%",
        "whsk_AAEC",
        "WHSEC_AAEC",
        "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
      })
  void anything_else_is_no_secret(String text) {
    assertThat(Secret.keyOf(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "whpk_", "whpk_AAEC", "whpk_%", "whsec_AAEC"})
  void anything_else_is_no_public_key(String text) {
    assertThat(Secret.publicKeyOf(text)).isEmpty();
  }

  @Test
  void it_is_not_printed() {
    for (String text :
        new String[] {
          PAIR, "whsec_" + Base64.getEncoder().encodeToString(PAIR.getBytes(US_ASCII))
        }) {
      assertThat(secret(text).toString()).doesNotContain(text.substring(6, 20));
    }
  }

  private static Secret secret(String text) {
    return new Secret(text, Instant.EPOCH, null);
  }
}
