package dev.holdfast.core.path;

import java.time.Instant;
import java.util.function.Consumer;

/**
 * Who waits for something that has to be decided anew, since another node has changed what it was
 * decided by.
 *
 * @param replyTo who asked
 * @param since when it was found for the first time
 * @param rounds how often it was found
 */
record Stale(Consumer<Answer> replyTo, Instant since, int rounds) implements Consumer<Answer> {
  private static final int HURRIED_AFTER = 2;

  /** Somebody who waits, once more. */
  static Stale of(Consumer<Answer> waiting, Turn turn) {
    return waiting instanceof Stale before
        ? new Stale(before.replyTo, before.since, before.rounds + 1)
        : new Stale(waiting, turn.now(), 1);
  }

  /** Whether it should be written before the next change can be made. */
  boolean isHurried() {
    return rounds >= HURRIED_AFTER;
  }

  /** Whether nobody should wait for it any longer. */
  boolean isTooLong(Turn turn) {
    return !turn.now().isBefore(since.plus(Limits.NEWS_WITHIN));
  }

  @Override
  public void accept(Answer answer) {
    replyTo.accept(answer);
  }
}
