package dev.holdfast.engine.egress;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which addresses may be reached: the public ones, and of the others those that {@code
 * egress.allow} names.
 *
 * <p>Anybody who may subscribe chooses where requests go. Without this guard a subscription could
 * reach what only this machine or its network should: metadata services, databases, admin pages.
 */
public final class EgressRules {

  private static final List<Cidr> NOT_PUBLIC =
      Stream.of(
              "0.0.0.0/8", // this network
              "10.0.0.0/8", // private
              "100.64.0.0/10", // shared by carriers
              "127.0.0.0/8", // loopback
              "169.254.0.0/16", // link-local, metadata services
              "172.16.0.0/12", // private
              "192.0.0.0/24", // protocol assignments
              "192.0.2.0/24", // documentation
              "192.88.99.0/24", // 6to4 relays
              "192.168.0.0/16", // private
              "198.18.0.0/15", // benchmarks
              "198.51.100.0/24", // documentation
              "203.0.113.0/24", // documentation
              "224.0.0.0/4", // multicast
              "240.0.0.0/4", // reserved, broadcast
              "::/3", // unspecified, loopback, mapped and compatible IPv4, translation
              "2001::/23", // protocol assignments, Teredo, benchmarks
              "2001:db8::/32", // documentation
              "2002::/16", // 6to4
              "3fff::/20", // documentation
              "4000::/2", // unassigned
              "8000::/1") // unassigned, unique local, link-local, multicast
          .map(Cidr::parse)
          .toList();

  /** Addresses that a translator turns into the IPv4 address in their last four bytes. */
  private static final Cidr TRANSLATED = Cidr.parse("64:ff9b::/96");

  private final List<Cidr> allow;
  private final List<Cidr> deny;
  private final Ports ports;

  private EgressRules(List<Cidr> allow, List<Cidr> deny, Ports ports) {
    this.allow = allow;
    this.deny = deny;
    this.ports = ports;
  }

  /**
   * Rules that allow these ranges besides the public addresses, and deny others in any case.
   *
   * @throws IllegalArgumentException with a sentence for each range that cannot be read
   */
  public static EgressRules of(List<String> allow, List<String> deny, Ports ports) {
    List<String> problems = new ArrayList<>();
    EgressRules rules = new EgressRules(ranges(allow, problems), ranges(deny, problems), ports);
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
    return rules;
  }

  /** Rules that allow these ranges besides the public addresses, and every port. */
  public static EgressRules allowing(List<String> ranges) {
    return of(ranges, List.of(), Ports.ALL);
  }

  private static List<Cidr> ranges(List<String> texts, List<String> problems) {
    List<Cidr> ranges = new ArrayList<>();
    for (String text : texts) {
      try {
        ranges.add(Cidr.parse(text.strip()));
      } catch (IllegalArgumentException e) {
        problems.add(e.getMessage());
      }
    }
    return List.copyOf(ranges);
  }

  public boolean permitsPort(int port) {
    return ports.contain(port);
  }

  public boolean permits(InetAddress address) {
    if (isIn(allow, address)) {
      return true;
    }
    if (TRANSLATED.contains(address)) {
      return permits(embedded(address));
    }
    return !isIn(NOT_PUBLIC, address);
  }

  private static boolean isIn(List<Cidr> ranges, InetAddress address) {
    byte[] bytes = address.getAddress();
    for (Cidr range : ranges) {
      if (range.contains(bytes)) {
        return true;
      }
    }
    return false;
  }

  private static InetAddress embedded(InetAddress address) {
    try {
      return InetAddress.getByAddress(Arrays.copyOfRange(address.getAddress(), 12, 16));
    } catch (UnknownHostException e) {
      throw new AssertionError("four bytes are an address", e);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof EgressRules that
        && allow.equals(that.allow)
        && deny.equals(that.deny)
        && ports.equals(that.ports);
  }

  @Override
  public int hashCode() {
    return Objects.hash(allow, deny, ports);
  }
}
