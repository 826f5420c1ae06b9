package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.BASE;
import static dev.holdfast.core.rules.Given.DEADLINE;
import static dev.holdfast.core.rules.Given.DISABLED_BY_HAND;
import static dev.holdfast.core.rules.Given.ENABLED;
import static dev.holdfast.core.rules.Given.FAILURE;
import static dev.holdfast.core.rules.Given.FROZEN;
import static dev.holdfast.core.rules.Given.SCHEDULE;
import static dev.holdfast.core.rules.Given.SUCCESS;
import static dev.holdfast.core.rules.Given.leftAloneUntil;
import static dev.holdfast.core.rules.Given.parkedAt;
import static dev.holdfast.core.rules.Given.pending;
import static dev.holdfast.core.rules.Given.status;
import static dev.holdfast.core.rules.Given.waitingFor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryScheduleTest {
  private static final Duration A_MILLISECOND = Duration.ofMillis(1);

  /** What the message is after an attempt that took no time and failed. */
  private static Message afterFailure(Message message, Instant at) {
    return afterFailure(message, at, FAILURE);
  }

  private static Message afterFailure(Message message, Instant at, Outcome.Failure failure) {
    return waits(SCHEDULE.after(message, at, failure, at));
  }

  private static Message waits(Verdict verdict) {
    return assertThat(verdict).asInstanceOf(type(Verdict.Wait.class)).actual().message();
  }

  private static Message parks(Arrival arrival) {
    return assertThat(arrival).asInstanceOf(type(Arrival.Park.class)).actual().message();
  }

  private static void isExhausted(Verdict verdict) {
    assertThat(verdict).isEqualTo(new Verdict.Drop(DropReason.EXHAUSTED));
  }

  @Nested
  class Slots {

    @ParameterizedTest
    @CsvSource({
      "1, 84800",
      "2, 254400",
      "3, 593600",
      "4, 1272000",
      "5, 2628800",
      "6, 5342400",
      "7, 10769600",
      "8, 21624000",
      "9, 43332800",
      "10, 86750400",
      "11, 173585600",
    })
    void each_retry_has_its_slot_after_the_base(int retry, long millis) {
      assertThat(SCHEDULE.slot(BASE, retry)).isEqualTo(BASE.plusMillis(millis));
    }

    @Test
    void the_first_attempt_of_a_parked_message_has_its_slot_at_the_base() {
      assertThat(SCHEDULE.slot(BASE, 0)).isEqualTo(BASE);
    }

    @Test
    void the_slot_of_the_last_retry_is_the_deadline() {
      assertThat(SCHEDULE.deadline(BASE)).isEqualTo(DEADLINE);
      assertThat(Duration.between(BASE, DEADLINE)).isBetween(hm(48, 13), hm(48, 14));
    }

    @Test
    void the_most_retries_that_can_be_set_still_have_slots() {
      RetrySchedule most = new RetrySchedule(Duration.ofDays(1), RetrySchedule.MOST_RETRIES);
      assertThat(most.deadline(BASE)).isAfter(most.slot(BASE, RetrySchedule.MOST_RETRIES - 1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void a_unit_that_is_no_time_is_refused(long millis) {
      assertThatThrownBy(() -> new RetrySchedule(Duration.ofMillis(millis), 11))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("unit");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 25})
    void a_number_of_retries_that_cannot_be_reckoned_with_is_refused(int retries) {
      assertThatThrownBy(() -> new RetrySchedule(Duration.ofMillis(84_800), retries))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("1 to 24");
    }

    private static Duration hm(int hours, int minutes) {
      return Duration.ofHours(hours).plusMinutes(minutes);
    }
  }

  @Nested
  class Base {

    @Test
    void the_base_is_the_moment_the_first_attempt_failed() {
      Instant started = BASE.minusSeconds(5);
      Message message = waits(SCHEDULE.after(pending(), started, FAILURE, BASE));
      assertThat(message.base()).isEqualTo(BASE);
      assertThat(message.due()).isEqualTo(BASE.plusMillis(84_800));
      assertThat(message.lastAttemptAt()).isEqualTo(started);
    }

    @Test
    void the_base_is_the_moment_it_was_parked_before_its_first_attempt() {
      Message parked = parks(SCHEDULE.whenDue(pending(), FROZEN, BASE));
      assertThat(parked).isEqualTo(parkedAt(0));
      assertThat(parked.base()).isEqualTo(BASE);
    }

    @Test
    void a_later_failure_leaves_the_base() {
      Instant late = SCHEDULE.slot(BASE, 4).plusSeconds(30);
      assertThat(afterFailure(waitingFor(4), late).base()).isEqualTo(BASE);
    }

    @Test
    void parking_a_waiting_message_leaves_its_base() {
      Instant slot = SCHEDULE.slot(BASE, 3);
      assertThat(parks(SCHEDULE.whenDue(waitingFor(3), FROZEN, slot)).base()).isEqualTo(BASE);
    }
  }

  @Nested
  class Attempts {

    @Test
    void a_message_has_twelve_scheduled_attempts() {
      Message message = afterFailure(pending(), BASE);
      for (int retry = 1; retry <= 10; retry++) {
        assertThat(message).isEqualTo(waitingFor(retry));
        message = afterFailure(message, SCHEDULE.slot(BASE, retry));
      }
      assertThat(message).isEqualTo(waitingFor(11));
      isExhausted(SCHEDULE.after(message, DEADLINE, FAILURE, DEADLINE));
    }

    @Test
    void a_message_parked_before_its_first_attempt_has_twelve_too() {
      Message message = afterFailure(parkedAt(0), BASE);
      assertThat(message).isEqualTo(waitingFor(1));
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.RetryScheduleTest#unfinished")
    void a_success_delivers_whatever_the_message_was(Message message) {
      for (Instant at : List.of(BASE, DEADLINE, DEADLINE.plusSeconds(1))) {
        assertThat(SCHEDULE.after(message, at, SUCCESS, at)).isEqualTo(new Verdict.Delivered());
      }
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.RetryScheduleTest#unfinished")
    void every_failed_attempt_is_counted_on_the_message(Message message) {
      Message after = afterFailure(message, BASE.plusSeconds(1));
      assertThat(after.attempts()).isEqualTo(message.attempts() + 1);
      assertThat(after.lastAttemptAt()).isEqualTo(BASE.plusSeconds(1));
      assertThat(after.status()).isEqualTo(Status.WAITING);
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.RetryScheduleTest#unfinished")
    void a_failure_leaves_what_the_message_is(Message message) {
      Message after = afterFailure(message, BASE.plusSeconds(1));
      assertThat(List.of(after.id(), after.event(), after.subscription(), after.endpoint()))
          .isEqualTo(
              List.of(message.id(), message.event(), message.subscription(), message.endpoint()));
      assertThat(after.size()).isEqualTo(message.size());
    }
  }

  static Stream<Message> unfinished() {
    return Stream.of(pending(), waitingFor(1), waitingFor(11), parkedAt(0), parkedAt(7));
  }

  @Nested
  class Early {

    @Test
    void an_attempt_is_scheduled_when_it_starts_at_its_slot_or_later() {
      Instant slot = SCHEDULE.slot(BASE, 4);
      assertThat(SCHEDULE.isScheduled(waitingFor(4), slot.minus(A_MILLISECOND))).isFalse();
      assertThat(SCHEDULE.isScheduled(waitingFor(4), slot)).isTrue();
      assertThat(SCHEDULE.isScheduled(waitingFor(4), slot.plus(A_MILLISECOND))).isTrue();
    }

    @Test
    void a_first_attempt_is_scheduled() {
      assertThat(SCHEDULE.isScheduled(pending(), BASE)).isTrue();
    }

    @Test
    void an_attempt_of_a_parked_message_is_scheduled_since_its_slot_has_come() {
      assertThat(SCHEDULE.isScheduled(parkedAt(0), BASE)).isTrue();
      assertThat(SCHEDULE.isScheduled(parkedAt(5), SCHEDULE.slot(BASE, 5))).isTrue();
    }

    @Test
    void an_attempt_before_its_slot_uses_up_no_retry_and_leaves_the_slot() {
      Message before = waitingFor(4);
      Message after = afterFailure(before, SCHEDULE.slot(BASE, 4).minus(A_MILLISECOND));
      assertThat(after.slot()).isEqualTo(4);
      assertThat(after.due()).isEqualTo(before.due());
      assertThat(after.base()).isEqualTo(before.base());
      assertThat(after.attempts()).isEqualTo(before.attempts() + 1);
    }

    @Test
    void any_number_of_attempts_before_their_slot_exhaust_nothing() {
      Message message = waitingFor(11);
      for (int i = 1; i <= 100; i++) {
        message = afterFailure(message, DEADLINE.minusSeconds(i));
      }
      assertThat(message.attempts()).isEqualTo(111);
      assertThat(message.slot()).isEqualTo(11);
      assertThat(message.due()).isEqualTo(DEADLINE);
      isExhausted(SCHEDULE.after(message, DEADLINE, FAILURE, DEADLINE));
    }

    @Test
    void an_attempt_that_starts_before_its_slot_and_ends_after_it_uses_up_no_retry() {
      Instant slot = SCHEDULE.slot(BASE, 1);
      Message after =
          waits(SCHEDULE.after(waitingFor(1), slot.minusSeconds(1), FAILURE, slot.plusSeconds(4)));
      assertThat(after.slot()).isEqualTo(1);
      assertThat(after.due()).isEqualTo(slot);
    }
  }

  @Nested
  class Late {

    @Test
    void after_a_retry_on_time_the_next_is_due_at_its_own_slot() {
      Message next = afterFailure(waitingFor(3), SCHEDULE.slot(BASE, 3));
      assertThat(next.due()).isEqualTo(SCHEDULE.slot(BASE, 4));
    }

    @Test
    void after_a_late_retry_the_next_is_due_the_gap_before_its_slot_later() {
      Instant late = SCHEDULE.slot(BASE, 3).plusSeconds(3_600);
      Message next = afterFailure(waitingFor(3), late);
      assertThat(next.slot()).isEqualTo(4);
      assertThat(next.due()).isEqualTo(late.plusMillis(8 * 84_800));
    }

    @Test
    void after_a_late_first_attempt_of_a_parked_message_the_first_retry_is_a_unit_later() {
      Instant late = BASE.plusSeconds(600);
      assertThat(afterFailure(parkedAt(0), late).due()).isEqualTo(late.plusMillis(84_800));
    }

    @Test
    void lateness_is_counted_from_the_start_of_the_attempt_and_not_from_its_end() {
      Instant late = SCHEDULE.slot(BASE, 1).plusSeconds(60);
      Message next = waits(SCHEDULE.after(waitingFor(1), late, FAILURE, late.plusSeconds(5)));
      assertThat(next.due()).isEqualTo(late.plusMillis(2 * 84_800));
    }

    @Test
    void the_next_retry_is_never_due_after_the_deadline() {
      Instant late = DEADLINE.minusSeconds(60);
      Message next = afterFailure(waitingFor(9), late);
      assertThat(next.slot()).isEqualTo(10);
      assertThat(next.due()).isEqualTo(DEADLINE);
    }

    @Test
    void a_retry_may_run_so_late_that_only_the_one_at_the_deadline_is_left() {
      Message next = afterFailure(waitingFor(2), DEADLINE.minus(A_MILLISECOND));
      assertThat(next.due()).isEqualTo(DEADLINE);
      isExhausted(SCHEDULE.after(next, DEADLINE, FAILURE, DEADLINE));
    }
  }

  @Nested
  class Deadline {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 6, 10, 11})
    void the_first_scheduled_attempt_at_the_deadline_is_the_last_whatever_its_number(int retry) {
      isExhausted(SCHEDULE.after(waitingFor(retry), DEADLINE, FAILURE, DEADLINE));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 6, 10, 11})
    void the_first_scheduled_attempt_after_the_deadline_is_the_last_too(int retry) {
      Instant later = DEADLINE.plusSeconds(86_400);
      isExhausted(SCHEDULE.after(waitingFor(retry), later, FAILURE, later));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 11})
    void an_attempt_of_a_parked_message_after_the_deadline_is_the_last(int slot) {
      isExhausted(SCHEDULE.after(parkedAt(slot), DEADLINE, FAILURE, DEADLINE));
    }

    @Test
    void an_attempt_that_starts_just_before_the_deadline_is_not_the_last() {
      Instant start = DEADLINE.minus(A_MILLISECOND);
      Message next = waits(SCHEDULE.after(waitingFor(5), start, FAILURE, start.plusSeconds(5)));
      assertThat(next.due()).isEqualTo(DEADLINE);
    }

    @Test
    void a_message_that_used_up_its_retries_before_the_unit_was_raised_is_exhausted() {
      RetrySchedule raised = new RetrySchedule(Duration.ofHours(1), 11);
      isExhausted(raised.after(waitingFor(11), DEADLINE, FAILURE, DEADLINE));
      assertThat(raised.after(waitingFor(10), DEADLINE, FAILURE, DEADLINE))
          .isInstanceOf(Verdict.Wait.class);
    }

    @Test
    void a_first_attempt_is_never_the_last_however_late_it_starts() {
      Instant late = BASE.plus(Duration.ofDays(100));
      Message next = afterFailure(pending(), late);
      assertThat(next.base()).isEqualTo(late);
      assertThat(next.due()).isEqualTo(late.plusMillis(84_800));
    }
  }

  @Nested
  class Arriving {

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.RetryScheduleTest#takingNothing")
    void a_message_is_parked_when_its_slot_comes_and_its_endpoint_takes_none(Health health) {
      Instant slot = SCHEDULE.slot(BASE, 3);
      assertThat(parks(SCHEDULE.whenDue(waitingFor(3), health, slot))).isEqualTo(parkedAt(3));
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.RetryScheduleTest#takingNothing")
    void parking_uses_up_no_attempt(Health health) {
      Message parked = parks(SCHEDULE.whenDue(waitingFor(3), health, SCHEDULE.slot(BASE, 3)));
      assertThat(parked.attempts()).isEqualTo(3);
      assertThat(parked.slot()).isEqualTo(3);
    }

    @Test
    void a_parked_message_is_due_again_at_its_deadline() {
      assertThat(parks(SCHEDULE.whenDue(pending(), FROZEN, BASE)).due()).isEqualTo(DEADLINE);
    }

    @Test
    void parking_a_parked_message_changes_nothing() {
      Instant now = DEADLINE.minus(A_MILLISECOND);
      assertThat(parks(SCHEDULE.whenDue(parkedAt(3), FROZEN, now))).isEqualTo(parkedAt(3));
    }

    @Test
    void parking_keeps_what_the_endpoint_asked_for() {
      Instant slot = SCHEDULE.slot(BASE, 3);
      Message parked = parks(SCHEDULE.whenDue(leftAloneUntil(slot, waitingFor(3)), FROZEN, slot));
      assertThat(parked.notBefore()).isEqualTo(slot);
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.core.rules.RetryScheduleTest#takingNothing")
    void a_message_whose_deadline_passes_while_it_is_parked_expires(Health health) {
      assertThat(SCHEDULE.whenDue(parkedAt(0), health, DEADLINE)).isEqualTo(new Arrival.Expire());
      assertThat(SCHEDULE.whenDue(parkedAt(9), health, DEADLINE.plusSeconds(1)))
          .isEqualTo(new Arrival.Expire());
    }

    @Test
    void a_message_whose_last_slot_comes_while_its_endpoint_takes_none_expires() {
      assertThat(SCHEDULE.whenDue(waitingFor(11), FROZEN, DEADLINE))
          .isEqualTo(new Arrival.Expire());
    }

    @Test
    void a_message_is_tried_when_its_slot_comes_and_its_endpoint_is_enabled() {
      assertThat(SCHEDULE.whenDue(waitingFor(3), ENABLED, SCHEDULE.slot(BASE, 3)))
          .isEqualTo(new Arrival.Try());
      assertThat(SCHEDULE.whenDue(pending(), ENABLED, BASE)).isEqualTo(new Arrival.Try());
    }

    @Test
    void one_made_due_by_recovery_is_still_tried_after_its_deadline() {
      assertThat(SCHEDULE.whenDue(parkedAt(3), ENABLED, DEADLINE.plusSeconds(1)))
          .isEqualTo(new Arrival.Try());
    }

    @Test
    void one_found_late_after_a_restart_is_still_tried() {
      assertThat(SCHEDULE.whenDue(waitingFor(3), ENABLED, DEADLINE.plusSeconds(1)))
          .isEqualTo(new Arrival.Try());
    }
  }

  static Stream<Health> takingNothing() {
    Health open =
        new Health(
            Health.State.DISABLED,
            BASE,
            Health.Reason.FAILURE_RATE,
            BASE,
            0,
            101,
            Health.Bucket.EMPTY,
            new Health.Bucket(101, 101),
            101,
            null,
            BASE.plusSeconds(600));
    return Stream.of(open, DISABLED_BY_HAND, FROZEN);
  }

  @Nested
  class AskedForTime {
    private final Instant slot = SCHEDULE.slot(BASE, 2);

    @Test
    void the_next_retry_is_when_the_endpoint_asked_for_when_its_slot_is_earlier() {
      Message next = afterFailure(waitingFor(2), slot, status(429, "3600"));
      assertThat(next.due()).isEqualTo(slot.plusSeconds(3_600));
      assertThat(next.notBefore()).isEqualTo(slot.plusSeconds(3_600));
    }

    @Test
    void the_next_retry_is_at_its_slot_when_the_endpoint_asked_for_less() {
      Message next = afterFailure(waitingFor(2), slot, status(503, "10"));
      assertThat(next.due()).isEqualTo(SCHEDULE.slot(BASE, 3));
      assertThat(next.notBefore()).isEqualTo(slot.plusSeconds(10));
    }

    @Test
    void the_time_asked_for_begins_when_the_answer_came() {
      Instant ended = slot.plusSeconds(4);
      Message next = waits(SCHEDULE.after(waitingFor(2), slot, status(429, "3600"), ended));
      assertThat(next.notBefore()).isEqualTo(ended.plusSeconds(3_600));
    }

    @Test
    void it_is_a_failure_all_the_same() {
      Message next = afterFailure(waitingFor(2), slot, status(429, "3600"));
      assertThat(next.slot()).isEqualTo(3);
      assertThat(next.attempts()).isEqualTo(3);
      isExhausted(SCHEDULE.after(waitingFor(11), DEADLINE, status(429, "3600"), DEADLINE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"173585", "999999999", "99999999999999999999"})
    void the_endpoint_gets_no_more_than_until_the_deadline(String retryAfter) {
      Message next = afterFailure(waitingFor(2), slot, status(429, retryAfter));
      assertThat(next.due()).isEqualTo(DEADLINE);
      assertThat(next.notBefore()).isEqualTo(DEADLINE);
    }

    @Test
    void after_an_early_attempt_the_slot_stays_and_the_retry_comes_when_asked_for() {
      Message next = afterFailure(waitingFor(2), BASE.plusSeconds(100), status(503, "3600"));
      assertThat(next.slot()).isEqualTo(2);
      assertThat(next.due()).isEqualTo(BASE.plusSeconds(3_700));
    }

    @Test
    void after_an_early_attempt_the_slot_stays_when_it_is_later() {
      Message next = afterFailure(waitingFor(2), BASE.plusSeconds(100), status(503, "5"));
      assertThat(next.due()).isEqualTo(slot);
      assertThat(next.notBefore()).isEqualTo(BASE.plusSeconds(105));
    }

    @Test
    void a_first_attempt_can_be_asked_to_wait_too() {
      Message next = afterFailure(pending(), BASE, status(429, "3600"));
      assertThat(next.slot()).isEqualTo(1);
      assertThat(next.due()).isEqualTo(BASE.plusSeconds(3_600));
    }

    @Test
    void a_failure_that_asks_for_nothing_leaves_what_was_asked_for_before() {
      Instant until = BASE.plusSeconds(200);
      Message next = afterFailure(leftAloneUntil(until, waitingFor(2)), BASE.plusSeconds(100));
      assertThat(next.notBefore()).isEqualTo(until);
    }

    @Test
    void after_a_retry_that_waited_as_asked_the_next_ones_do_not_bunch_up() {
      Message asked = afterFailure(waitingFor(2), slot, status(429, "36000"));
      Instant start = slot.plusSeconds(36_000);
      assertThat(afterFailure(asked, start).due()).isEqualTo(start.plusMillis(8 * 84_800));
    }
  }
}
