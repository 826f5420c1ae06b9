package dev.holdfast.engine.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which addresses may be reached: the public ones, and of the others those that {@code
 * egress.allow} names.
 *
 * <p>Anybody who may subscribe chooses where requests go. Without this guard a subscription could
 * reach what only this machine or its network should: metadata services, databases, admin pages.
 */
public final class AddressGuard {

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

  private final List<Cidr> allowed;

  private AddressGuard(List<Cidr> allowed) {
    this.allowed = allowed;
  }

  /**
   * A guard that allows these ranges besides the public addresses.
   *
   * @throws IllegalArgumentException with a sentence for each range that cannot be read
   */
  public static AddressGuard allowing(List<String> ranges) {
    List<Cidr> allowed = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (String range : ranges) {
      try {
        allowed.add(Cidr.parse(range.strip()));
      } catch (IllegalArgumentException e) {
        problems.add(e.getMessage());
      }
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
    return new AddressGuard(List.copyOf(allowed));
  }

  public boolean permits(InetAddress address) {
    if (isIn(allowed, address)) {
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
}
