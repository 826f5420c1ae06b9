package dev.holdfast.engine.egress;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Reads addresses in their usual form: four decimal numbers, or IPv6 without a zone. */
public final class IpLiteral {
  private IpLiteral() {}

  /** The address, or nothing when the text is not one. Nothing is looked up. */
  public static @Nullable InetAddress parse(String text) {
    boolean v6 = text.indexOf(':') >= 0 && text.indexOf('%') < 0 && text.indexOf('[') < 0;
    if (!v6 && !NetUtil.isValidIpV4Address(text)) {
      return null;
    }
    try {
      return InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
