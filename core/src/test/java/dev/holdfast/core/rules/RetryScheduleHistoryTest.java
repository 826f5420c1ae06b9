package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.BASE;
import static dev.holdfast.core.rules.Given.ENABLED;
import static dev.holdfast.core.rules.Given.FAILURE;
import static dev.holdfast.core.rules.Given.FROZEN;
import static dev.holdfast.core.rules.Given.status;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What holds for a message through any life that it may have. */
class RetryScheduleHistoryTest {

  @Test
  void whatever_happens_to_a_message_its_schedule_holds() {
    Map<DropReason, Integer> ends = new EnumMap<>(DropReason.class);
    Seeds.each(3_000, random -> ends.merge(new Life(random).live(), 1, Integer::sum));
    if (Seeds.areAllRun()) {
      assertThat(ends).containsOnlyKeys(DropReason.EXHAUSTED, DropReason.EXPIRED);
    }
  }

  /** A message whose every attempt fails, early, on time or late, between spells of parking. */
  private static final class Life {
    private final SplittableRandom random;
    private final RetrySchedule schedule;
    private Message message = Given.pending();
    private Instant now = BASE;
    private int scheduled;
    private boolean endpointWell = true;

    Life(SplittableRandom random) {
      this.random = random;
      this.schedule =
          new RetrySchedule(Duration.ofMillis(random.nextLong(1, 100_000)), random.nextInt(1, 13));
    }

    DropReason live() {
      for (int step = 0; step < 10_000; step++) {
        if (random.nextInt(5) == 0) {
          endpointWell = !endpointWell;
        }
        Instant due = message.due();
        if (message.status() == Status.WAITING
            && due != null
            && now.isBefore(due)
            && random.nextInt(4) == 0) {
          now = between(now, due);
          DropReason end = attempt();
          assertThat(end).as("an early attempt ends nothing").isNull();
          continue;
        }
        becomeDue();
        DropReason end = arrive();
        if (end != null) {
          return end;
        }
      }
      throw new AssertionError("the message never ends: " + message);
    }

    private void becomeDue() {
      Instant due = message.due();
      if (due != null && message.status() == Status.WAITING && now.isBefore(due)) {
        now = due;
      }
      if (message.status() == Status.PARKED && random.nextBoolean()) {
        now = later(now, requireNonNull(due));
      }
      if (random.nextInt(3) == 0) {
        now = now.plus(schedule.unit().multipliedBy(random.nextLong(1, 1L << schedule.retries())));
      }
    }

    private @Nullable DropReason arrive() {
      return switch (schedule.whenDue(message, endpointWell ? ENABLED : FROZEN, now)) {
        case Arrival.Try _ -> attempt();
        case Arrival.Park park -> {
          assertThat(endpointWell).isFalse();
          assertThat(park.message().status()).isEqualTo(Status.PARKED);
          assertThat(park.message().attempts()).isEqualTo(message.attempts());
          assertThat(park.message().slot()).isEqualTo(message.slot());
          become(park.message());
          // A probe may try what is parked.
          yield random.nextInt(3) == 0 ? attempt() : null;
        }
        case Arrival.Expire _ -> {
          assertThat(endpointWell).isFalse();
          assertThat(now).isAfterOrEqualTo(deadline());
          yield DropReason.EXPIRED;
        }
      };
    }

    private @Nullable DropReason attempt() {
      Instant startedAt = now;
      now = now.plusMillis(random.nextLong(5_001));
      boolean isScheduled = schedule.isScheduled(message, startedAt);
      if (isScheduled) {
        scheduled++;
        assertThat(scheduled).isLessThanOrEqualTo(schedule.retries() + 1);
        if (message.base() != null) {
          assertThat(startedAt).isAfterOrEqualTo(schedule.slot(message.base(), message.slot()));
        }
      }
      return switch (schedule.after(message, startedAt, failure(), now)) {
        case Verdict.Delivered _ -> throw new AssertionError("a failure delivered");
        case Verdict.Wait wait -> {
          Message next = wait.message();
          assertThat(next.status()).isEqualTo(Status.WAITING);
          assertThat(next.attempts()).isEqualTo(message.attempts() + 1);
          assertThat(next.lastAttemptAt()).isEqualTo(startedAt);
          assertThat(next.slot()).isEqualTo(isScheduled ? message.slot() + 1 : message.slot());
          if (message.base() != null) {
            assertThat(startedAt.isBefore(deadline()) || !isScheduled).isTrue();
          }
          become(next);
          assertThat(next.due()).isBetween(slot(), deadline());
          if (next.notBefore() != null) {
            assertThat(next.notBefore()).isBeforeOrEqualTo(deadline());
          }
          yield null;
        }
        case Verdict.Drop drop -> {
          assertThat(isScheduled).isTrue();
          assertThat(drop.reason()).isEqualTo(DropReason.EXHAUSTED);
          assertThat(startedAt).isAfterOrEqualTo(deadline());
          yield drop.reason();
        }
      };
    }

    private void become(Message next) {
      if (message.base() != null) {
        assertThat(next.base()).isEqualTo(message.base());
      }
      message = next;
    }

    private Outcome failure() {
      return random.nextInt(4) == 0
          ? status(random.nextBoolean() ? 429 : 503, String.valueOf(1L << random.nextInt(40)))
          : FAILURE;
    }

    private Instant deadline() {
      return schedule.deadline(requireNonNull(message.base()));
    }

    private Instant slot() {
      return schedule.slot(requireNonNull(message.base()), message.slot());
    }

    private Instant between(Instant from, Instant until) {
      long millis = Duration.between(from, until).toMillis();
      return millis <= 0 ? from : from.plusMillis(random.nextLong(millis));
    }

    private static Instant later(Instant one, Instant other) {
      return one.isAfter(other) ? one : other;
    }
  }
}
