package dev.holdfast.engine.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Locale;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Events for tests of formats, and what becomes of them. */
final class Events {
  static final Instant ACCEPTED_AT = Instant.parse("2026-03-04T05:06:07.890Z");
  private static final String[] BLANKS = {"", "", " ", "\n\t", "  \r\n"};
  private static final String[] NUMBERS = {
    "0", "-0", "1.10", "1e400", "-12345678901234567890.00", "0.1e-7", "9007199254740993"
  };

  private Events() {}

  static Event event(
      String type,
      @Nullable String subject,
      @Nullable Instant occurredAt,
      String data,
      @Nullable String previous) {
    return new Event(
        Id.floor(ACCEPTED_AT),
        "default",
        type,
        subject,
        occurredAt,
        data.getBytes(UTF_8),
        previous == null ? null : previous.getBytes(UTF_8),
        null,
        null);
  }

  /** An event such as nobody would send, but could. */
  static Event random(SplittableRandom random) {
    return new Event(
        Id.floor(ACCEPTED_AT.plusMillis(random.nextLong(1L << 38))),
        random.nextBoolean() ? "tenant_" + random.nextInt(100) : "t" + text(random),
        "t" + text(random) + (random.nextBoolean() ? ".UPDATE" : ""),
        random.nextBoolean() ? null : "s" + text(random),
        random.nextBoolean() ? null : time(random),
        json(random).getBytes(UTF_8),
        random.nextBoolean() ? null : json(random).getBytes(UTF_8),
        random.nextBoolean() ? null : "i" + text(random),
        null);
  }

  private static Instant time(SplittableRandom random) {
    int nano =
        switch (random.nextInt(3)) {
          case 0 -> 0;
          case 1 -> random.nextInt(1_000) * 1_000_000;
          default -> random.nextInt(1_000_000_000);
        };
    return Instant.ofEpochSecond(
        random.nextLong(
            Instant.parse("0000-01-01T00:00:00Z").getEpochSecond(),
            Instant.parse("9999-12-31T23:59:59Z").getEpochSecond()),
        nano);
  }

  /** A text with quotes, control characters, pairs and halves of pairs. */
  static String text(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(12);
    for (int j = 0; j < length; j++) {
      switch (random.nextInt(5)) {
        case 0 -> text.append((char) random.nextInt(0x20));
        case 1 -> text.append("\"\\/%?#. \u007f\u2028\u00e9\ufffd".charAt(random.nextInt(12)));
        case 2 -> text.append((char) random.nextInt(0x10000));
        case 3 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
        default -> text.append((char) ('a' + random.nextInt(26)));
      }
    }
    return text.toString();
  }

  /**
   * A JSON value that parsers take: none of them likes half of a pair in a name. Now and then one
   * that is too large to be copied.
   */
  static String json(SplittableRandom random) {
    StringBuilder json = new StringBuilder();
    value(random, json, 3);
    if (random.nextInt(4) == 0) {
      json.insert(0, "[").append(",\"" + "x".repeat(random.nextInt(40_000)) + "\"]");
    }
    return json.toString();
  }

  private static void value(SplittableRandom random, StringBuilder json, int depth) {
    int kinds = depth == 0 ? 4 : 6;
    switch (random.nextInt(kinds)) {
      case 0 -> json.append(NUMBERS[random.nextInt(NUMBERS.length)]);
      case 1 -> json.append(random.nextBoolean() ? "null" : "true");
      case 2 -> string(text(random), json);
      case 3 -> json.append(random.nextLong());
      case 4 -> {
        json.append('[').append(blank(random));
        int length = random.nextInt(4);
        for (int i = 0; i < length; i++) {
          json.append(i == 0 ? "" : ",").append(blank(random));
          value(random, json, depth - 1);
        }
        json.append(']');
      }
      default -> {
        json.append('{').append(blank(random));
        int length = random.nextInt(4);
        for (int i = 0; i < length; i++) {
          json.append(i == 0 ? "" : ",").append(blank(random));
          string(text(random).replaceAll("[\\x{D800}-\\x{DFFF}]", ""), json);
          json.append(blank(random)).append(':').append(blank(random));
          value(random, json, depth - 1);
        }
        json.append(blank(random)).append('}');
      }
    }
  }

  /** In escapes where UTF-8 has no form for it. */
  private static void string(String text, StringBuilder json) {
    json.append('"');
    text.chars()
        .forEach(
            c -> {
              if (c < 0x20 || c == '"' || c == '\\' || Character.isSurrogate((char) c)) {
                json.append(String.format(Locale.ROOT, "\\u%04X", c));
              } else {
                json.append((char) c);
              }
            });
    json.append('"');
  }

  private static String blank(SplittableRandom random) {
    return BLANKS[random.nextInt(BLANKS.length)];
  }

  static byte[] bytes(Body body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] part : body.parts()) {
      bytes.writeBytes(part);
    }
    assertThat(bytes.size()).isEqualTo(body.length());
    return bytes.toByteArray();
  }

  static String text(Body body) {
    return new String(bytes(body), UTF_8);
  }
}
