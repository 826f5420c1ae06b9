package dev.holdfast.server.cli;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * How time and the rules of the demo are. There is no other clock: the times of the rules are set
 * to a fraction of what they are, and so everything happens as it would, only sooner.
 */
final class DemoTime {
  /** So many seconds pass in one. */
  static final int SPEED = 1_440;

  /** As the rules have it, in their time. */
  private static final Duration RETRY_UNIT = Duration.ofMillis(84_800);

  private static final Duration PROBE_EVERY = Duration.ofMinutes(10);

  /** Half of what the rules say, since nobody wants to wait for three minutes to see it. */
  static final Duration FREEZE_SILENCE = Duration.ofHours(36);

  /** How much smaller counts are than by the rules: so few attempts fail in minutes. */
  static final int FEWER = 50;

  static final int DISABLE_AFTER = 2_000 / FEWER;
  static final int FREEZE_AT = 50_000 / FEWER;

  /** Real: answers take as long as they take. */
  static final Duration TIMEOUT = Duration.ofSeconds(1);

  private DemoTime() {}

  /** The rules as settings. */
  static List<String> settings() {
    return List.of(
        "retry.unit=" + sped(RETRY_UNIT),
        "circuit.probe-every=" + sped(PROBE_EVERY),
        "circuit.freeze-silence=" + sped(FREEZE_SILENCE),
        "circuit.disable-after=" + DISABLE_AFTER,
        "circuit.freeze-at=" + FREEZE_AT,
        "delivery.timeout=" + TIMEOUT.toMillis() + "ms");
  }

  private static String sped(Duration time) {
    return Math.round((double) time.toMillis() / SPEED) + "ms";
  }

  /** A time of the demo, such as {@code 0:51 day 1 20:24}: real and as it passes there. */
  static String at(Duration sinceStart) {
    Duration real = sinceStart.isNegative() ? Duration.ZERO : sinceStart;
    Duration there = real.multipliedBy(SPEED);
    return String.format(
        Locale.ROOT,
        "%3d:%02d  day %d %02d:%02d",
        real.toMinutes(),
        real.toSecondsPart(),
        there.toDays() + 1,
        there.toHoursPart(),
        there.toMinutesPart());
  }
}
