package dev.holdfast.core.filter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SearchTest {

  private static String text(SplittableRandom random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(random.nextInt(30) == 0 ? 'b' : 'a');
    }
    return text.toString();
  }

  @Test
  void a_text_is_found_where_it_is_and_not_where_it_is_not() {
    Seeds.each(
        2_000,
        random -> {
          String text = text(random, random.nextInt(1_000));
          String wanted = text(random, random.nextInt(60));
          assertThat(Search.isIn(text, wanted)).isEqualTo(text.contains(wanted));
          int from = random.nextInt(text.length() + 1);
          String part = text.substring(from, from + random.nextInt(text.length() - from + 1));
          assertThat(Search.isIn(text, part)).isTrue();
          assertThat(Search.isIn(text, part + "c")).isFalse();
        });
  }

  /** Looking at every place anew would take many minutes. */
  @Test
  void no_two_texts_take_long() {
    String text = "a".repeat(1_000_000);
    String wanted = "a".repeat(4_000) + "b" + "a".repeat(4_000);
    for (int i = 0; i < 20; i++) {
      assertThat(Search.isIn(text, wanted)).isFalse();
    }
    assertThat(Search.isIn(text + wanted, wanted)).isTrue();
  }
}
