package dev.holdfast.server.api;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them: a whole number and a unit, such as {@code 250ms} or {@code 24h}.
 */
public final class DurationText {
  private static final Pattern SHAPE = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

  private DurationText() {}

  /** Empty for anything that is not such a duration. */
  public static Optional<Duration> parse(String text) {
    Matcher matcher = SHAPE.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    long number = Long.parseLong(matcher.group(1));
    return Optional.of(
        switch (matcher.group(2)) {
          case "ms" -> Duration.ofMillis(number);
          case "s" -> Duration.ofSeconds(number);
          case "m" -> Duration.ofMinutes(number);
          case "h" -> Duration.ofHours(number);
          case "d" -> Duration.ofDays(number);
          default -> throw new IllegalStateException(text);
        });
  }
}
