package dev.holdfast.engine.egress;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Ports that may be connected to.
 *
 * @param ranges none of them empty
 */
public record Ports(List<Range> ranges) {

  /** Every port there is. */
  public static final Ports ALL = new Ports(List.of(new Range(1, 65_535)));

  /** Ports that lie side by side, the first and the last among them. */
  public record Range(int first, int last) {
    @Override
    public String toString() {
      return first == last ? Integer.toString(first) : first + "-" + last;
    }
  }

  /**
   * Reads ports and ranges of them such as {@code 80,443,1024-65535}.
   *
   * @throws IllegalArgumentException with a sentence that says what is wrong
   */
  public static Ports parse(String text) {
    List<Range> ranges = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      int dash = part.indexOf('-');
      int first = port(dash < 0 ? part : part.substring(0, dash), text);
      int last = dash < 0 ? first : port(part.substring(dash + 1), text);
      if (first > last) {
        throw invalid(text);
      }
      ranges.add(new Range(first, last));
    }
    return new Ports(List.copyOf(ranges));
  }

  private static int port(String text, String whole) {
    String digits = text.strip();
    int port = digits.matches("[0-9]{1,5}") ? Integer.parseInt(digits) : 0;
    if (port < 1 || port > 65_535) {
      throw invalid(whole);
    }
    return port;
  }

  private static IllegalArgumentException invalid(String text) {
    return new IllegalArgumentException(
        "'" + text + "' is not a list of ports; write it like 80,443,1024-65535");
  }

  /** As {@link #parse} reads them. */
  @Override
  public String toString() {
    return ranges.stream().map(Range::toString).collect(Collectors.joining(","));
  }

  boolean contain(int port) {
    for (Range range : ranges) {
      if (port >= range.first() && port <= range.last()) {
        return true;
      }
    }
    return false;
  }
}
