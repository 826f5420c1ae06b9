package dev.holdfast.proof.torture;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.proof.torture.StoreLook.Contents;
import dev.holdfast.proof.torture.StoreLook.Finished;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** That the ledger finds what must not happen, and nothing else. */
class LedgerTest {
  private static final long MESSAGE = 1_000;

  private final Plan plan = new Plan(1);
  private final AtomicLong nanos = new AtomicLong(SECONDS.toNanos(100));
  private final Ledger ledger = new Ledger(plan, nanos::get);
  private final Map<Long, Finished> finished = new HashMap<>();

  /** An event whose messages are both taken at once. */
  private final int event =
      IntStream.range(0, 1_000)
          .filter(number -> plan.refusals(number, 0) + plan.refusals(number, 1) == 0)
          .findFirst()
          .orElseThrow();

  LedgerTest() {
    ledger.send(event + 1);
  }

  @Test
  void what_was_acknowledged_and_arrived_once_is_fine() {
    ledger.acknowledged(event);
    arriveBoth();
    assertThat(ledger.missing()).isZero();
    assertThat(audit()).isEmpty();
  }

  @Test
  void what_arrived_before_its_acknowledgement_is_fine() {
    arriveBoth();
    ledger.acknowledged(event);
    assertThat(ledger.missing()).isZero();
    assertThat(audit()).isEmpty();
  }

  @Test
  void what_was_acknowledged_and_did_not_arrive_is_told() {
    ledger.acknowledged(event);
    ledger.arrived(MESSAGE, event, 0);
    finished.put(MESSAGE, new Finished(1, null));
    assertThat(ledger.missing()).isEqualTo(1);
    assertThat(audit()).singleElement().asString().startsWith("NOT ARRIVED: event " + event);
  }

  @Test
  void what_was_never_answered_may_arrive_or_not() {
    assertThat(audit()).isEmpty();
    arriveBoth();
    assertThat(audit()).isEmpty();
  }

  @Test
  void what_came_again_without_a_reason_is_told() {
    ledger.acknowledged(event);
    arriveBoth();
    ledger.killed(Set.of());
    ledger.arrived(MESSAGE, event, 0);
    assertThat(audit()).singleElement().asString().contains("came 1 times after endpoint");
  }

  @Test
  void what_was_in_flight_at_a_kill_may_come_again_once() {
    ledger.acknowledged(event);
    arriveBoth();
    ledger.killed(List.of(MESSAGE));
    ledger.arrived(MESSAGE, event, 0);
    assertThat(audit()).isEmpty();
    ledger.arrived(MESSAGE, event, 0);
    assertThat(audit()).singleElement().asString().contains("came 2 times");
  }

  @Test
  void what_is_recorded_as_timed_out_may_come_again() {
    ledger.acknowledged(event);
    arriveBoth();
    ledger.arrived(MESSAGE, event, 0);
    finished.put(MESSAGE, new Finished(2, null));
    assertThat(audit()).isEmpty();
  }

  @Test
  void a_refusal_that_a_kill_left_unrecorded_hides_no_time_out() {
    int refusedOnce =
        IntStream.range(0, 1_000)
            .filter(number -> plan.refusals(number, 0) == 1)
            .findFirst()
            .orElseThrow();
    ledger.send(refusedOnce + 1);
    assertThat(ledger.arrived(MESSAGE, refusedOnce, 0).taken()).isFalse();
    ledger.killed(Set.of(MESSAGE));
    assertThat(ledger.arrived(MESSAGE, refusedOnce, 0).taken()).isTrue();
    ledger.arrived(MESSAGE, refusedOnce, 0);
    finished.put(MESSAGE, new Finished(2, null));
    assertThat(audit()).isEmpty();
    ledger.arrived(MESSAGE, refusedOnce, 0);
    assertThat(audit()).singleElement().asString().contains("came 2 times after endpoint");
  }

  @Test
  void what_was_taken_in_a_time_of_trouble_may_come_again_once() {
    ledger.acknowledged(event);
    arriveBoth();
    ledger.trouble(SECONDS.toNanos(100), SECONDS.toNanos(101), Set.of(Listener.ALL_EVENTS));
    ledger.arrived(MESSAGE + 1, event, 1);
    assertThat(audit()).isEmpty();
    ledger.arrived(MESSAGE, event, 0);
    assertThat(audit()).singleElement().asString().contains("came 1 times");
  }

  @Test
  void what_was_taken_long_before_or_after_a_time_of_trouble_may_not_come_again() {
    ledger.acknowledged(event);
    arriveBoth();
    ledger.trouble(SECONDS.toNanos(102), SECONDS.toNanos(103), Set.of(Listener.ALL_EVENTS));
    ledger.trouble(SECONDS.toNanos(98), SECONDS.toNanos(99), Set.of(Listener.ALL_EVENTS));
    ledger.arrived(MESSAGE + 1, event, 1);
    assertThat(audit()).singleElement().asString().contains("0 times of trouble");
  }

  @Test
  void it_is_noted_when_something_has_arrived_at_each_endpoint_that_is_watched() {
    arriveBoth();
    ledger.watch(Set.of(Listener.ALL_EVENTS));
    assertThat(ledger.watched()).isEqualTo(1);
    nanos.addAndGet(7);
    ledger.arrived(MESSAGE + 1, event, 1);
    nanos.addAndGet(7);
    assertThat(ledger.watched()).isZero();
    assertThat(ledger.watchedAtNanos()).isEqualTo(SECONDS.toNanos(100) + 7);
  }

  @Test
  void what_was_refused_by_somebody_who_could_not_know_is_counted() {
    ledger.refusalsAreUncertain();
    ledger.refused(event);
    arriveBoth();
    assertThat(audit()).isEmpty();
    assertThat(ledger.refusedAndArrived()).isEqualTo(1);
  }

  @Test
  void what_was_refused_and_arrived_is_told() {
    ledger.refused(event);
    arriveBoth();
    assertThat(audit()).singleElement().asString().contains("was refused and arrived");
  }

  @Test
  void what_was_accepted_twice_is_told() {
    ledger.acknowledged(event);
    arriveBoth();
    ledger.arrived(MESSAGE + 7, event, 0);
    finished.put(MESSAGE + 7, new Finished(1, null));
    assertThat(audit()).singleElement().asString().contains("accepted twice");
  }

  @Test
  void what_is_recorded_as_delivered_and_never_arrived_is_told() {
    finished.put(MESSAGE, new Finished(1, null));
    assertThat(audit()).singleElement().asString().contains("never arrived");
  }

  @Test
  void what_was_dropped_or_is_unfinished_is_told() {
    ledger.acknowledged(event);
    arriveBoth();
    finished.put(MESSAGE + 1, new Finished(1, "EXHAUSTED"));
    assertThat(ledger.audit(new Contents(Set.of(5L), finished)))
        .hasSize(2)
        .anyMatch(problem -> problem.contains("dropped as EXHAUSTED"))
        .anyMatch(problem -> problem.contains("unfinished in the end"));
  }

  private void arriveBoth() {
    for (int subscription = 0; subscription < 2; subscription++) {
      assertThat(ledger.arrived(MESSAGE + subscription, event, subscription).taken()).isTrue();
      finished.put(MESSAGE + subscription, new Finished(1, null));
    }
  }

  private List<String> audit() {
    return ledger.audit(new Contents(Set.of(), finished));
  }
}
