package dev.holdfast.server.api;

import dev.holdfast.core.model.Form.NewHeaders;
import dev.holdfast.server.api.Problem.Kind;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Headers that a subscription's messages are to be sent with, as they stand in bodies. */
final class OwnHeaders {
  static final String FIELD = "headers";

  /** Those that say how a message is sent, or that we send ourselves. */
  private static final Set<String> OURS =
      Set.of(
          "host",
          "content-length",
          "content-type",
          "content-encoding",
          "transfer-encoding",
          "connection",
          "keep-alive",
          "te",
          "trailer",
          "upgrade",
          "http2-settings",
          "early-data",
          "expect",
          "user-agent",
          "traceparent",
          "tracestate");

  private static final Set<String> OUR_PREFIXES = Set.of("proxy-", "webhook-");

  private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

  private OwnHeaders() {}

  /**
   * Reads what comes next.
   *
   * @param isChange whether there are headers already: then these are added, and one whose value is
   *     null is removed
   */
  static NewHeaders read(JsonParser parser, boolean isChange) {
    JsonToken first = parser.nextToken();
    if (first == JsonToken.VALUE_NULL) {
      return new NewHeaders(true, Map.of(), Set.of());
    }
    if (first != JsonToken.START_OBJECT) {
      throw JsonBody.wrongType(parser, FIELD, "an object of names and values");
    }
    Map<String, String> set = new HashMap<>();
    Set<String> removed = new HashSet<>();
    Set<String> seen = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      String field = FIELD + "." + Text.shown(name);
      checkName(name, field);
      if (!seen.add(name)) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            field,
            "This header is there more than once; upper and lower case are the same. Keep one of"
                + " them.");
      }
      JsonToken value = parser.nextToken();
      if (value == JsonToken.VALUE_NULL && isChange) {
        removed.add(name);
      } else if (value != JsonToken.VALUE_STRING) {
        throw JsonBody.wrongType(parser, field, "a string");
      } else {
        set.put(name, value(parser.getString(), field, isChange));
      }
      if (set.size() > ApiLimits.HEADERS) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            FIELD,
            "There can be " + ApiLimits.HEADERS + " headers, no more. Leave some out.");
      }
    }
    return new NewHeaders(!isChange, set, removed);
  }

  private static void checkName(String name, String field) {
    if (name.isEmpty() || name.length() > ApiLimits.HEADER_NAME_CHARS || !isToken(name)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "A header's name has 1 to "
              + ApiLimits.HEADER_NAME_CHARS
              + " letters, digits and marks of "
              + TOKEN_MARKS
              + " and no others.");
    }
    String lower = name.toLowerCase(Locale.ROOT);
    if (OURS.contains(lower) || OUR_PREFIXES.stream().anyMatch(lower::startsWith)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "This header belongs to how messages are sent and cannot be set. Choose another name.");
    }
  }

  private static boolean isToken(String name) {
    return name.chars()
        .allMatch(
            c ->
                (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || TOKEN_MARKS.indexOf(c) >= 0);
  }

  private static String value(String value, String field, boolean isChange) {
    boolean isPrintable = value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    if (value.isEmpty()
        || value.length() > ApiLimits.HEADER_VALUE_CHARS
        || !isPrintable
        || value.charAt(0) == ' '
        || value.charAt(value.length() - 1) == ' ') {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "A header's value has 1 to "
              + ApiLimits.HEADER_VALUE_CHARS
              + " printable ASCII characters, and no blank at its beginning or end.");
    }
    return Mask.refuse(value, field, isChange);
  }
}
