package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Rfc3339Test {

  @ParameterizedTest
  @CsvSource({
    "2026-03-01T12:00:00Z, 2026-03-01T12:00:00Z",
    "2026-03-01t12:00:00z, 2026-03-01T12:00:00Z",
    "2026-03-01T12:00:00.5Z, 2026-03-01T12:00:00.5Z",
    "2026-03-01T12:00:00.123456789Z, 2026-03-01T12:00:00.123456789Z",
    "2026-03-01T12:00:00+01:30, 2026-03-01T10:30:00Z",
    "2026-03-01T12:00:00-08:00, 2026-03-01T20:00:00Z",
    "2026-03-01T12:00:00-00:00, 2026-03-01T12:00:00Z",
    "2024-02-29T23:59:59.999+23:59, 2024-02-29T00:00:59.999Z",
    "0001-01-01T00:00:00Z, 0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z, 9999-12-31T23:59:59Z",
    "0000-01-01T01:00:00+01:00, 0000-01-01T00:00:00Z",
  })
  void a_time_with_an_offset_is_read(String text, Instant time) {
    assertThat(Rfc3339.parse(text)).contains(time);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "now",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00Z",
        "2026-03-01 12:00:00Z",
        "2026-03-01T12:00:00 Z",
        "2026-03-01T12:00:00.Z",
        "2026-03-01T12:00:00,5Z",
        "2026-03-01T12:00:00.1234567891Z",
        "2026-03-01T12:00:00+0100",
        "2026-03-01T12:00:00+01",
        "2026-03-01T12:00:00+24:00",
        "2026-03-01T12:00:00+01:60",
        "2026-03-01T12:00:00+01:00:00",
        "2026-03-01T12:00:00*01:00",
        "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-00-01T12:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:60:00Z",
        "2026-03-01T12:00:60Z",
        "26-03-01T12:00:00Z",
        "+2026-03-01T12:00:00Z",
        "-026-03-01T12:00:00Z",
        "2026-3-01T12:00:00Z",
        "2026-03-01T1a:00:00Z",
        "0000-01-01T00:59:59+01:00",
        "9999-12-31T23:00:00-01:00",
        "２０２６-03-01T12:00:00Z",
        "2026-03-01T12:00:00ZZ",
        "2026-03-01T12:00:00Z ",
        " 2026-03-01T12:00:00Z",
      })
  void anything_else_is_not(String text) {
    assertThat(Rfc3339.parse(text)).isEmpty();
  }

  @Test
  void it_agrees_with_the_platform() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 10_000; i++) {
      Instant time =
          Instant.ofEpochSecond(
              random.nextLong(-62_135_596_800L, 253_402_300_800L), random.nextInt(1_000_000_000));
      OffsetDateTime local =
          time.atOffset(ZoneOffset.ofTotalSeconds(60 * random.nextInt(-18 * 60, 18 * 60 + 1)));
      if (local.getYear() < 0 || local.getYear() > 9999 || local.getSecond() == 0) {
        continue;
      }
      String text = DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(local);
      assertThat(Rfc3339.parse(text)).as("seed %d: %s", seed, text).contains(time);
    }
  }
}
