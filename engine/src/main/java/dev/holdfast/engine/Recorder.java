package dev.holdfast.engine;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.core.port.Delivery;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts what happens on the event loop, for people to look at.
 *
 * <p>It is on the path of every message: plain numbers, no locks, nothing allocated. What is made
 * of them is made when somebody asks.
 */
final class Recorder {
  private static final long MILLI = 1_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long MINUTE = 60 * SECOND;
  private static final long HOUR = 60 * MINUTE;

  private final Histogram attemptDuration =
      new Histogram(
          5 * MILLI,
          10 * MILLI,
          25 * MILLI,
          50 * MILLI,
          100 * MILLI,
          250 * MILLI,
          500 * MILLI,
          SECOND,
          2_500 * MILLI,
          5 * SECOND,
          10 * SECOND,
          MINUTE);
  private final Histogram firstAttemptDelay = delays();
  private final Histogram deliveryDelay = delays();
  private final Histogram retryLateness = delays();
  private final Histogram commitDuration =
      new Histogram(
          500,
          MILLI,
          2 * MILLI,
          5 * MILLI,
          10 * MILLI,
          25 * MILLI,
          50 * MILLI,
          100 * MILLI,
          250 * MILLI,
          SECOND,
          5 * SECOND);
  private final Histogram commitWrites = new Histogram(1, 4, 16, 64, 256, 1_024, 4_096);
  private final Histogram eventLoopLag =
      new Histogram(
          2 * MILLI,
          5 * MILLI,
          10 * MILLI,
          25 * MILLI,
          50 * MILLI,
          100 * MILLI,
          250 * MILLI,
          SECOND,
          5 * SECOND);
  private final Map<Failure.Kind, Count> failures = new EnumMap<>(Failure.Kind.class);
  private final Map<Health.State, Count> changes = new EnumMap<>(Health.State.class);

  private static final class Count {
    long value;
  }

  Recorder() {
    for (Failure.Kind kind : Failure.Kind.values()) {
      failures.put(kind, new Count());
    }
    for (Health.State state : Health.State.values()) {
      changes.put(state, new Count());
    }
  }

  private static Histogram delays() {
    return new Histogram(
        5 * MILLI,
        25 * MILLI,
        100 * MILLI,
        500 * MILLI,
        SECOND,
        5 * SECOND,
        30 * SECOND,
        2 * MINUTE,
        10 * MINUTE,
        HOUR,
        6 * HOUR,
        24 * HOUR,
        72 * HOUR);
  }

  /** An attempt starts. */
  void starts(Delivery delivery) {
    Message message = delivery.message();
    Instant due = message.due();
    if (message.attempts() == 0) {
      firstAttemptDelay.add(sinceAcceptance(delivery));
    } else if (message.status() == Status.WAITING
        && due != null
        && !delivery.startedAt().isBefore(due)) {
      retryLateness.add(micros(delivery.startedAt()) - micros(due));
    }
  }

  /** An attempt has ended. */
  void ended(Delivery delivery, Outcome outcome, long durationMillis) {
    attemptDuration.add(durationMillis * MILLI);
    switch (outcome) {
      case Outcome.Success _ ->
          deliveryDelay.add(sinceAcceptance(delivery) + durationMillis * MILLI);
      case Failure failure -> add(failures.get(failure.kind()));
    }
  }

  void changed(Health.State state) {
    add(changes.get(state));
  }

  void committed(int writes, long nanos) {
    commitWrites.add(writes);
    commitDuration.add(TimeUnit.NANOSECONDS.toMicros(nanos));
  }

  void eventLoopWasLate(long nanos) {
    eventLoopLag.add(Math.max(0, TimeUnit.NANOSECONDS.toMicros(nanos)));
  }

  /** To the millisecond, and never negative: an id may be a little ahead of its time. */
  private static long sinceAcceptance(Delivery delivery) {
    long accepted = delivery.message().createdAt().toEpochMilli();
    return Math.max(0, delivery.startedAt().toEpochMilli() - accepted) * MILLI;
  }

  private static long micros(Instant time) {
    return time.getEpochSecond() * SECOND + time.getNano() / MILLI;
  }

  private static void add(@Nullable Count count) {
    if (count != null) {
      count.value++;
    }
  }

  Measurements read(
      Map<DropReason, Long> dropped,
      int pathReadsWaiting,
      int historyReadsWaiting,
      int openConnections,
      Measurements.@Nullable StoreState store) {
    return new Measurements(
        attemptDuration.read(),
        firstAttemptDelay.read(),
        deliveryDelay.read(),
        retryLateness.read(),
        values(failures, Failure.Kind.class),
        values(changes, Health.State.class),
        commitDuration.read(),
        commitWrites.read(),
        dropped,
        eventLoopLag.read(),
        pathReadsWaiting,
        historyReadsWaiting,
        openConnections,
        store,
        null);
  }

  private static <K extends Enum<K>> Map<K, Long> values(Map<K, Count> counts, Class<K> type) {
    Map<K, Long> values = new EnumMap<>(type);
    counts.forEach((key, count) -> values.put(key, count.value));
    return values;
  }
}
