package dev.holdfast.server.api;

import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cookie of a session.
 *
 * <p>No script can read it, and no browser sends it with a request that another site has made. Over
 * HTTP, which is how a server is tried out on one's own machine, it has to go without encryption.
 */
final class SessionCookie {
  private static final String NAME = "holdfast_session";
  private static final String PREFIX = NAME + "=";

  /** Further ones are not looked at. */
  private static final int MOST = 4;

  private SessionCookie() {}

  /**
   * Its values in a header with all cookies of a request. There is more than one where another
   * server of the same host, or one above it, has given a browser a cookie of this name.
   */
  static List<String> in(@Nullable String header) {
    List<String> values = new ArrayList<>();
    int from = 0;
    while (header != null && from < header.length() && values.size() < MOST) {
      int end = header.indexOf(';', from);
      end = end < 0 ? header.length() : end;
      while (from < end && header.charAt(from) == ' ') {
        from++;
      }
      if (header.startsWith(PREFIX, from)) {
        String value = header.substring(from + PREFIX.length(), end).strip();
        if (!value.isEmpty() && value.length() <= ApiLimits.SESSION_COOKIE_CHARS) {
          values.add(value);
        }
      }
      from = end + 1;
    }
    return values;
  }

  /** The header that gives a browser its cookie. */
  static String given(HttpServerRequest request, String value, Duration length) {
    return PREFIX
        + value
        + "; Path=/; HttpOnly; SameSite=Strict; Max-Age="
        + length.toSeconds()
        + (isEncrypted(request) ? "; Secure" : "");
  }

  /** The header that takes it away. */
  static String taken(HttpServerRequest request) {
    return given(request, "", Duration.ZERO);
  }

  /** Here, or at a proxy before us. Whoever lies about that gets a cookie that is not sent back. */
  private static boolean isEncrypted(HttpServerRequest request) {
    return request.isSSL() || Origin.of(request.headers(), false).startsWith("https:");
  }
}
