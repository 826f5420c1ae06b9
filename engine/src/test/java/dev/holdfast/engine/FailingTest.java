package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Delivery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FailingTest {
  private static final Instant START = Instant.parse("2026-03-04T05:06:07Z");
  private static final Failure TIMEOUT = Failure.of(Kind.TIMEOUT);
  private static final Failure BUSY = new Failure(Kind.STATUS, 503, new byte[0], null);

  private final List<Failing.Line> lines = new ArrayList<>();
  private final Failing failing = new Failing(lines::add);

  @Test
  void the_first_failure_of_an_endpoint_is_told_at_once() {
    failing.failed(delivery(1, 42), BUSY, START);

    assertThat(lines)
        .containsExactly(new Failing.Line(1, "acme", "https://example.com/secret", 1, "503", 42));
  }

  @Test
  void further_ones_are_told_once_a_minute_with_their_number() {
    for (int second = 0; second <= 60; second++) {
      failing.failed(delivery(1, 42 + second), TIMEOUT, START.plusSeconds(second));
    }

    assertThat(lines).extracting(Failing.Line::failures).containsExactly(1L, 60L);
    assertThat(lines.getLast().message()).isEqualTo(102);
    assertThat(lines.getLast().last()).isEqualTo("timeout");
  }

  @Test
  void one_endpoint_hides_no_other() {
    failing.failed(delivery(1, 1), TIMEOUT, START);
    failing.failed(delivery(2, 2), TIMEOUT, START);

    assertThat(lines).extracting(Failing.Line::endpoint).containsExactly(1L, 2L);
  }

  @Test
  void what_has_gathered_is_told_though_nothing_fails_any_more() {
    failing.failed(delivery(1, 1), TIMEOUT, START);
    failing.failed(delivery(1, 2), TIMEOUT, START.plusSeconds(1));
    failing.sweep(START.plusSeconds(59));
    assertThat(lines).hasSize(1);

    failing.sweep(START.plusSeconds(60));
    assertThat(lines).extracting(Failing.Line::failures).containsExactly(1L, 1L);
  }

  @Test
  void an_endpoint_that_fails_again_after_a_quiet_minute_is_told_at_once() {
    failing.failed(delivery(1, 1), TIMEOUT, START);
    failing.sweep(START.plusSeconds(60));
    failing.failed(delivery(1, 2), TIMEOUT, START.plusSeconds(61));

    assertThat(lines).extracting(Failing.Line::failures).containsExactly(1L, 1L);
  }

  @Test
  void no_more_endpoints_are_remembered_than_there_is_room_for() {
    for (int endpoint = 0; endpoint < Failing.MOST + 5; endpoint++) {
      failing.failed(delivery(endpoint, endpoint), TIMEOUT, START);
    }
    assertThat(lines).hasSize(Failing.MOST);

    failing.sweep(START.plusSeconds(60));
    failing.failed(delivery(Failing.MOST + 1, 1), TIMEOUT, START.plusSeconds(61));
    assertThat(lines).hasSize(Failing.MOST + 1);
  }

  static Delivery delivery(long endpoint, long message) {
    Event event =
        new Event(7, "acme", "order.paid", null, null, new byte[] {'1'}, null, null, null);
    return new Delivery(
        Message.pending(message, 7, 1, endpoint, event.size()),
        event,
        new Subscription(1, "acme", endpoint, List.of(new TypePattern("*")), null, START),
        "https://example.com/secret",
        START);
  }
}
