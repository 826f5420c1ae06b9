package dev.holdfast.engine;

import dev.holdfast.core.path.Activity;
import dev.holdfast.core.path.Delays;
import dev.holdfast.engine.ActivityReport.Span;
import dev.holdfast.engine.ActivityReport.Step;
import dev.holdfast.engine.store.ActivityRow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Adds minutes up to a report. For one thread at a time. */
final class ActivitySum {
  private final Span span;
  private final Instant from;
  private final long[][] counts;
  private final Delays[] delays;

  /**
   * @param from when the first step begins; minutes before that are left out
   */
  ActivitySum(Span span, Instant from) {
    this.span = span;
    this.from = from;
    this.counts = new long[span.steps()][4];
    this.delays = new Delays[span.steps()];
    for (int i = 0; i < delays.length; i++) {
      delays[i] = new Delays();
    }
  }

  Instant from() {
    return from;
  }

  void add(ActivityRow minute) {
    long step =
        Math.floorDiv(
            minute.at().getEpochSecond() - from.getEpochSecond(), span.step().toSeconds());
    if (step >= 0 && step < counts.length) {
      int index = (int) step;
      Activity happened = minute.counts();
      counts[index][0] += happened.accepted();
      counts[index][1] += happened.delivered();
      counts[index][2] += happened.failed();
      counts[index][3] += happened.dropped();
      delays[index].add(happened.delays());
    }
  }

  ActivityReport report() {
    List<Step> steps = new ArrayList<>(counts.length);
    for (int i = 0; i < counts.length; i++) {
      long[] of = counts[i];
      steps.add(
          new Step(
              from.plus(span.step().multipliedBy(i)),
              of[0],
              of[1],
              of[2],
              of[3],
              delays[i].percentiles()));
    }
    return new ActivityReport(
        span, from, from.plus(span.step().multipliedBy(counts.length)), List.copyOf(steps));
  }
}
