package dev.holdfast.core.path;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers to those whose events are on disk, a limited number in each step of the loop. A batch
 * brings hundreds of them, and each is a packet that somebody answers with another request: those
 * are to be heard, and the next batch is to begin, before all have been told. There are as many as
 * callers who wait: a connection has one request at a time.
 */
final class Answers {
  private final Limits limits;
  private final Queue<Effect.Reply> waiting = new ArrayDeque<>();

  Answers(Limits limits) {
    this.limits = limits;
  }

  void add(Consumer<Answer> to, Answer answer) {
    // Who has asked is kept until the answer, and not what: room for its bytes is others' by now.
    Consumer<Answer> caller = to instanceof Input.Asked asked ? asked.replyTo() : to;
    waiting.add(new Effect.Reply(caller, answer));
  }

  void run(Turn turn) {
    give(limits.answersInAStep(), turn);
  }

  /** Gives them all, since no step comes after this one. */
  void runAll(Turn turn) {
    give(waiting.size(), turn);
  }

  private void give(int most, Turn turn) {
    for (int left = Math.min(most, waiting.size()); left > 0; left--) {
      turn.effect(waiting.remove());
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  @Nullable Instant nextWake() {
    return waiting.isEmpty() ? null : Loop.AT_ONCE;
  }
}
