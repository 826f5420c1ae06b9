package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.NewHeaders;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Form.NewToken;
import dev.holdfast.core.model.Form.Version;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FormTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Secret FIRST = new Secret("whsec_first", NOW.minusSeconds(60), null);

  private static final Form FORM =
      new Form(
          Format.WORKFRONT,
          true,
          "the-token",
          new TreeMap<>(Map.of("X-One", "1", "X-Two", "2")),
          List.of(FIRST));

  private static Form.Change change(NewHeaders headers) {
    return new Form.Change(null, null, null, null, headers, null);
  }

  private static Form rotated(Form before, String secret, Duration oldValidFor, Instant at) {
    NewSecret newSecret = new NewSecret(secret, oldValidFor);
    return Form.Change.to(newSecret).applyTo(before, at);
  }

  @Test
  void a_change_of_nothing_changes_nothing() {
    assertThat(Form.Change.NOTHING.applyTo(FORM, NOW)).isEqualTo(FORM);
  }

  @Test
  void each_part_changes_by_itself() {
    Form other =
        new Form.Change(null, null, null, new NewToken("other"), null, null).applyTo(FORM, NOW);
    assertThat(other.authToken()).isEqualTo("other");
    assertThat(other.headers()).isEqualTo(FORM.headers());
    Form none =
        new Form.Change(null, null, null, new NewToken(null), null, null).applyTo(FORM, NOW);
    assertThat(none.authToken()).isNull();
    Form plain = new Form.Change(null, null, false, null, null, null).applyTo(FORM, NOW);
    assertThat(plain.base64()).isFalse();
    assertThat(plain.format()).isEqualTo(Format.WORKFRONT);
  }

  @Test
  void another_format_ends_base64() {
    Form.Change change = new Form.Change(Format.HOLDFAST, null, null, null, null, null);
    assertThat(change.isBase64Possible(FORM)).isTrue();
    assertThat(change.applyTo(FORM, NOW).base64()).isFalse();
  }

  @Test
  void only_workfront_can_be_in_base64() {
    Form.Change change = new Form.Change(Format.HOLDFAST, null, true, null, null, null);
    assertThat(change.isBase64Possible(FORM)).isFalse();
    assertThat(new Form.Change(null, null, true, null, null, null).isBase64Possible(Form.PLAIN))
        .isFalse();
    assertThat(new Form.Change(null, null, true, null, null, null).isBase64Possible(FORM)).isTrue();
    assertThat(new Form.Change(null, null, false, null, null, null).isBase64Possible(Form.PLAIN))
        .isTrue();
    assertThatThrownBy(() -> new Form(Format.HOLDFAST, true, null, new TreeMap<>(), List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void headers_are_added_replaced_and_removed_whatever_the_case_of_their_names() {
    NewHeaders headers = new NewHeaders(false, Map.of("x-one", "9", "X-New", "3"), Set.of("x-TWO"));
    assertThat(change(headers).applyTo(FORM, NOW).headers())
        .containsExactly(entry("X-New", "3"), entry("x-one", "9"));
  }

  @Test
  void all_headers_are_replaced_when_there_are_to_be_no_others() {
    NewHeaders headers = new NewHeaders(true, Map.of("X-New", "3"), Set.of());
    assertThat(change(headers).applyTo(FORM, NOW).headers()).containsExactly(entry("X-New", "3"));
  }

  @Test
  void an_old_secret_is_valid_for_a_while_beside_the_new_one() {
    Form after = rotated(FORM, "whsec_second", Duration.ofHours(24), NOW);
    assertThat(after.secretsAt(NOW))
        .extracting(Secret::text)
        .containsExactly("whsec_second", "whsec_first");
    assertThat(after.secretsAt(NOW.plus(Duration.ofHours(24)).minusMillis(1))).hasSize(2);
    assertThat(after.secretsAt(NOW.plus(Duration.ofHours(24))))
        .extracting(Secret::text)
        .containsExactly("whsec_second");
  }

  @Test
  void an_old_secret_can_be_ended_at_once_with_all_that_were_before_it() {
    Form once = rotated(FORM, "whsec_second", Duration.ofHours(24), NOW);
    Form twice = rotated(once, "whsec_third", Duration.ZERO, NOW.plusSeconds(1));
    assertThat(twice.secrets()).extracting(Secret::text).containsExactly("whsec_third");
  }

  @Test
  void a_secret_that_is_ending_does_not_live_longer_when_there_is_another_one() {
    Form once = rotated(FORM, "whsec_second", Duration.ofHours(1), NOW);
    Form twice = rotated(once, "whsec_third", Duration.ofHours(24), NOW);
    assertThat(twice.secrets().getLast().validUntil()).isEqualTo(NOW.plus(Duration.ofHours(1)));
    Form later =
        rotated(twice, "whsec_fourth", Duration.ofHours(24), NOW.plus(Duration.ofHours(2)));
    assertThat(later.secrets()).extracting(Secret::text).doesNotContain("whsec_first").hasSize(3);
  }

  @Test
  void nothing_that_is_secret_is_printed() {
    String printed =
        FORM.toString()
            + new Form.Change(
                null,
                null,
                null,
                new NewToken("the-token"),
                new NewHeaders(false, Map.of("X-Key", "header-value"), Set.of()),
                new NewSecret("whsec_first", Duration.ZERO))
            + rotated(FORM, "whsec_second", Duration.ZERO, NOW);
    assertThat(printed).doesNotContain("the-token", "header-value", "whsec_first", "whsec_second");
  }

  @Test
  void a_version_that_changes_is_remembered_with_its_time() {
    Form v1 = Form.Change.to(Version.V1).applyTo(FORM, NOW);
    assertThat(v1.edition()).isEqualTo(new Edition(Version.V1, NOW));
    assertThat(Form.Change.to(Version.V1).applyTo(v1, NOW.plusSeconds(1))).isEqualTo(v1);
    assertThat(Form.Change.NOTHING.applyTo(v1, NOW.plusSeconds(1))).isEqualTo(v1);
    Duration five = Duration.ofMinutes(5);
    assertThat(FORM.isBothAt(NOW, five)).isFalse();
    assertThat(v1.isBothAt(NOW, five)).isTrue();
    assertThat(v1.isBothAt(NOW.plus(five).minusNanos(1), five)).isTrue();
    assertThat(v1.isBothAt(NOW.plus(five), five)).isFalse();
    assertThat(v1.isBothAt(NOW, Duration.ZERO)).isFalse();
  }

  @Test
  void only_the_format_workfront_has_versions() {
    Form.Change toV1 = Form.Change.to(Version.V1);
    assertThat(toV1.isVersionPossible(FORM)).isTrue();
    assertThat(toV1.isVersionPossible(Form.PLAIN)).isFalse();
    assertThat(Form.Change.to(Version.V2).isVersionPossible(Form.PLAIN)).isFalse();
    assertThat(Form.Change.NOTHING.isVersionPossible(Form.PLAIN)).isTrue();
    Form.Change both = new Form.Change(Format.WORKFRONT, Version.V1, null, null, null, null);
    assertThat(both.isVersionPossible(Form.PLAIN)).isTrue();
    assertThat(both.applyTo(Form.PLAIN, NOW).edition()).isEqualTo(new Edition(Version.V1, null));
    Form.Change away = new Form.Change(Format.CLOUDEVENTS, null, null, null, null, null);
    assertThat(away.isVersionPossible(FORM)).isTrue();
    assertThat(
            new Form.Change(Format.CLOUDEVENTS, Version.V2, null, null, null, null)
                .isVersionPossible(FORM))
        .isFalse();
    assertThat(away.applyTo(toV1.applyTo(FORM, NOW), NOW).edition()).isEqualTo(Edition.NEWEST);
    assertThatThrownBy(
            () ->
                new Form(
                    Format.HOLDFAST,
                    new Edition(Version.V1, null),
                    false,
                    null,
                    new TreeMap<>(),
                    List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
