package dev.holdfast.engine.egress;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A range of addresses such as {@code 10.0.0.0/8} or {@code fd00::/8}. */
public final class Cidr {
  private final byte[] network;
  private final int prefix;

  private Cidr(byte[] network, int prefix) {
    this.network = network;
    this.prefix = prefix;
  }

  /** A text that is not a range. */
  public static final class Malformed extends IllegalArgumentException {
    private final String what;
    private final @Nullable String meant;

    private Malformed(String text, String what, @Nullable String meant) {
      super("'" + text + "' " + what);
      this.what = what;
      this.meant = meant;
    }

    /** What is wrong, to follow the text. */
    public String what() {
      return what;
    }

    /** The range that was probably meant. */
    public @Nullable String meant() {
      return meant;
    }
  }

  /** Reads a range; an address without a prefix length stands for itself. */
  public static Cidr parse(String text) throws Malformed {
    int slash = text.indexOf('/');
    InetAddress address = IpLiteral.parse(slash < 0 ? text : text.substring(0, slash));
    if (address == null) {
      throw new Malformed(text, "is not an address range", null);
    }
    byte[] bytes = address.getAddress();
    int bits = bytes.length * 8;
    if (slash < 0) {
      return new Cidr(bytes, bits);
    }
    String length = text.substring(slash + 1);
    if (!length.matches("[0-9]{1,3}") || Integer.parseInt(length) > bits) {
      throw new Malformed(text, "has a prefix length that is not 0 to " + bits, null);
    }
    int prefix = Integer.parseInt(length);
    byte[] network = cut(bytes, prefix);
    if (!Arrays.equals(network, bytes)) {
      throw new Malformed(
          text,
          "has an address with bits beyond its prefix length",
          address(network).getHostAddress() + "/" + length);
    }
    return new Cidr(network, prefix);
  }

  private static byte[] cut(byte[] address, int prefix) {
    byte[] network = new byte[address.length];
    for (int bit = 0; bit < prefix; bit++) {
      network[bit / 8] |= (byte) (address[bit / 8] & 0x80 >> bit % 8);
    }
    return network;
  }

  /** The address that has these bytes; nothing becomes another kind of address on the way. */
  static InetAddress address(byte[] bytes) {
    try {
      return bytes.length == 16
          ? Inet6Address.getByAddress(null, bytes, -1)
          : InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("as many bytes as an address has", e);
    }
  }

  int prefix() {
    return prefix;
  }

  boolean contains(byte[] address) {
    if (address.length != network.length) {
      return false;
    }
    int whole = prefix / 8;
    if (!Arrays.equals(address, 0, whole, network, 0, whole)) {
      return false;
    }
    int rest = prefix % 8;
    return rest == 0 || ((address[whole] ^ network[whole]) & 0xff00 >> rest & 0xff) == 0;
  }

  static boolean isIn(Iterable<Cidr> ranges, byte[] address) {
    for (Cidr range : ranges) {
      if (range.contains(address)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cidr that
        && prefix == that.prefix
        && Arrays.equals(network, that.network);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(network) + prefix;
  }
}
