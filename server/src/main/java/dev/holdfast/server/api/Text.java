package dev.holdfast.server.api;

import dev.holdfast.core.model.Operational;
import dev.holdfast.server.api.Problem.Kind;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** What texts must be like that callers give us and that we keep, compare and show again. */
final class Text {
  static final String TIME_REMEDY =
      "Give a time of the years 0000 to 9999 as in RFC 3339 with an offset and at most nine"
          + " decimals, such as 2026-03-01T12:00:00Z or 2026-03-01T13:00:00.5+01:00.";

  private static final int SHOWN_CHARS = 64;

  private Text() {}

  /** Refuses what is empty, too long, or has characters that cannot be kept or shown. */
  static String clean(String value, String field, int mostChars) {
    int chars = value.length() > mostChars ? value.codePointCount(0, value.length()) : 0;
    if (value.isEmpty() || chars > mostChars) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "It must have 1 to " + mostChars + " characters, not " + chars + ".");
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c >= ' ' && c < 0x7f) {
        continue;
      }
      if (Character.isISOControl(c)) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            field,
            "It has a control character at position " + i + ". Leave it out.");
      }
      if (Character.isSurrogate(c)) {
        if (!Character.isHighSurrogate(c)
            || i + 1 == value.length()
            || !Character.isLowSurrogate(value.charAt(i + 1))) {
          throw Refusal.of(
              Kind.INVALID_FIELD,
              field,
              "It has half of a surrogate pair at position " + i + ", which is no character.");
        }
        i++;
      }
    }
    return value;
  }

  static String type(String value, String field) {
    clean(value, field, ApiLimits.TYPE_CHARS);
    if (value.indexOf('*') >= 0) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "An event has one exact type; \"*\" is for the patterns of subscriptions.");
    }
    if (Operational.TYPES.contains(value)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "Only Holdfast itself sends events of this type. Give yours another one.");
    }
    return value;
  }

  /** Refuses what could not stand in a path or be mistaken for an id of ours. */
  static String eventId(String value, String field) {
    if (value.isEmpty() || value.length() > ApiLimits.ID_CHARS) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "It must have 1 to " + ApiLimits.ID_CHARS + " characters, not " + value.length() + ".");
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c <= ' ' || c >= 0x7f) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            field,
            "It may only have visible ASCII characters and no spaces; see position " + i + ".");
      }
    }
    if (value.startsWith("evt_")) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "Ids that begin with evt_ are given by the server. Choose another, or leave it out.");
    }
    return value;
  }

  /** Cut to microseconds, as it is kept, so that it is the same in every attempt. */
  static Instant time(String value, String field) {
    return Rfc3339.parse(value)
        .orElseThrow(() -> Refusal.of(Kind.INVALID_FIELD, field, TIME_REMEDY))
        .truncatedTo(ChronoUnit.MICROS);
  }

  /** The same, with a question mark for each half of a surrogate pair: it cannot be encoded. */
  static String whole(String value) {
    return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  /** What a caller sent, cut and without anything that could not be shown. */
  static String shown(String value) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < value.length() && i < SHOWN_CHARS; i++) {
      char c = value.charAt(i);
      shown.append(c >= ' ' && c < 0x7f ? c : '?');
    }
    return value.length() > SHOWN_CHARS ? shown.append("...").toString() : shown.toString();
  }
}
