package dev.holdfast.proof.model;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The contract's numbers.
 *
 * @param unit the gap before the first retry
 * @param retries how many follow the first attempt, at most 11
 * @param drain whether recovery makes waiting messages due
 */
public record Contract(
    Duration unit,
    int retries,
    int minAttempts,
    int failuresPerMillion,
    int window,
    int disableAfter,
    Duration freezeSilence,
    int freezeAt,
    Duration probeEvery,
    boolean drain,
    int laneInFlight) {

  /** How many units after its base each retry has its slot. */
  private static final List<Integer> SLOTS =
      List.of(0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 2_047);

  /** With the numbers that Holdfast is shipped with. */
  public static Contract shipped(int retries, int laneInFlight) {
    return new Contract(
        Duration.ofMillis(84_800),
        retries,
        100,
        700_000,
        1_000,
        2_000,
        Duration.ofHours(72),
        50_000,
        Duration.ofMinutes(10),
        true,
        laneInFlight);
  }

  Instant slot(Instant base, int retry) {
    return base.plus(unit.multipliedBy(SLOTS.get(retry)));
  }

  Duration gapBefore(int retry) {
    return unit.multipliedBy(SLOTS.get(retry) - SLOTS.get(retry - 1));
  }

  public Instant deadline(Instant base) {
    return slot(base, retries);
  }

  static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }
}
