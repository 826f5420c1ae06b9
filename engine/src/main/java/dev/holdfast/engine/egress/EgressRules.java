package dev.holdfast.engine.egress;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which addresses may be reached.
 *
 * <p>What {@code egress.deny} names may not, whatever else is said of it. What {@code egress.allow}
 * names may. Of all others the public ones may, unless they are this machine's own. An address that
 * stands for an IPv4 address has to be allowed itself, and the one inside has to be permitted too:
 * so whoever allows the range of a translator does not open a private network by it.
 *
 * <p>Anybody who may subscribe chooses where requests go. Without this guard a subscription could
 * reach what only this machine or its network should: metadata services, databases, admin pages.
 */
public final class EgressRules {
  private static final String DENIED = "denied by egress.deny";
  private static final String OWN = "an address of this machine";
  private static final String INSIDE = "an IPv6 address that stands for ";

  /** Which of its bytes are the IPv4 address depends on the prefix that the translator has. */
  private static final String UNNAMED_TRANSLATOR =
      "an IPv6 address of a translator whose prefix egress.allow does not name";

  private final List<Cidr> allow;
  private final List<Cidr> deny;
  private final Ports ports;
  private final OwnAddresses.Known own;

  private EgressRules(List<Cidr> allow, List<Cidr> deny, Ports ports, OwnAddresses.Known own) {
    this.allow = allow;
    this.deny = deny;
    this.ports = ports;
    this.own = own;
  }

  /**
   * Rules that allow these ranges besides the public addresses, and deny others in any case.
   *
   * @throws IllegalArgumentException with a sentence for each range that cannot be read
   */
  public static EgressRules of(List<String> allow, List<String> deny, Ports ports) {
    List<String> problems = new ArrayList<>();
    EgressRules rules =
        new EgressRules(
            ranges(allow, problems), ranges(deny, problems), ports, OwnAddresses.ofThisMachine());
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
    return rules;
  }

  /** Rules that allow these ranges besides the public addresses, and every port. */
  public static EgressRules allowing(List<String> ranges) {
    return of(ranges, List.of(), Ports.ALL);
  }

  /** The same rules on a machine that has these addresses and no others. */
  public EgressRules onMachineWith(Set<InetAddress> addresses) {
    return new EgressRules(allow, deny, ports, addresses::contains);
  }

  private static List<Cidr> ranges(List<String> texts, List<String> problems) {
    List<Cidr> ranges = new ArrayList<>();
    for (String text : texts) {
      try {
        ranges.add(Cidr.parse(text.strip()));
      } catch (Cidr.Malformed e) {
        problems.add(String.valueOf(e.getMessage()));
      }
    }
    return List.copyOf(ranges);
  }

  /** The ports that may be connected to. */
  public Ports ports() {
    return ports;
  }

  public boolean permitsPort(int port) {
    return ports.contain(port);
  }

  /** Asked of every address before a connection to it is opened. */
  public boolean permits(InetAddress address) {
    return objection(address, address.getAddress()) == null;
  }

  /** Why an address may not be reached, to follow "is"; empty when it may. */
  public Optional<String> whyForbidden(InetAddress address) {
    return Optional.ofNullable(objection(address, address.getAddress()));
  }

  private @Nullable String objection(InetAddress address, byte[] bytes) {
    if (Cidr.isIn(deny, bytes)) {
      return DENIED;
    }
    if (Embedded.isBehindLocalNat64(bytes)) {
      byte[] inside = Embedded.behindLocalNat64(bytes, longestAllowed(bytes));
      return inside == null ? UNNAMED_TRANSLATOR : objectionInside(inside);
    }
    for (byte[] inside : Embedded.in(bytes)) {
      String objection = objectionInside(inside);
      if (objection != null) {
        return objection;
      }
    }
    if (Cidr.isIn(allow, bytes)) {
      return null;
    }
    String special = SpecialRange.what(bytes);
    if (special != null) {
      return special;
    }
    return own.contains(address) ? OWN : null;
  }

  private @Nullable String objectionInside(byte[] inside) {
    String objection = objection(Cidr.address(inside), inside);
    return objection == null || objection.equals(DENIED) ? objection : INSIDE + objection;
  }

  /** The length of the longest allowed prefix that an address has; 0 when it has none. */
  private int longestAllowed(byte[] address) {
    int longest = 0;
    for (Cidr range : allow) {
      if (range.contains(address)) {
        longest = Math.max(longest, range.prefix());
      }
    }
    return longest;
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
