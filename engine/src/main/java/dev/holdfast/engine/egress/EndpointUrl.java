package dev.holdfast.engine.egress;

import java.net.IDN;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.text.Normalizer;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A URL that attempts can be made to, taken apart.
 *
 * @param host in lower case and ASCII; an IPv6 address without its brackets
 * @param uri path and query, as they stand in the request line
 */
public record EndpointUrl(boolean https, String host, int port, String uri) {

  /** The longest URL that is accepted. */
  public static final int MOST_CHARACTERS = 2048;

  private static final int MOST_HOST_CHARACTERS = 253;
  private static final int MOST_LABEL_CHARACTERS = 63;

  /** A last label that a C library would read as a number, whatever comes before it. */
  private static final Pattern NUMBER = Pattern.compile("[0-9]+|0x[0-9a-f]*");

  private static final int IDEOGRAPHIC_FULL_STOP = 0x3002;

  /** What came out of looking at a text that should be a URL. */
  public sealed interface Checked {

    /** The URL is fine. */
    record Accepted(EndpointUrl url) implements Checked {}

    /** The URL cannot be used. The sentence says why and what to do. */
    record Refused(String problem) implements Checked {}
  }

  /** Tells what is wrong with a URL, in a sentence. */
  private static final class Problem extends Exception {
    Problem(String sentence) {
      super(sentence, null, false, false);
    }

    String sentence() {
      return String.valueOf(getMessage());
    }
  }

  public static Checked check(String text) {
    try {
      return new Checked.Accepted(parse(text));
    } catch (Problem problem) {
      return new Checked.Refused(problem.sentence());
    }
  }

  /** {@code host} or {@code host:port}, as in the {@code Host} header. */
  public String authority() {
    String name = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return port == defaultPort(https) ? name : name + ":" + port;
  }

  /**
   * The URL in normal form: two URLs are one endpoint when these are equal. Scheme and host are in
   * lower case, a default port is left out, an empty path is {@code /}.
   */
  public String normalised() {
    return (https ? "https://" : "http://") + authority() + uri;
  }

  @Override
  public String toString() {
    return normalised();
  }

  private static EndpointUrl parse(String text) throws Problem {
    if (text.length() > MOST_CHARACTERS) {
      throw new Problem(
          "The URL is longer than " + MOST_CHARACTERS + " characters; use a shorter one.");
    }
    int scheme = text.indexOf("://");
    String name = scheme < 0 ? "" : text.substring(0, scheme).toLowerCase(Locale.ROOT);
    if (!name.equals("http") && !name.equals("https")) {
      throw new Problem("The URL must start with http:// or https://.");
    }
    boolean https = name.equals("https");
    int start = scheme + 3;
    int end = start;
    while (end < text.length() && "/?#".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    String authority = text.substring(start, end);
    if (authority.indexOf('@') >= 0) {
      throw new Problem(
          "The URL must not contain a user name or password; use the subscription's authToken"
              + " or headers instead.");
    }
    int colon = authority.indexOf(':', authority.startsWith("[") ? authority.indexOf(']') + 1 : 0);
    String host = host(colon < 0 ? authority : authority.substring(0, colon));
    int port = port(colon < 0 ? "" : authority.substring(colon + 1), defaultPort(https));
    return new EndpointUrl(https, host, port, uri(text.substring(end)));
  }

  private static String host(String text) throws Problem {
    if (text.isEmpty()) {
      throw new Problem("The URL has no host; write it like https://example.com/hook.");
    }
    return text.startsWith("[") ? addressInBrackets(text) : name(text);
  }

  private static String addressInBrackets(String text) throws Problem {
    String literal = text.endsWith("]") ? text.substring(1, text.length() - 1) : "";
    InetAddress address = literal.indexOf(':') < 0 ? null : IpLiteral.parse(literal);
    if (address == null) {
      throw new Problem("The URL's host " + shown(text) + " is not an IPv6 address.");
    }
    if (address instanceof Inet4Address) {
      throw new Problem(
          "The URL's host "
              + shown(text)
              + " is an IPv4 address in an IPv6 form; write it as an IPv4 address: "
              + address.getHostAddress()
              + ".");
    }
    return literal.toLowerCase(Locale.ROOT);
  }

  /** A name, or an IPv4 address, since only its last label tells one from the other. */
  private static String name(String text) throws Problem {
    // Whatever letters become, it is looked at below as if it had been written so.
    String host =
        text.chars().allMatch(c -> c < 0x80) ? text.toLowerCase(Locale.ROOT) : ascii(text);
    if (host.length() > MOST_HOST_CHARACTERS) {
      throw new Problem(
          "The URL's host is longer than " + MOST_HOST_CHARACTERS + " characters; check it.");
    }
    String[] labels = host.split("\\.", -1);
    int last = labels.length - (host.endsWith(".") ? 2 : 1);
    for (int i = 0; i <= last; i++) {
      if (!isLabel(labels[i])) {
        throw notAName(text);
      }
    }
    if (last < 0) {
      throw notAName(text);
    }
    if (NUMBER.matcher(labels[last]).matches() && IpLiteral.parse(host) == null) {
      throw new Problem(
          "The URL's host "
              + shown(text)
              + " is not an IPv4 address; write it as four numbers from 0 to 255.");
    }
    return host;
  }

  private static Problem notAName(String text) {
    return new Problem(
        "The URL's host "
            + shown(text)
            + " is not a host name; use letters, digits, '-' and '.', and write other letters"
            + " in their xn-- form.");
  }

  /**
   * The name as it is looked up: other letters become their {@code xn--} form, as IDNA2003 has it.
   * Browsers go by later rules. Where these lead to another name, there is none that is surely
   * meant.
   */
  private static String ascii(String text) throws Problem {
    String ascii;
    try {
      ascii = IDN.toASCII(text).toLowerCase(Locale.ROOT);
    } catch (IllegalArgumentException e) {
      throw notAName(text);
    }
    if (!IDN.toUnicode(ascii).equals(foldedAsToday(text))) {
      throw new Problem(
          "The URL's host "
              + shown(text)
              + " has characters that some programs take for others, so that it is not sure which"
              + " name is meant; write it in its xn-- form.");
    }
    return ascii;
  }

  /**
   * The name with the differences gone that later rules do not make either: large and small
   * letters, wide and narrow ones. Unlike IDNA2003 they keep {@code ß}, {@code ς} and the joiners,
   * and know letters that are younger.
   */
  private static String foldedAsToday(String text) {
    StringBuilder folded = new StringBuilder();
    Normalizer.normalize(text, Normalizer.Form.NFKC)
        .codePoints()
        .map(c -> c == IDEOGRAPHIC_FULL_STOP ? '.' : Character.toLowerCase(c))
        .forEach(folded::appendCodePoint);
    return Normalizer.normalize(folded, Normalizer.Form.NFKC);
  }

  private static boolean isLabel(String label) {
    return !label.isEmpty()
        && label.length() <= MOST_LABEL_CHARACTERS
        && label
            .chars()
            .allMatch(
                c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_');
  }

  private static int port(String text, int otherwise) throws Problem {
    if (text.isEmpty()) {
      return otherwise;
    }
    if (text.matches("[0-9]{1,10}")) {
      long port = Long.parseLong(text);
      if (port >= 1 && port <= 65_535) {
        return (int) port;
      }
    }
    // not shown: what stands after a colon may be a password
    throw new Problem("The URL's port must be a number from 1 to 65535.");
  }

  private static String uri(String text) throws Problem {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '#') {
        throw new Problem("The URL must not have a fragment; leave out '#' and what follows it.");
      }
      if (c == '%' && !(isHex(text, i + 1) && isHex(text, i + 2))) {
        throw new Problem("The URL has a '%' that two hex digits do not follow; write it as %25.");
      }
      if (c <= ' ' || c >= 0x7f || "\"<>\\^`{|}".indexOf(c) >= 0) {
        throw new Problem(
            "The URL contains the character "
                + shown(String.valueOf(c))
                + " after its host; percent-encode it.");
      }
    }
    return text.startsWith("/") ? text : "/" + text;
  }

  private static boolean isHex(String text, int i) {
    return i < text.length() && Character.digit(text.charAt(i), 16) >= 0 && text.charAt(i) < 0x80;
  }

  private static int defaultPort(boolean https) {
    return https ? 443 : 80;
  }

  /** The text for a sentence, short and without anything that could upset a terminal or a log. */
  private static String shown(String text) {
    StringBuilder shown = new StringBuilder("'");
    text.codePoints()
        .limit(80)
        .forEach(
            c -> {
              if (c < ' '
                  || c == 0x7f
                  || Character.isISOControl(c)
                  || Character.getType(c) == Character.FORMAT) {
                shown.append(String.format("\\u%04x", c));
              } else {
                shown.appendCodePoint(c);
              }
            });
    return shown.append("'").toString();
  }
}
