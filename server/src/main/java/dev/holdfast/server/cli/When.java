package dev.holdfast.server.cli;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A time as somebody types it: an instant, or a span before now such as {@code 2h}.
 *
 * @param before how long before now; then {@code instant} is absent
 */
record When(@Nullable Duration before, @Nullable Instant instant) {
  private static final Kind<Duration> SPAN = Kind.duration("0s", "36500d");

  Instant from(Instant now) {
    if (instant != null) {
      return instant;
    }
    return before == null ? now : now.minus(before);
  }

  /** For picocli. */
  static final class Converter implements ITypeConverter<When> {
    @Override
    public When convert(String text) {
      try {
        return new When(SPAN.read(text.strip()), null);
      } catch (BadValue e) {
        return new When(null, instant(text.strip()));
      }
    }

    private static Instant instant(String text) {
      try {
        return OffsetDateTime.parse(text).toInstant();
      } catch (DateTimeException e) {
        throw new TypeConversionException(
            "'%s' is neither a time such as 2026-03-01T12:00:00Z nor a time span before now such as 2h (units: s m h d)"
                .formatted(Printable.text(text, 80)));
      }
    }
  }
}
