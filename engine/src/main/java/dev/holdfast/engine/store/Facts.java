package dev.holdfast.engine.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an entry of the audit log says of a thing: names and values in JSON.
 *
 * <p>A value that nobody else should know is put here as it is shown. What it is, is only held
 * against what it was, so that a change shows though both look the same.
 */
public final class Facts {
  /** A longer value is told by its hash and its length. */
  static final int LONGEST_VALUE = 4_096;

  private final Map<String, Fact> facts = new LinkedHashMap<>();

  /**
   * A value.
   *
   * @param json as it is shown
   * @param identity what differs when the value does
   */
  private record Fact(String json, @Nullable Object identity) {}

  public Facts text(String name, @Nullable String value) {
    return json(name, value == null ? "null" : quoted(value));
  }

  /**
   * A value that is shown as something else.
   *
   * @param value never written anywhere
   */
  public Facts masked(String name, @Nullable Object value, @Nullable String shown) {
    return put(name, shown == null ? "null" : quoted(shown), value);
  }

  public Facts constant(String name, @Nullable Enum<?> value) {
    return text(name, value == null ? null : kebab(value));
  }

  public Facts time(String name, @Nullable Instant value) {
    return text(name, value == null ? null : value.toString());
  }

  public Facts truth(String name, boolean value) {
    return json(name, Boolean.toString(value));
  }

  public Facts number(String name, long value) {
    return json(name, Long.toString(value));
  }

  /** A value that is JSON already. */
  Facts json(String name, String json) {
    return put(name, json, json);
  }

  Facts put(String name, String json, @Nullable Object identity) {
    String bounded =
        json.length() <= LONGEST_VALUE
            ? json
            : "{\"sha256\":\"%s\",\"length\":%d}".formatted(sha256(json), json.length());
    facts.put(name, new Fact(bounded, identity));
    return this;
  }

  /** Those that are otherwise in the other, or not at all. */
  Facts without(Facts same) {
    Facts different = new Facts();
    facts.forEach(
        (name, fact) -> {
          Fact other = same.facts.get(name);
          if (other == null || !Objects.equals(fact.identity(), other.identity())) {
            different.facts.put(name, fact);
          }
        });
    return different;
  }

  boolean isOnly(String name) {
    return facts.size() == 1 && facts.containsKey(name);
  }

  /** A JSON object. */
  String json() {
    StringBuilder json = new StringBuilder("{");
    facts.forEach(
        (name, fact) -> {
          json.append(json.length() == 1 ? "" : ",");
          json.append(quoted(name)).append(':').append(fact.json());
        });
    return json.append('}').toString();
  }

  static String kebab(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static String sha256(String text) {
    return HexFormat.of().formatHex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** A JSON string. Half of a surrogate pair has no UTF-8 form, so it is escaped. */
  static String quoted(String text) {
    StringBuilder json = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        json.append(c).append(text.charAt(++i));
      } else if (c < 0x20 || c == 0x7f || Character.isSurrogate(c)) {
        json.append("\\u").append(HexFormat.of().toHexDigits(c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
