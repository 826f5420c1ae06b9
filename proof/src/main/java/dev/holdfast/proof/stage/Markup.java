package dev.holdfast.proof.stage;

import java.util.Locale;

/** Text on its way into a page. */
final class Markup {
  private Markup() {}

  /** Text as it is to be read, both between tags and within the quotes of an attribute. */
  static String escape(String text) {
    StringBuilder safe = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      switch (letter) {
        case '&' -> safe.append("&amp;");
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '"' -> safe.append("&quot;");
        case '\'' -> safe.append("&#39;");
        default -> safe.append(isControl(letter) ? '\ufffd' : letter);
      }
    }
    return safe.toString();
  }

  private static boolean isControl(char letter) {
    return Character.isISOControl(letter) && letter != '\n' && letter != '\t';
  }

  /** A coordinate. */
  static String at(double position) {
    return String.format(Locale.ROOT, "%.1f", position);
  }
}
