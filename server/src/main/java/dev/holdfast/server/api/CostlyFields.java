package dev.holdfast.server.api;

import java.nio.charset.StandardCharsets;

/**
 * Tells bodies that may bring what takes a while to check or to make: certificates, and pairs of
 * keys. They are not read on the event loop, which has others to serve.
 *
 * <p>It looks at bytes and not at fields, so it may take another body for such a one, but never the
 * other way round: a body whose words could be written in another way counts as well.
 */
final class CostlyFields {
  private static final byte[][] SIGNS = {
    ascii(TlsFields.FIELD), ascii("v1a"), ascii("whsk_"), ascii("\\u")
  };

  private CostlyFields() {}

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  static boolean mayBeIn(byte[] body) {
    for (int i = 0; i < body.length; i++) {
      for (byte[] sign : SIGNS) {
        if (body[i] == sign[0] && isAt(body, i, sign)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isAt(byte[] body, int start, byte[] sign) {
    if (body.length - start < sign.length) {
      return false;
    }
    for (int i = 1; i < sign.length; i++) {
      if (body[start + i] != sign[i]) {
        return false;
      }
    }
    return true;
  }
}
