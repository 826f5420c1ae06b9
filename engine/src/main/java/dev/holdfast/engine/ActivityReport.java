package dev.holdfast.engine;

import dev.holdfast.core.path.Activity;
import dev.holdfast.core.path.Delays;
import dev.holdfast.core.path.Delays.Percentiles;
import dev.holdfast.engine.store.ActivityRow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What has happened of a tenant's lately, in steps of the same length: the oldest first, and the
 * one that is not over yet last.
 *
 * @param from when the first step began
 * @param to when the last one ends
 */
public record ActivityReport(Span span, Instant from, Instant to, List<Step> steps) {

  /** How far a report goes back. */
  public enum Span {
    HOUR(60, Duration.ofMinutes(1)),
    DAY(96, Duration.ofMinutes(15));

    private final int steps;
    private final Duration step;

    Span(int steps, Duration step) {
      this.steps = steps;
      this.step = step;
    }

    /** How long a step is. */
    public Duration step() {
      return step;
    }

    /** When the first step of a report begins that is made now. */
    Instant from(Instant now) {
      long seconds = step.toSeconds();
      long last = Math.floorDiv(now.getEpochSecond(), seconds) * seconds;
      return Instant.ofEpochSecond(last - (steps - 1) * seconds);
    }
  }

  /**
   * One step.
   *
   * @param delays absent when nothing was delivered
   */
  public record Step(
      Instant at,
      long accepted,
      long delivered,
      long failed,
      long dropped,
      @Nullable Percentiles delays) {}

  /** Adds minutes up. Those before the report's beginning are left out. */
  static ActivityReport of(Span span, Instant from, List<ActivityRow> minutes) {
    long[][] counts = new long[span.steps][4];
    Delays[] delays = new Delays[span.steps];
    for (int i = 0; i < span.steps; i++) {
      delays[i] = new Delays();
    }
    for (ActivityRow minute : minutes) {
      long step =
          Math.floorDiv(
              minute.at().getEpochSecond() - from.getEpochSecond(), span.step.toSeconds());
      if (step >= 0 && step < span.steps) {
        int index = (int) step;
        Activity happened = minute.counts();
        counts[index][0] += happened.accepted();
        counts[index][1] += happened.delivered();
        counts[index][2] += happened.failed();
        counts[index][3] += happened.dropped();
        delays[index].add(happened.delays());
      }
    }
    List<Step> steps = new ArrayList<>(span.steps);
    for (int i = 0; i < span.steps; i++) {
      long[] of = counts[i];
      steps.add(
          new Step(
              from.plus(span.step.multipliedBy(i)),
              of[0],
              of[1],
              of[2],
              of[3],
              delays[i].percentiles()));
    }
    return new ActivityReport(
        span, from, from.plus(span.step.multipliedBy(span.steps)), List.copyOf(steps));
  }
}
