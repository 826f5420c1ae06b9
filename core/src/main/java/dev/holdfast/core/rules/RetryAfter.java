package dev.holdfast.core.rules;

import dev.holdfast.core.model.Outcome;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What an endpoint that asks for time with {@code Retry-After} gets.
 *
 * <p>It asks in seconds or with one of the three forms of date that HTTP has had, all of which a
 * recipient must read (RFC 9110, section 5.6.7).
 */
public final class RetryAfter {

  /** More than any deadline; larger numbers mean the same and are not reckoned with. */
  private static final int MOST_DIGITS = 9;

  /** {@code Sun Nov 6 08:49:37 1994}, always GMT. */
  private static final DateTimeFormatter ASCTIME =
      DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private RetryAfter() {}

  /**
   * The moment until which the endpoint wants to be left alone. Only a 429 or a 503 can ask; what
   * cannot be read or lies in the past is ignored.
   */
  public static Optional<Instant> from(Outcome.Failure failure, Instant now) {
    if (failure.retryAfter() == null || failure.status() == null) {
      return Optional.empty();
    }
    if (failure.status() != 429 && failure.status() != 503) {
      return Optional.empty();
    }
    return parse(failure.retryAfter().strip(), now).filter(at -> at.isAfter(now));
  }

  private static Optional<Instant> parse(String text, Instant now) {
    if (!text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      String digits = text.replaceFirst("^0+(?=.)", "");
      long seconds = digits.length() > MOST_DIGITS ? 999_999_999L : Long.parseLong(digits);
      return Optional.of(now.plusSeconds(seconds));
    }
    for (DateTimeFormatter form :
        List.of(DateTimeFormatter.RFC_1123_DATE_TIME, rfc850(now), ASCTIME)) {
      try {
        return Optional.of(form.parse(text, Instant::from));
      } catch (DateTimeException e) {
        // Not this form; the next may fit.
      }
    }
    return Optional.empty();
  }

  /**
   * {@code Sunday, 06-Nov-94 08:49:37 GMT}. Its two-digit year is never more than 50 years ahead of
   * {@code now}.
   */
  private static DateTimeFormatter rfc850(Instant now) {
    int firstYear = LocalDateTime.ofInstant(now, ZoneOffset.UTC).getYear() - 50;
    return new DateTimeFormatterBuilder()
        .appendPattern("EEEE, dd-MMM-")
        .appendValueReduced(ChronoField.YEAR, 2, 2, firstYear)
        .appendPattern(" HH:mm:ss 'GMT'")
        .toFormatter(Locale.ENGLISH)
        .withZone(ZoneOffset.UTC);
  }
}
