package dev.holdfast.proof.torture;

import java.time.Duration;
import java.util.SplittableRandom;

/**
 * Everything that is left to chance, from one seed: when something is done to the server, and how
 * the listener treats each message.
 *
 * <p>The moments are drawn one after the other. How a message is treated depends on the event's
 * number only, so that it is the same however the threads run.
 */
final class Plan {
  private static final int PERCENT = 100;
  private static final int SLOW_PERCENT = 3;
  private static final int LONGEST_DELAY_MILLIS = 60;
  private static final int LONGEST_SLOW_DELAY_MILLIS = 400;

  private final long seed;
  private final SplittableRandom moments;

  Plan(long seed) {
    this.seed = seed;
    this.moments = new SplittableRandom(seed);
  }

  /** A time from {@code from} to {@code to}, the next one of the plan. */
  Duration between(Duration from, Duration to) {
    return Duration.ofMillis(moments.nextLong(from.toMillis(), to.toMillis() + 1));
  }

  boolean percent(int share) {
    return moments.nextInt(PERCENT) < share;
  }

  int below(int bound) {
    return moments.nextInt(bound);
  }

  long below(long bound) {
    return moments.nextLong(bound);
  }

  /** How often a message is refused before it is taken: mostly never. */
  int refusals(int event, int subscription) {
    int dice = of(event, subscription, 0).nextInt(PERCENT);
    return dice < 80 ? 0 : dice < 92 ? 1 : dice < 98 ? 2 : 3;
  }

  /** How long the listener lets the server wait: mostly not long, so that much is in flight. */
  long delayMillis(int event, int subscription, int arrival) {
    SplittableRandom random = of(event, subscription, 1 + arrival);
    return random.nextInt(PERCENT) < SLOW_PERCENT
        ? random.nextInt(LONGEST_SLOW_DELAY_MILLIS)
        : random.nextInt(LONGEST_DELAY_MILLIS);
  }

  /** How much padding an event has: mostly little, now and then more than a page of the store. */
  int padding(int event) {
    SplittableRandom random = of(event, -1, 0);
    return random.nextInt(PERCENT) < SLOW_PERCENT ? random.nextInt(30_000) : random.nextInt(600);
  }

  private SplittableRandom of(int event, int subscription, int what) {
    return new SplittableRandom(
        seed ^ (event * 0x9e3779b97f4a7c15L + subscription * 0xbf58476d1ce4e5b9L + what));
  }
}
