package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceparentTest {
  private static final String GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  @Test
  void a_header_of_the_standards_form_is_kept() {
    assertThat(Traceparent.valid(GOOD)).isEqualTo(GOOD);
    String later = "cc" + GOOD.substring(2) + "-what-the-future-brings";
    assertThat(Traceparent.valid(later)).isEqualTo(later);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-a b",
      })
  void any_other_is_ignored(String header) {
    assertThat(Traceparent.valid(header)).isNull();
  }

  @Test
  void none_is_fine() {
    assertThat(Traceparent.valid(null)).isNull();
  }
}
