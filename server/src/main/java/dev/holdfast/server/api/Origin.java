package dev.holdfast.server.api;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Where a caller has reached this server, such as {@code https://hooks.example:8443}, as far as its
 * request and the proxy before us tell.
 *
 * <p>Both say what they like. What is no plain host and port is not repeated to anybody. A proxy
 * behind another one adds to what the first has said, which is what the caller has used.
 */
final class Origin {
  private static final CharSequence FORWARDED_PROTO =
      HttpHeaders.createOptimized("x-forwarded-proto");
  private static final Set<String> SCHEMES = Set.of("http", "https");
  private static final int HOST_CHARS = 260;
  private static final int HIGHEST_PORT = 65_535;

  /** A name, or an address of IPv4 or IPv6. */
  private static final Pattern HOST =
      Pattern.compile("(?:[A-Za-z0-9][A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]+])(?::([0-9]{1,5}))?");

  private Origin() {}

  /** Empty when nobody can say; a path after it is still right then, only not absolute. */
  static String of(MultiMap headers, boolean isEncrypted) {
    String host = headers.get(HttpHeaders.HOST);
    if (host == null || host.length() > HOST_CHARS) {
      return "";
    }
    var parts = HOST.matcher(host);
    if (!parts.matches()) {
      return "";
    }
    String port = parts.group(1);
    if (port != null && Integer.parseInt(port) > HIGHEST_PORT) {
      return "";
    }
    String forwarded = headers.get(FORWARDED_PROTO);
    String scheme = forwarded == null ? (isEncrypted ? "https" : "http") : scheme(forwarded);
    return SCHEMES.contains(scheme) ? scheme + "://" + host : "";
  }

  /** The first that is forwarded; not always one that there is. */
  private static String scheme(String forwarded) {
    int end = forwarded.indexOf(',');
    String first = end < 0 ? forwarded : forwarded.substring(0, end);
    return first.strip().toLowerCase(Locale.ROOT);
  }
}
