package dev.holdfast.engine.egress;

/**
 * What is shown of a URL: everything but the values in its query, which are often tokens.
 *
 * <p>{@code https://host/path?key=1&token=abc} is shown as {@code
 * https://host/path?key=****&token=****}.
 */
public final class MaskedUrl {
  private static final String HIDDEN = "****";

  private MaskedUrl() {}

  public static String of(String url) {
    int query = url.indexOf('?');
    if (query < 0 || query == url.length() - 1) {
      return url;
    }
    StringBuilder shown = new StringBuilder(url.length()).append(url, 0, query + 1);
    String separator = "";
    for (String parameter : url.substring(query + 1).split("&", -1)) {
      int value = parameter.indexOf('=');
      shown.append(separator).append(parameter, 0, value + 1);
      if (value < parameter.length() - 1) {
        shown.append(HIDDEN);
      }
      separator = "&";
    }
    return shown.toString();
  }

  /** Whether it has a value that looks as if it came from here. */
  public static boolean isMasked(String url) {
    int query = url.indexOf('?');
    if (query < 0) {
      return false;
    }
    for (String parameter : url.substring(query + 1).split("&", -1)) {
      if (parameter.substring(parameter.indexOf('=') + 1).equals(HIDDEN)) {
        return true;
      }
    }
    return false;
  }
}
