package dev.holdfast.engine.egress;

import java.net.InetAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A range of addresses such as {@code 10.0.0.0/8} or {@code fd00::/8}. */
final class Cidr {
  private final byte[] network;
  private final int prefix;

  private Cidr(byte[] network, int prefix) {
    this.network = network;
    this.prefix = prefix;
  }

  /**
   * Reads a range; an address without a prefix length stands for itself.
   *
   * @throws IllegalArgumentException with a sentence that says what is wrong
   */
  static Cidr parse(String text) {
    int slash = text.indexOf('/');
    InetAddress address = IpLiteral.parse(slash < 0 ? text : text.substring(0, slash));
    if (address == null) {
      throw new IllegalArgumentException(
          "'" + text + "' is not an address range; write it like 10.0.0.0/8 or fd00::/8");
    }
    byte[] network = address.getAddress();
    int bits = network.length * 8;
    int prefix = bits;
    if (slash >= 0) {
      String length = text.substring(slash + 1);
      if (!length.matches("[0-9]{1,3}") || Integer.parseInt(length) > bits) {
        throw new IllegalArgumentException(
            "'" + text + "' needs a prefix length from 0 to " + bits + " after the slash");
      }
      prefix = Integer.parseInt(length);
    }
    for (int bit = prefix; bit < bits; bit++) {
      if ((network[bit / 8] & 0x80 >> bit % 8) != 0) {
        throw new IllegalArgumentException(
            "'" + text + "' names one address inside a range; clear the bits after the prefix");
      }
    }
    return new Cidr(network, prefix);
  }

  boolean contains(InetAddress address) {
    return contains(address.getAddress());
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
