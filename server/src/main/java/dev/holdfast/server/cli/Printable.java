package dev.holdfast.server.cli;

/** Makes text from outside fit for a terminal. */
final class Printable {

  private Printable() {}

  /** Without control characters, which could rewrite what else is on the screen. */
  static String text(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Cs}]", "?");
  }

  /** The same, cut to {@code most} characters. */
  static String text(String text, int most) {
    return text.length() <= most ? text(text) : text(text.substring(0, most - 1)) + "…";
  }
}
