package dev.holdfast.engine.egress;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * IPv4 addresses inside IPv6 ones. What is sent to such an address ends, by a tunnel or a
 * translator, at the one inside; so that one has to be permitted too.
 */
final class Embedded {
  private static final Cidr COMPATIBLE = Cidr.parse("::/96");
  private static final Cidr TRANSLATED = Cidr.parse("::ffff:0:0:0/96");
  private static final Cidr NAT64 = Cidr.parse("64:ff9b::/96");
  private static final Cidr LOCAL_NAT64 = Cidr.parse("64:ff9b:1::/48");
  private static final Cidr SIX_TO_FOUR = Cidr.parse("2002::/16");
  private static final Cidr TEREDO = Cidr.parse("2001::/32");

  private static final Cidr NOBODY = Cidr.parse("::/128");
  private static final Cidr LOOPBACK = Cidr.parse("::1/128");

  private Embedded() {}

  /**
   * The addresses inside of one; none when it is of no such form, or when its form alone does not
   * tell (see {@link #behindLocalNat64}).
   */
  static List<byte[]> in(byte[] address) {
    // most addresses are told from all of the forms by their first bytes
    if (address.length != 16 || (address[0] != 0 && address[0] != 0x20)) {
      return List.of();
    }
    if (COMPATIBLE.contains(address)) {
      return NOBODY.contains(address) || LOOPBACK.contains(address)
          ? List.of()
          : List.of(bytes(address, 12));
    }
    if (isMapped(address) || TRANSLATED.contains(address) || NAT64.contains(address)) {
      return List.of(bytes(address, 12));
    }
    if (SIX_TO_FOUR.contains(address)) {
      return List.of(bytes(address, 2));
    }
    if (TEREDO.contains(address)) {
      byte[] client = bytes(address, 12);
      for (int i = 0; i < client.length; i++) {
        client[i] = (byte) ~client[i];
      }
      return List.of(bytes(address, 4), client);
    }
    return List.of();
  }

  /** Java makes an IPv4 address of such a one wherever it can; so no range can be read of them. */
  private static boolean isMapped(byte[] address) {
    for (int i = 0; i < 10; i++) {
      if (address[i] != 0) {
        return false;
      }
    }
    return address[10] == -1 && address[11] == -1;
  }

  private static byte[] bytes(byte[] address, int from) {
    return Arrays.copyOfRange(address, from, from + 4);
  }

  static boolean isBehindLocalNat64(byte[] address) {
    return address.length == 16 && LOCAL_NAT64.contains(address);
  }

  /**
   * The address that a translator with a prefix of this length makes of one (RFC 6052, section 2.2;
   * byte 8 is not used). Nothing when no translator has such a prefix.
   */
  static byte @Nullable [] behindLocalNat64(byte[] a, int prefix) {
    return switch (prefix) {
      case 48 -> new byte[] {a[6], a[7], a[9], a[10]};
      case 56 -> new byte[] {a[7], a[9], a[10], a[11]};
      case 64 -> new byte[] {a[9], a[10], a[11], a[12]};
      case 96 -> bytes(a, 12);
      default -> null;
    };
  }
}
