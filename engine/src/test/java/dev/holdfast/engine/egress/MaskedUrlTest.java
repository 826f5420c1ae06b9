package dev.holdfast.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaskedUrlTest {

  @ParameterizedTest
  @CsvSource({
    "https://host/path, https://host/path",
    "https://host/path?, https://host/path?",
    "https://host/?token=abc, https://host/?token=****",
    "https://host/?a=1&b=2, https://host/?a=****&b=****",
    "https://host/?abc, https://host/?****",
    "https://host/?a=&b=2, https://host/?a=&b=****",
    "https://host/?a=b=c&d, https://host/?a=****&****",
    "https://host/?a?b=c, https://host/?a?b=****",
    "https://host/?&&, https://host/?&&",
  })
  void everything_is_shown_but_the_values_of_the_query(String url, String shown) {
    assertThat(MaskedUrl.of(url)).isEqualTo(shown);
  }

  @Test
  void no_value_is_ever_shown() {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    List<String> parameters =
        List.of(
            "name=CANARY", "CANARY", "name=CANARY=more", "name==CANARY", "name=CA?CANARY", "", "=");
    for (int i = 0; i < 1_000; i++) {
      StringBuilder url = new StringBuilder("https://host/path?");
      for (int n = random.nextInt(1, 6); n > 0; n--) {
        url.append(parameters.get(random.nextInt(parameters.size()))).append(n > 1 ? "&" : "");
      }
      String shown = MaskedUrl.of(url.toString());
      assertThat(shown).as("%s, seed %d", url, seed).doesNotContain("CANARY");
      assertThat(MaskedUrl.of(shown)).as("%s, seed %d", url, seed).isEqualTo(shown);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "https://host/?token=****, true",
    "https://host/?a=1&****, true",
    "https://host/?token=****1, false",
    "https://host/****, false",
  })
  void what_was_shown_is_known_when_it_comes_back(String url, boolean isMasked) {
    assertThat(MaskedUrl.isMasked(url)).isEqualTo(isMasked);
  }
}
