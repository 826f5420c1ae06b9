package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import java.util.EnumMap;
import java.util.Map;

/** How requests were answered. Lives on the event loop. */
final class AnswerCounts {
  private static final int CLASSES = 6;

  private final long[] byClass = new long[CLASSES];
  private final Map<Kind, Long> refusals = new EnumMap<>(Kind.class);

  /**
   * What was counted.
   *
   * @param byClass answers by the first digit of their status
   */
  record Read(long[] byClass, Map<Kind, Long> refusals) {}

  AnswerCounts() {
    for (Kind kind : Kind.values()) {
      refusals.put(kind, 0L);
    }
  }

  void answered(int status) {
    byClass[status / 100]++;
  }

  void refused(Kind kind) {
    refusals.merge(kind, 1L, Long::sum);
  }

  Read read() {
    return new Read(byClass.clone(), new EnumMap<>(refusals));
  }
}
