package dev.holdfast.server.cli;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Times as people say them: how long ago, or how long from now. */
final class Ago {
  private static final Duration UNTIL_SECONDS = Duration.ofSeconds(100);
  private static final Duration UNTIL_MINUTES = Duration.ofMinutes(100);
  private static final Duration UNTIL_HOURS = Duration.ofHours(48);

  private Ago() {}

  static String text(Instant now, @Nullable Instant time) {
    if (time == null) {
      return "-";
    }
    Duration since = Duration.between(time, now);
    if (since.abs().compareTo(Duration.ofSeconds(1)) < 0) {
      return "now";
    }
    return since.isNegative() ? "in " + span(since.negated()) : span(since) + " ago";
  }

  static String span(Duration span) {
    if (span.compareTo(UNTIL_SECONDS) < 0) {
      return span.toSeconds() + " s";
    }
    if (span.compareTo(UNTIL_MINUTES) < 0) {
      return span.toMinutes() + " min";
    }
    return span.compareTo(UNTIL_HOURS) < 0 ? span.toHours() + " h" : span.toDays() + " d";
  }
}
