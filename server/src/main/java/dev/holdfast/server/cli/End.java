package dev.holdfast.server.cli;

import dev.holdfast.server.api.ApiLimits;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * When something ends, as somebody types it: a span from now such as {@code 90d}, or an instant.
 *
 * @param text as it was typed
 * @param after how long after now; then {@code instant} is absent
 */
record End(String text, @Nullable Duration after, @Nullable Instant instant) {
  private static final Kind<Duration> SPAN = Kind.duration("1s", ApiLimits.KEY_TIME.toDays() + "d");

  /** The field of the API that takes it; a server counts a span by its own clock. */
  String field() {
    return after == null ? "expiresAt" : "expiresIn";
  }

  Instant from(Instant now) {
    if (instant != null) {
      return instant;
    }
    return after == null ? now : now.plus(after);
  }

  /** For picocli. */
  static final class Converter implements ITypeConverter<End> {
    @Override
    public End convert(String text) {
      String stripped = text.strip();
      try {
        return new End(stripped, SPAN.read(stripped), null);
      } catch (BadValue e) {
        return new End(stripped, null, instant(stripped));
      }
    }

    private static Instant instant(String text) {
      try {
        return OffsetDateTime.parse(text).toInstant();
      } catch (DateTimeException e) {
        throw new TypeConversionException(
            "'%s' is neither a time span such as 90d (units: s m h d) nor a time such as 2030-01-31T12:00:00Z"
                .formatted(Printable.text(text, 80)));
      }
    }
  }
}
