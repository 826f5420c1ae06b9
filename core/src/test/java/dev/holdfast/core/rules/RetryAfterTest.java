package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {
  private static final Instant NOW = Instant.parse("1994-11-06T08:00:00Z");

  /** The moment that RFC 9110 shows in all three forms. */
  private static final Instant EXAMPLE = Instant.parse("1994-11-06T08:49:37Z");

  @ParameterizedTest
  @CsvSource({
    "1, 1",
    "120, 120",
    "007, 7",
    "000000000000120, 120",
    "100000000, 100000000",
    "999999999, 999999999"
  })
  void it_can_be_a_number_of_seconds(String text, long seconds) {
    assertThat(RetryAfter.from(status(429, text), NOW)).hasValue(NOW.plusSeconds(seconds));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1000000000", "9223372036854775808", "99999999999999999999999999"})
  void a_huge_number_of_seconds_is_a_very_long_time(String text) {
    assertThat(RetryAfter.from(status(429, text), NOW)).hasValue(NOW.plusSeconds(999_999_999));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
      })
  void it_can_be_a_date_in_each_of_the_three_forms_of_http(String text) {
    assertThat(RetryAfter.from(status(503, text), NOW)).hasValue(EXAMPLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " 60",
        "60 ",
        "\t60\t",
        " Sun, 06 Nov 1994 08:01:00 GMT ",
        " Sun Nov  6 08:01:00 1994\t"
      })
  void white_space_around_it_does_not_matter(String text) {
    assertThat(RetryAfter.from(status(429, text), NOW)).hasValue(NOW.plusSeconds(60));
  }

  @Test
  void every_moment_can_be_read_in_every_form() {
    Seeds.each(
        2_000,
        random -> {
          Instant now = Instant.ofEpochSecond(random.nextLong(1_700_000_000L, 2_500_000_000L));
          Instant at = now.plusSeconds(random.nextLong(1, 40L * 365 * 86_400));
          ZonedDateTime date = at.atZone(ZoneOffset.UTC);
          for (String form :
              new String[] {
                "EEE, dd MMM uuuu HH:mm:ss 'GMT'",
                "EEEE, dd-MMM-uu HH:mm:ss 'GMT'",
                "EEE MMM ppd HH:mm:ss uuuu"
              }) {
            String text = DateTimeFormatter.ofPattern(form, Locale.ENGLISH).format(date);
            assertThat(RetryAfter.from(status(429, text), now)).as(text).hasValue(at);
          }
        });
  }

  @Test
  void a_year_of_two_digits_is_never_more_than_fifty_years_ahead() {
    Instant now = Instant.parse("2026-06-15T00:00:00Z");
    assertThat(RetryAfter.from(status(429, "Sunday, 15-Jun-75 00:00:00 GMT"), now)).isEmpty();
    assertThat(RetryAfter.from(status(429, "Saturday, 15-Jun-75 00:00:00 GMT"), now))
        .hasValue(Instant.parse("2075-06-15T00:00:00Z"));
    assertThat(RetryAfter.from(status(429, "Tuesday, 15-Jun-77 00:00:00 GMT"), now)).isEmpty();
    assertThat(RetryAfter.from(status(429, "Wednesday, 15-Jun-77 00:00:00 GMT"), now)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "000",
        "Sun, 06 Nov 1994 08:00:00 GMT",
        "Sun, 06 Nov 1994 07:59:59 GMT",
        "Sunday, 06-Nov-94 07:59:59 GMT",
        "Sun Nov  6 07:59:59 1994",
        "Thu, 01 Jan 1970 00:00:00 GMT",
      })
  void what_is_not_in_the_future_is_ignored(String text) {
    assertThat(RetryAfter.from(status(429, text), NOW)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-1",
        "+60",
        "1.5",
        "60s",
        "6 0",
        "0x3c",
        "1e3",
        "\u0661\u0662",
        "soon",
        "tomorrow",
        "1994-11-06T08:49:37Z",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1995 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 Nov 1994",
        "Sun, 06 Nov 1994 08:49:37",
        "Sunday, 06-Nov-94 08:49:37",
        "Sun Nov 6 08:49:37 1994 GMT",
        "60, 120",
      })
  void what_cannot_be_read_is_ignored(String text) {
    assertThat(RetryAfter.from(status(429, text), NOW)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  void only_a_429_or_a_503_can_ask_for_time(int status) {
    assertThat(RetryAfter.from(status(status, "60"), NOW)).hasValue(NOW.plusSeconds(60));
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 400, 404, 408, 413, 428, 430, 500, 502, 504})
  void on_any_other_status_it_is_ignored(int status) {
    assertThat(RetryAfter.from(status(status, "60"), NOW)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void without_a_status_nothing_is_asked_for(Kind kind) {
    Outcome.Failure failure = new Outcome.Failure(kind, null, Outcome.NO_RESPONSE, "60");
    assertThat(RetryAfter.from(failure, NOW)).isEmpty();
  }

  @Test
  void without_the_header_nothing_is_asked_for() {
    assertThat(RetryAfter.from(status(429, null), NOW)).isEmpty();
  }
}
