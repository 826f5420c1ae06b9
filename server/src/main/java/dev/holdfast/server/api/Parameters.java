package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.History;
import dev.holdfast.server.api.Problem.Kind;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The query parameters of a request, all of them known.
 *
 * <p>A {@code +} stands for itself, not for a space: no parameter has spaces, but times have
 * offsets.
 */
final class Parameters {
  static final Parameters NONE = new Parameters(Map.of());

  private final Map<String, List<String>> values;

  private Parameters(Map<String, List<String>> values) {
    this.values = values;
  }

  static Parameters of(@Nullable String query, Set<String> known) {
    if (query == null || query.isEmpty()) {
      return NONE;
    }
    Map<String, List<String>> values = new LinkedHashMap<>();
    int from = 0;
    while (from <= query.length()) {
      int end = query.indexOf('&', from);
      end = end < 0 ? query.length() : end;
      if (end > from) {
        int equals = query.indexOf('=', from);
        equals = equals < 0 || equals > end ? end : equals;
        String name = decoded(query.substring(from, equals));
        if (!known.contains(name)) {
          throw unknown(name, known);
        }
        String value = equals < end ? decoded(query.substring(equals + 1, end)) : "";
        values.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
      }
      from = end + 1;
    }
    return new Parameters(values);
  }

  private static Refusal unknown(String name, Set<String> known) {
    return Refusal.of(
        Kind.INVALID_PARAMETER,
        Text.shown(name),
        known.isEmpty()
            ? "This call takes no parameters."
            : "This parameter is not known. Known are: "
                + String.join(", ", new TreeSet<>(known))
                + ".");
  }

  private static String decoded(String text) {
    String decoded = percentDecoded(text);
    if (decoded == null) {
      throw Refusal.of(
          Kind.INVALID_PARAMETER,
          Text.shown(text),
          "This is not properly percent-encoded UTF-8. Encode each byte as % and two hex digits.");
    }
    return decoded;
  }

  /** Absent when it is not percent-encoded UTF-8. */
  static @Nullable String percentDecoded(String text) {
    if (text.indexOf('%') < 0) {
      return text;
    }
    byte[] bytes = new byte[text.length()];
    int length = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '%') {
        int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
        int low = high >= 0 ? Character.digit(text.charAt(i + 2), 16) : -1;
        if (low < 0) {
          return null;
        }
        bytes[length++] = (byte) ((high << 4) | low);
        i += 2;
      } else if (c < 0x80) {
        bytes[length++] = (byte) c;
      } else {
        return null;
      }
    }
    byte[] decoded = Arrays.copyOf(bytes, length);
    return Utf8.isValid(decoded) ? new String(decoded, StandardCharsets.UTF_8) : null;
  }

  @Nullable String one(String name) {
    List<String> given = values.get(name);
    if (given == null) {
      return null;
    }
    if (given.size() > 1) {
      throw Refusal.of(Kind.INVALID_PARAMETER, name, "Give this parameter once.");
    }
    return given.getFirst();
  }

  /** All values, given several times or separated by commas. */
  List<String> many(String name) {
    List<String> all = new ArrayList<>();
    for (String given : values.getOrDefault(name, List.of())) {
      all.addAll(List.of(given.split(",", -1)));
    }
    return all;
  }

  int limit() {
    return number("limit", ApiLimits.LIST_ITEMS_DEFAULT, ApiLimits.LIST_ITEMS);
  }

  /** The same for a list whose items take long to make. */
  int limit(int most) {
    return number("limit", Math.min(ApiLimits.LIST_ITEMS_DEFAULT, most), most);
  }

  /** Something to look for, if it is given. */
  @Nullable String text(String name, int mostChars) {
    String given = one(name);
    if (given != null && (given.isEmpty() || given.codePointCount(0, given.length()) > mostChars)) {
      throw Refusal.of(
          Kind.INVALID_PARAMETER,
          name,
          "Give 1 to " + mostChars + " characters, or leave the parameter out.");
    }
    return given;
  }

  /** What events are to be about. */
  History.About about() {
    String type = text("type", ApiLimits.TYPE_CHARS);
    return new History.About(
        type == null ? null : new TypePattern(type), text("subject", ApiLimits.SUBJECT_CHARS));
  }

  /** Which page of a list whose pages have numbers, from 1 on. */
  int page() {
    return number("page", 1, ApiLimits.PAGES);
  }

  private int number(String name, int usual, int most) {
    String given = one(name);
    if (given == null) {
      return usual;
    }
    try {
      int number = Integer.parseInt(given);
      if (number >= 1 && number <= most) {
        return number;
      }
    } catch (NumberFormatException _) {
      // refused below
    }
    throw Refusal.of(Kind.INVALID_PARAMETER, name, "Give a number from 1 to " + most + ".");
  }

  long before(Cursor.List list) {
    String cursor = one("cursor");
    return cursor == null ? Long.MAX_VALUE : Cursor.before(list, cursor);
  }

  @Nullable Instant time(String name) {
    String given = one(name);
    if (given == null) {
      return null;
    }
    return Rfc3339.parse(given)
        .orElseThrow(() -> Refusal.of(Kind.INVALID_PARAMETER, name, Text.TIME_REMEDY));
  }

  @Nullable Long id(String name, String prefix) {
    String given = one(name);
    if (given == null) {
      return null;
    }
    return Id.parse(prefix, given)
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_PARAMETER,
                    name,
                    "Give an id as it came in an answer; it begins with " + prefix + "_."));
  }
}
