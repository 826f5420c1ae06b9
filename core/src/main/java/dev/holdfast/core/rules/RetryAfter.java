package dev.holdfast.core.rules;

import dev.holdfast.core.model.Outcome;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/** What an endpoint that asks for time with {@code Retry-After} gets. */
public final class RetryAfter {

  /** More than any deadline; larger numbers mean the same and are not reckoned with. */
  private static final int MOST_DIGITS = 9;

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
    try {
      return Optional.of(
          ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
