package dev.holdfast.proof.simulation;

import java.time.Instant;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** What is going to happen, in the order of time, and of being planned where times are equal. */
final class Happenings {
  private final PriorityQueue<Happening> queue = new PriorityQueue<>();
  private long planned;

  private record Happening(Instant at, long order, Runnable what)
      implements Comparable<Happening> {
    @Override
    public int compareTo(Happening other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  void plan(Instant at, Runnable what) {
    queue.add(new Happening(at, planned++, what));
  }

  @Nullable Instant next() {
    Happening next = queue.peek();
    return next == null ? null : next.at();
  }

  /** Lets everything happen that was planned for then or before. */
  void happen(Instant now) {
    for (Happening next = queue.peek();
        next != null && !next.at().isAfter(now);
        next = queue.peek()) {
      queue.remove();
      next.what().run();
    }
  }
}
