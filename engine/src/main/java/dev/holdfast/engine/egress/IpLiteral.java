package dev.holdfast.engine.egress;

import java.net.InetAddress;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads addresses in their usual form: four decimal numbers, or IPv6 without a zone. */
public final class IpLiteral {

  /** A zero before other digits is no decimal number: others read it as octal. */
  private static final String NUMBER = "(0|[1-9][0-9]{0,2})";

  private static final Pattern V4 = Pattern.compile(NUMBER + "(\\." + NUMBER + "){3}");

  /** What of IPv6 Java is too kind about; the rest it checks itself. */
  private static final Pattern V6 =
      Pattern.compile("([0-9a-fA-F]{0,4}:)+([0-9a-fA-F]{0,4}|" + V4 + ")");

  /** As long as {@code 0000:0000:0000:0000:0000:ffff:255.255.255.255}. */
  private static final int MOST_CHARACTERS = 45;

  private IpLiteral() {}

  /** The address, or nothing when the text is not one. Nothing is looked up. */
  public static @Nullable InetAddress parse(String text) {
    if (text.length() > MOST_CHARACTERS) {
      return null;
    }
    Pattern shape = text.indexOf(':') >= 0 ? V6 : V4;
    if (!shape.matcher(text).matches()) {
      return null;
    }
    try {
      return InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
