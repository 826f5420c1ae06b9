package dev.holdfast.core.filter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MomentTest {

  @ParameterizedTest
  @CsvSource({
    "2026-05-04T09:30Z, 2026-05-04T09:30:00Z",
    "2026-05-04T09:30:07Z, 2026-05-04T09:30:07Z",
    "2026-05-04T09:30:07.5Z, 2026-05-04T09:30:07.5Z",
    "2026-05-04T09:30:07.123456789Z, 2026-05-04T09:30:07.123456789Z",
    "2026-05-04T09:30:07.000000001Z, 2026-05-04T09:30:07.000000001Z",
    "2026-05-04T09:30+02:00, 2026-05-04T07:30:00Z",
    "2026-05-04T09:30+0200, 2026-05-04T07:30:00Z",
    "2026-05-04T09:30+02, 2026-05-04T07:30:00Z",
    "2026-05-04T09:30:07.250-0530, 2026-05-04T15:00:07.250Z",
    "2026-05-04T09:30:07.123456789-05:30, 2026-05-04T15:00:07.123456789Z",
    "2026-05-04T09:30-00:00, 2026-05-04T09:30:00Z",
    "2026-05-04T09:30+23:59, 2026-05-03T09:31:00Z",
    "2026-05-04T00:00+00, 2026-05-04T00:00:00Z",
    "2026-05-04T23:59:59Z, 2026-05-04T23:59:59Z",
    "2026-12-31T23:30-01:00, 2027-01-01T00:30:00Z",
    "2026-01-01T00:00Z, 2026-01-01T00:00:00Z",
    "2026-04-30T00:00Z, 2026-04-30T00:00:00Z",
    "2024-02-29T12:00:00+00:00, 2024-02-29T12:00:00Z",
    "0000-01-01T00:00Z, 0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z, 9999-12-31T23:59:59Z",
  })
  void a_date_time_with_any_offset_is_an_instant(String text, Instant instant) {
    assertThat(Moment.parse(text)).isEqualTo(instant);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "2026-05-04",
        "2026-05-04T09:30",
        "2026-05-04T09:30:00",
        "2026-05-04T09:30:00.5",
        "2026-05-04t09:30:00Z",
        "2026-05-04T09:30:00z",
        "2026-05-04 09:30:00Z",
        "2026/05-04T09:30:00Z",
        "2026-05/04T09:30:00Z",
        "2026-05-04T09.30:00Z",
        "2026-05-04T09:30.00Z",
        "2026-00-04T09:30:00Z",
        "2026-13-04T09:30:00Z",
        "2026-05-00T09:30:00Z",
        "2026-05-32T09:30:00Z",
        "2026-04-31T09:30:00Z",
        "2026-02-29T09:30:00Z",
        "2026-05-04T24:00:00Z",
        "2026-05-04T09:60:00Z",
        "2026-05-04T09:30:60Z",
        "2026-05-04T09:30:0Z",
        "2026-05-04T09:30:00.Z",
        "2026-05-04T09:30:00,5Z",
        "2026-05-04T09:30:00.1234567890Z",
        "2026-05-04T09:30:00Zx",
        "2026-05-04T09:30ZZ",
        "2026-05-04T09:30+",
        "2026-05-04T09:30+2",
        "2026-05-04T09:30+020",
        "2026-05-04T09:30+02:",
        "2026-05-04T09:30+02:0",
        "2026-05-04T09:30+02:000",
        "2026-05-04T09:30+02000",
        "2026-05-04T09:30+24:00",
        "2026-05-04T09:30+02:60",
        "2026-05-04T09:30+02:00:00",
        "2026-05-04T09:30*02:00",
        "2026-05-04T09:30:00[UTC]",
        "x026-05-04T09:30:00Z",
        "2026-x5-04T09:30:00Z",
        "2026-05-x4T09:30:00Z",
        "2026-05-04Tx9:30:00Z",
        "2026-05-04T09:x0:00Z",
        "2026-05-04T09:30:x0Z",
        "2026-05-04T09:3/:00Z",
        "2026-05-04T09:3::00Z",
        "-026-05-04T09:30:00Z",
        "+12026-05-04T09:30Z",
        "2026-05-04T09:30:00.123456789+02:00x",
      })
  void everything_else_is_none(String text) {
    assertThat(Moment.parse(text)).isNull();
  }

  @Test
  void it_reads_what_java_writes() {
    Seeds.each(
        5_000,
        random -> {
          OffsetDateTime time =
              OffsetDateTime.of(
                  LocalDateTime.ofEpochSecond(
                      random.nextLong(-62_000_000_000L, 253_000_000_000L),
                      random.nextBoolean() ? 0 : random.nextInt(1_000_000_000),
                      ZoneOffset.UTC),
                  ZoneOffset.ofTotalSeconds(60 * random.nextInt(-18 * 60, 18 * 60 + 1)));
          assertThat(Moment.parse(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time)))
              .as("%s", time)
              .isEqualTo(time.toInstant());
        });
  }
}
