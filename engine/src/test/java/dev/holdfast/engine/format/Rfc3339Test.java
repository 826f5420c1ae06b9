package dev.holdfast.engine.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Rfc3339Test {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1970-01-01T00:00:00Z",
        "2026-12-31T23:59:59.999999999Z",
        "2024-02-29T12:00:00.120Z",
        "2026-01-02T03:04:05.000001Z",
        "2026-01-02T03:04:05.000000001Z",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "1969-12-31T23:59:59.500Z"
      })
  void a_moment_is_written_as_it_was_read(String text) {
    assertThat(Rfc3339.text(Instant.parse(text))).isEqualTo(text);
  }

  @Test
  void any_moment_is_written_as_java_writes_it() {
    Random random = new Random(1985);
    int[] units = {1_000_000_000, 1_000_000, 1_000, 1};
    for (int i = 0; i < 20_000; i++) {
      int unit = units[random.nextInt(units.length)];
      Instant moment =
          Instant.ofEpochSecond(
              random.nextLong(-62_200_000_000L, 253_500_000_000L),
              random.nextInt(1_000_000_000 / unit) * (long) unit);
      assertThat(Rfc3339.text(moment)).isEqualTo(moment.toString());
    }
  }
}
