package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CursorTest {

  @Test
  void a_cursor_leads_back_to_where_it_came_from() {
    for (long before : new long[] {0, 1, 123_456_789_012_345L, Long.MAX_VALUE}) {
      String text = Cursor.text(Cursor.List.MESSAGES, before);
      assertThat(Cursor.before(Cursor.List.MESSAGES, text)).isEqualTo(before);
      assertThat(text).matches("[A-Za-z0-9_-]+");
    }
  }

  @Test
  void a_cursor_of_another_list_is_refused() {
    String text = Cursor.text(Cursor.List.MESSAGES, 17);
    assertThatThrownBy(() -> Cursor.before(Cursor.List.ENDPOINTS, text))
        .isInstanceOf(Refusal.class);
  }

  @Test
  void a_broken_cursor_is_refused() {
    String text = Cursor.text(Cursor.List.MESSAGES, 17);
    for (int i = 0; i < text.length(); i++) {
      String changed =
          text.substring(0, i) + (text.charAt(i) == 'Q' ? 'R' : 'Q') + text.substring(i + 1);
      refused(changed);
      refused(text.substring(0, i));
    }
    refused("");
    refused("%%%");
    refused(text + "AAAA");
    refused("A".repeat(10_000));
  }

  private static void refused(String text) {
    assertThatThrownBy(() -> Cursor.before(Cursor.List.MESSAGES, text))
        .as(text)
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> {
              assertThat(refusal.problem().kind().status).isEqualTo(400);
              assertThat(refusal.problem().field()).isEqualTo("cursor");
            });
  }
}
