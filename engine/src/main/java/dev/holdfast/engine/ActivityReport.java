package dev.holdfast.engine;

import dev.holdfast.core.path.Delays.Percentiles;
import java.time.Duration;
import java.time.Instant;
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

    /** How many steps a report has. */
    int steps() {
      return steps;
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
}
