package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123Z");

  @Test
  void an_id_tells_when_it_was_given_out() {
    assertThat(Id.time(Id.floor(NOW))).isEqualTo(NOW);
    assertThat(Id.time(Id.floor(NOW.plusMillis(1)) - 1)).isEqualTo(NOW);
  }

  @Test
  void ids_sort_by_time() {
    assertThat(Id.floor(NOW.plusMillis(1))).isGreaterThan(Id.floor(NOW));
  }

  @Test
  void a_time_before_2025_has_the_lowest_id() {
    assertThat(Id.floor(Instant.EPOCH)).isZero();
    assertThat(Id.floor(Instant.parse("2025-01-01T00:00:00Z"))).isZero();
  }

  @Test
  void an_id_is_shown_as_a_prefix_and_thirteen_characters() {
    assertThat(Id.text(Id.MESSAGE, 0)).isEqualTo("msg_0000000000000");
    assertThat(Id.text(Id.ENDPOINT, 31)).isEqualTo("ep_000000000000Z");
    assertThat(Id.text(Id.EVENT, Long.MAX_VALUE)).isEqualTo("evt_7ZZZZZZZZZZZZ");
  }

  @Test
  void every_id_can_be_read_back_from_its_text() {
    Seeds.each(
        2_000,
        random -> {
          long id = random.nextLong() >>> random.nextInt(1, 64);
          String text = Id.text(Id.SUBSCRIPTION, id);
          assertThat(text).hasSize("sub_".length() + 13);
          assertThat(Id.parse(Id.SUBSCRIPTION, text)).hasValue(id);
        });
  }

  @Test
  void texts_sort_as_their_ids_do() {
    Seeds.each(
        1_000,
        random -> {
          long one = random.nextLong() >>> 1;
          long other = random.nextLong() >>> 1;
          assertThat(Integer.signum(Id.text(Id.EVENT, one).compareTo(Id.text(Id.EVENT, other))))
              .isEqualTo(Long.compare(one, other));
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "msg",
        "msg_",
        "msg_000000000000",
        "msg_00000000000000",
        "msg-0000000000000",
        "evt_0000000000000",
        "MSG_0000000000000",
        "msg_000000000000I",
        "msg_000000000000L",
        "msg_000000000000O",
        "msg_000000000000U",
        "msg_000000000000a",
        "msg_000000000000 ",
        "msg_000000000000\u0660",
        "msg_8000000000000",
        "msg_ZZZZZZZZZZZZZ",
      })
  void what_is_not_an_id_is_not_read(String text) {
    assertThat(Id.parse(Id.MESSAGE, text)).isEmpty();
  }
}
