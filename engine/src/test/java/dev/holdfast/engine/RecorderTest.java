package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.port.Delivery;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RecorderTest {
  private static final Instant ACCEPTED = Instant.parse("2026-03-04T05:06:07Z");
  private static final Outcome OK = new Outcome.Success(200, new byte[0]);

  private final Recorder recorder = new Recorder();

  @Test
  void a_value_is_counted_in_the_first_bucket_that_it_fits_into() {
    Histogram histogram = new Histogram(10, 20);
    for (long value : new long[] {0, 10, 11, 20, 21, 1_000}) {
      histogram.add(value);
    }
    assertThat(histogram.read().counts()).containsExactly(2, 2, 2);
    assertThat(histogram.read().sum()).isEqualTo(1_062);
  }

  @Test
  void a_first_attempt_counts_from_the_message_s_acceptance() {
    recorder.starts(first(ACCEPTED.plusMillis(30)));

    assertThat(read().firstAttemptDelay().sum()).isEqualTo(30_000);
    assertThat(count(read().firstAttemptDelay())).isEqualTo(1);
    assertThat(count(read().retryLateness())).isZero();
  }

  @Test
  void a_retry_counts_from_its_slot_and_one_before_its_slot_does_not_count() {
    recorder.starts(retry(ACCEPTED.plusSeconds(100), ACCEPTED.plusSeconds(103)));
    recorder.starts(retry(ACCEPTED.plusSeconds(100), ACCEPTED.plusSeconds(99)));

    assertThat(read().retryLateness().sum()).isEqualTo(3_000_000);
    assertThat(count(read().retryLateness())).isEqualTo(1);
    assertThat(count(read().firstAttemptDelay())).isZero();
  }

  @Test
  void a_delivery_counts_from_the_message_s_acceptance_to_the_answer() {
    recorder.ended(first(ACCEPTED.plusMillis(30)), OK, 12);

    assertThat(read().deliveryDelay().sum()).isEqualTo(42_000);
    assertThat(read().attemptDuration().sum()).isEqualTo(12_000);
    assertThat(read().failures()).containsEntry(Kind.TIMEOUT, 0L);
  }

  @Test
  void failures_are_counted_by_their_kind() {
    recorder.ended(first(ACCEPTED), Outcome.Failure.of(Kind.TIMEOUT), 5_000);
    recorder.ended(first(ACCEPTED), Outcome.Failure.of(Kind.TIMEOUT), 5_000);
    recorder.ended(first(ACCEPTED), Outcome.Failure.of(Kind.DNS), 7);

    assertThat(read().failures())
        .containsEntry(Kind.TIMEOUT, 2L)
        .containsEntry(Kind.DNS, 1L)
        .containsEntry(Kind.TLS, 0L);
    assertThat(count(read().deliveryDelay())).isZero();
    assertThat(count(read().attemptDuration())).isEqualTo(3);
  }

  @Test
  void changes_of_state_commits_and_lateness_are_counted() {
    recorder.changed(Health.State.FROZEN);
    recorder.committed(17, 3_000_000);
    recorder.eventLoopWasLate(4_000_000);
    recorder.eventLoopWasLate(-1);

    assertThat(read().changes())
        .isEqualTo(
            Map.of(Health.State.ENABLED, 0L, Health.State.DISABLED, 0L, Health.State.FROZEN, 1L));
    assertThat(read().commitWrites().sum()).isEqualTo(17);
    assertThat(read().commitDuration().sum()).isEqualTo(3_000);
    assertThat(read().eventLoopLag().sum()).isEqualTo(4_000);
    assertThat(count(read().eventLoopLag())).isEqualTo(2);
  }

  private Measurements read() {
    return recorder.read(Map.of(), 0, 0, 0, null);
  }

  private static long count(Distribution distribution) {
    return Arrays.stream(distribution.counts()).sum();
  }

  private static Delivery first(Instant startedAt) {
    return at(Message.pending(Id.floor(ACCEPTED), 7, 1, 1, 300), startedAt);
  }

  private static Delivery retry(Instant due, Instant startedAt) {
    return at(
        new Message(
            Id.floor(ACCEPTED),
            7,
            1,
            1,
            Status.WAITING,
            1,
            1,
            ACCEPTED,
            due,
            null,
            null,
            300,
            null),
        startedAt);
  }

  private static Delivery at(Message message, Instant startedAt) {
    Delivery delivery = FailingTest.delivery(1, 1);
    return new Delivery(
        message, delivery.event(), delivery.subscription(), delivery.url(), startedAt);
  }
}
