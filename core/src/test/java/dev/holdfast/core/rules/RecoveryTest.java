package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.BASE;
import static dev.holdfast.core.rules.Given.DEADLINE;
import static dev.holdfast.core.rules.Given.FAILURE;
import static dev.holdfast.core.rules.Given.FROZEN;
import static dev.holdfast.core.rules.Given.RULES;
import static dev.holdfast.core.rules.Given.SCHEDULE;
import static dev.holdfast.core.rules.Given.leftAloneUntil;
import static dev.holdfast.core.rules.Given.parked;
import static dev.holdfast.core.rules.Given.parkedAt;
import static dev.holdfast.core.rules.Given.pending;
import static dev.holdfast.core.rules.Given.status;
import static dev.holdfast.core.rules.Given.triedAt;
import static dev.holdfast.core.rules.Given.waiting;
import static dev.holdfast.core.rules.Given.waitingFor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecoveryTest {
  private static final Instant ENABLED_AT = BASE.plusSeconds(600);
  private static final Instant NOW = ENABLED_AT.plusSeconds(1);
  private static final Health ENABLED = RULES.enable(FROZEN, ENABLED_AT);

  @ParameterizedTest
  @EnumSource
  void parked_messages_become_due(Recovery recovery) {
    assertThat(recovery.isDue(parkedAt(0), ENABLED, NOW)).isTrue();
    assertThat(recovery.isDue(parkedAt(7), ENABLED, NOW)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void pending_messages_are_always_due(Recovery recovery) {
    assertThat(recovery.isDue(pending(), ENABLED, NOW)).isTrue();
  }

  @Test
  void draining_makes_waiting_messages_due() {
    assertThat(Recovery.DRAIN.isDue(waitingFor(4), ENABLED, NOW)).isTrue();
  }

  @Test
  void by_schedule_waiting_messages_keep_their_slots() {
    Instant slot = SCHEDULE.slot(BASE, 4);
    assertThat(Recovery.SCHEDULE.isDue(waitingFor(4), ENABLED, NOW)).isFalse();
    assertThat(Recovery.SCHEDULE.isDue(waitingFor(4), ENABLED, slot.minusMillis(1))).isFalse();
    assertThat(Recovery.SCHEDULE.isDue(waitingFor(4), ENABLED, slot)).isTrue();
  }

  @Test
  void each_enabling_tries_a_waiting_message_once() {
    Message tried = triedAt(ENABLED_AT, waitingFor(11));
    assertThat(Recovery.DRAIN.isDue(tried, ENABLED, NOW)).isFalse();
    Instant again = NOW.plusSeconds(60);
    Health enabledAgain = RULES.enable(RULES.disable(ENABLED, NOW), again);
    assertThat(Recovery.DRAIN.isDue(tried, enabledAgain, again)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void a_waiting_message_tried_since_is_due_at_its_slot(Recovery recovery) {
    Message tried = triedAt(NOW, waitingFor(4));
    Instant slot = SCHEDULE.slot(BASE, 4);
    assertThat(recovery.isDue(tried, ENABLED, slot.minusMillis(1))).isFalse();
    assertThat(recovery.isDue(tried, ENABLED, slot)).isTrue();
  }

  @Test
  void a_message_that_failed_on_an_endpoint_that_was_always_enabled_waits_for_its_slot() {
    Health always = Health.created(BASE);
    Message failed = waits(SCHEDULE.after(pending(), BASE, FAILURE, BASE));
    assertThat(Recovery.DRAIN.isDue(failed, always, BASE.plusSeconds(1))).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void a_waiting_message_of_which_no_attempt_is_known_waits_for_its_slot(Recovery recovery) {
    Message unknown = triedAt(null, waitingFor(4));
    assertThat(recovery.isDue(unknown, ENABLED, NOW)).isFalse();
    assertThat(recovery.isDue(unknown, ENABLED, SCHEDULE.slot(BASE, 4))).isTrue();
  }

  @Test
  void recovery_leaves_a_message_alone_as_long_as_its_endpoint_asked_for() {
    Message asked = leftAloneUntil(NOW.plusMillis(1), waitingFor(4));
    assertThat(Recovery.DRAIN.isDue(asked, ENABLED, NOW)).isFalse();
    assertThat(Recovery.DRAIN.isDue(asked, ENABLED, NOW.plusMillis(1))).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void a_message_is_due_at_its_deadline_whatever_its_endpoint_asked_for(Recovery recovery) {
    Message asked = waits(SCHEDULE.after(pending(), BASE, status(429, "999999999"), BASE));
    assertThat(recovery.isDue(asked, ENABLED, DEADLINE.minusMillis(1))).isFalse();
    assertThat(recovery.isDue(asked, ENABLED, DEADLINE)).isTrue();
  }

  @Test
  void an_attempt_in_recovery_before_its_slot_uses_up_no_retry() {
    Message drained = waits(SCHEDULE.after(waitingFor(4), NOW, FAILURE, NOW));
    assertThat(drained.slot()).isEqualTo(4);
    assertThat(drained.due()).isEqualTo(SCHEDULE.slot(BASE, 4));
    assertThat(Recovery.DRAIN.isDue(drained, ENABLED, NOW.plusSeconds(1))).isFalse();
  }

  @Test
  void nothing_waiting_is_recovered_while_the_endpoint_is_not_enabled() {
    Health disabled = RULES.disable(ENABLED, NOW);
    assertThat(Recovery.DRAIN.isDue(waitingFor(4), disabled, NOW)).isFalse();
    assertThat(Recovery.DRAIN.triedBefore(disabled)).isEqualTo(Instant.EPOCH);
  }

  @Test
  void draining_recovers_what_was_tried_before_the_endpoint_became_enabled() {
    assertThat(Recovery.DRAIN.triedBefore(ENABLED)).isEqualTo(ENABLED_AT);
    assertThat(Recovery.SCHEDULE.triedBefore(ENABLED)).isEqualTo(Instant.EPOCH);
  }

  @Test
  void those_with_the_fewest_attempts_go_first_and_then_the_oldest() {
    Message first = parked(7, 0, 0);
    Message second = waiting(3, 1, 1, DEADLINE);
    Message third = parked(4, 1, 1);
    Message fourth = waiting(1, 2, 2, DEADLINE);
    assertThat(Stream.of(fourth, third, second, first).sorted(Recovery.ORDER))
        .containsExactly(first, second, third, fourth);
  }

  private static Message waits(Verdict verdict) {
    return assertThat(verdict).asInstanceOf(type(Verdict.Wait.class)).actual().message();
  }
}
