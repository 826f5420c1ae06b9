package dev.holdfast.core.filter;

/**
 * Looks for a text in another, in time that grows with the two and never with their product.
 *
 * <p>{@link String#contains} is faster for nearly all texts, and takes minutes for some that
 * somebody could send on purpose.
 */
final class Search {

  /** Up to here looking at every place anew costs little, whatever the texts. */
  private static final int SHORT = 16;

  private Search() {}

  static boolean isIn(String text, String wanted) {
    if (wanted.length() <= SHORT || text.length() <= SHORT * SHORT) {
      return text.contains(wanted);
    }
    return isInLong(text, wanted);
  }

  /** As Knuth, Morris and Pratt do it. */
  private static boolean isInLong(String text, String wanted) {
    if (wanted.length() > text.length()) {
      return false;
    }
    int[] fallbacks = fallbacks(wanted);
    int matched = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      while (matched > 0 && c != wanted.charAt(matched)) {
        matched = fallbacks[matched - 1];
      }
      if (c == wanted.charAt(matched)) {
        matched++;
      }
      if (matched == wanted.length()) {
        return true;
      }
    }
    return false;
  }

  /** For each beginning of the text, how much of its end is a beginning too. */
  private static int[] fallbacks(String wanted) {
    int[] fallbacks = new int[wanted.length()];
    int matched = 0;
    for (int i = 1; i < wanted.length(); i++) {
      while (matched > 0 && wanted.charAt(i) != wanted.charAt(matched)) {
        matched = fallbacks[matched - 1];
      }
      if (wanted.charAt(i) == wanted.charAt(matched)) {
        matched++;
      }
      fallbacks[i] = matched;
    }
    return fallbacks;
  }
}
