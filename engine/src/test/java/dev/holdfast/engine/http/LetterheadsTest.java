package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LetterheadsTest {
  private final Letterheads letterheads = new Letterheads(2);

  @Test
  void a_form_is_made_ready_once() {
    Subscription subscription = subscription(1, form("token", Map.of()));
    Letterhead first = letterheads.of(subscription);
    assertThat(letterheads.of(subscription)).isSameAs(first);
    assertThat(letterheads.of(subscription(1, form("token", Map.of())))).isSameAs(first);
    assertThat(letterheads.of(subscription)).isSameAs(first);
  }

  @Test
  void a_form_that_has_changed_is_made_ready_anew() {
    assertThat(head(subscription(1, form("one", Map.of())))).contains("Bearer one");
    assertThat(head(subscription(1, form("two", Map.of())))).contains("Bearer two");
    assertThat(head(subscription(1, form(null, Map.of("a", "b"))))).isEqualTo("a: b\r\n");
    assertThat(head(subscription(1, form(null, Map.of())))).isEmpty();
  }

  @Test
  void the_one_unused_for_longest_is_forgotten() {
    Letterhead first = letterheads.of(subscription(1, form("token", Map.of())));
    Letterhead second = letterheads.of(subscription(2, form("token", Map.of())));
    assertThat(letterheads.of(subscription(1, form("token", Map.of())))).isSameAs(first);
    letterheads.of(subscription(3, form("token", Map.of())));
    assertThat(letterheads.of(subscription(1, form("token", Map.of())))).isSameAs(first);
    assertThat(letterheads.of(subscription(2, form("token", Map.of())))).isNotSameAs(second);
  }

  @Test
  void plain_forms_are_not_remembered() {
    Letterhead first = letterheads.of(subscription(1, form("token", Map.of())));
    for (int id = 2; id < 10; id++) {
      assertThat(letterheads.of(subscription(id, Form.PLAIN))).isSameAs(Letterhead.PLAIN);
    }
    assertThat(letterheads.of(subscription(1, form("token", Map.of())))).isSameAs(first);
  }

  @Test
  void with_a_token_no_other_authorization_is_sent() {
    assertThat(head(subscription(1, form("t", Map.of("authorization", "Basic x", "b", "c")))))
        .isEqualTo("Authorization: Bearer t\r\nb: c\r\n");
    assertThat(head(subscription(1, form(null, Map.of("authorization", "Basic x")))))
        .isEqualTo("authorization: Basic x\r\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\r\nx: y", "a\n", "\r", "ü", "\u0000", "\u007f", "😀", "a\tb"})
  void what_could_smuggle_something_is_never_sent(String text) {
    String planted = "planted" + text;
    for (Form form :
        List.of(
            form(planted, Map.of()),
            form(null, Map.of("name", planted)),
            form(null, Map.of(planted, "value")))) {
      assertThatThrownBy(() -> letterheads.of(subscription(1, form)))
          .isInstanceOf(IllegalArgumentException.class)
          .message()
          .doesNotContain("planted");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:", "a\"", "(a)"})
  void a_name_that_is_no_token_is_never_sent(String name) {
    assertThatThrownBy(() -> letterheads.of(subscription(1, form(null, Map.of(name, "v")))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({"planted", "whsec_", "whsec_plan_ted", "whsec_planted!", "WHSEC_cGxhbnRlZA=="})
  void a_secret_that_is_none_is_not_repeated(String text) {
    assertThatThrownBy(
            () ->
                letterheads.of(
                    subscription(
                        1,
                        new Form(
                            Format.HOLDFAST,
                            false,
                            null,
                            new TreeMap<>(),
                            List.of(new Secret(text, Instant.EPOCH, null))))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a secret must be a prefix and a key in Base64")
        .hasNoCause();
  }

  private String head(Subscription subscription) {
    return new String(letterheads.of(subscription).head, US_ASCII);
  }

  private static Form form(@Nullable String token, Map<String, String> headers) {
    return new Form(Format.HOLDFAST, false, token, new TreeMap<>(headers), List.of());
  }

  private static Subscription subscription(long id, Form form) {
    return Senders.subscription(id, form);
  }
}
