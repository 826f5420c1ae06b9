package dev.holdfast.engine.egress;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Addresses that are not for everybody's servers, and what they are instead.
 *
 * <p>They are those of IANA's registries of special-purpose addresses, those that registry pages
 * call reserved, and metadata services that clouds have put on public addresses. Of IPv6 only
 * 2000::/3 is given out as global unicast; so all else is special.
 *
 * @param what what an address in it is, to follow "is"
 */
record SpecialRange(Cidr range, String what) {

  private static final String UNSPECIFIED = "an address that stands for no machine";
  private static final String LOOPBACK = "a loopback address";
  private static final String PRIVATE = "a private address";
  private static final String LINK_LOCAL = "a link-local address";
  private static final String METADATA = "the address of a metadata service";
  private static final String PROTOCOL = "an address for protocols";
  private static final String DOCUMENTATION = "an address for documentation";
  private static final String BENCHMARK = "an address for benchmarks";
  private static final String MULTICAST = "a multicast address";
  private static final String RESERVED = "a reserved address";
  private static final String V4_INSIDE = "an IPv6 address that stands for an IPv4 address";

  /** The first one that an address is in says what it is. */
  private static final List<SpecialRange> ALL =
      Stream.of(
              of("168.63.129.16/32", METADATA), // Azure
              of("169.254.169.254/32", METADATA), // most clouds
              of("169.254.170.2/32", METADATA), // containers at AWS
              of("100.100.100.200/32", METADATA), // Alibaba
              of("192.0.0.192/32", METADATA), // Oracle
              of("0.0.0.0/8", UNSPECIFIED),
              of("10.0.0.0/8", PRIVATE),
              of("100.64.0.0/10", "an address inside a carrier's network"),
              of("127.0.0.0/8", LOOPBACK),
              of("169.254.0.0/16", LINK_LOCAL),
              of("172.16.0.0/12", PRIVATE),
              of("192.0.0.0/24", PROTOCOL),
              of("192.0.2.0/24", DOCUMENTATION),
              of("192.31.196.0/24", PROTOCOL), // AS112
              of("192.52.193.0/24", PROTOCOL), // multicast tunnels
              of("192.88.99.0/24", PROTOCOL), // 6to4 relays
              of("192.168.0.0/16", PRIVATE),
              of("192.175.48.0/24", PROTOCOL), // AS112
              of("198.18.0.0/15", BENCHMARK),
              of("198.51.100.0/24", DOCUMENTATION),
              of("203.0.113.0/24", DOCUMENTATION),
              of("224.0.0.0/4", MULTICAST),
              of("255.255.255.255/32", "the broadcast address"),
              of("240.0.0.0/4", RESERVED),
              of("::/128", UNSPECIFIED),
              of("::1/128", LOOPBACK),
              of("::/96", V4_INSIDE), // compatible
              of("::ffff:0:0:0/96", V4_INSIDE), // translated
              of("64:ff9b::/96", V4_INSIDE), // NAT64
              of("64:ff9b:1::/48", V4_INSIDE), // NAT64 of one's own
              of("100::/64", "an address that throws away what it is sent"),
              of("::/3", RESERVED),
              of("2001::/32", V4_INSIDE), // Teredo
              of("2001:2::/48", BENCHMARK),
              of("2001:10::/28", PROTOCOL), // hash identifiers
              of("2001:20::/28", PROTOCOL), // hash identifiers
              of("2001::/23", PROTOCOL),
              of("2001:db8::/32", DOCUMENTATION),
              of("2002::/16", V4_INSIDE), // 6to4
              of("2620:4f:8000::/48", PROTOCOL), // AS112
              of("3fff::/20", DOCUMENTATION),
              of("4000::/2", RESERVED),
              of("fd00:ec2::254/128", METADATA), // AWS
              of("fd20:ce::254/128", METADATA), // Google
              of("fc00::/7", PRIVATE),
              of("fe80::/10", LINK_LOCAL),
              of("fec0::/10", PRIVATE), // site-local
              of("ff00::/8", MULTICAST),
              of("8000::/1", RESERVED))
          .toList();

  private static SpecialRange of(String range, String what) {
    return new SpecialRange(Cidr.parse(range), what);
  }

  /** What an address is, to follow "is"; nothing if it is like any other. */
  static @Nullable String what(byte[] address) {
    for (SpecialRange special : ALL) {
      if (special.range.contains(address)) {
        return special.what;
      }
    }
    return null;
  }
}
