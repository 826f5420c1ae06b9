package dev.holdfast.core.model;

/** A type such as {@code order.paid}, or a pattern in which {@code *} stands for any text. */
public record TypePattern(String text) {

  public TypePattern {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("a type pattern cannot be empty");
    }
  }

  public boolean isExact() {
    return text.indexOf('*') < 0;
  }

  /** Whether all types that it stands for tell of something new, which has no previous state. */
  public boolean isOfCreations() {
    return text.endsWith(".CREATE");
  }

  /** Whether it stands for a type; an operational one has to be named by more than a {@code *}. */
  public boolean matches(String type) {
    return fits(type) && (!Operational.TYPES.contains(type) || Operational.isNamedBy(text, type));
  }

  /** Compares in one pass that only ever goes back to the last {@code *}. */
  private boolean fits(String type) {
    int inType = 0;
    int inPattern = 0;
    int star = -1;
    int resume = 0;
    while (inType < type.length()) {
      if (inPattern < text.length() && text.charAt(inPattern) == '*') {
        star = inPattern++;
        resume = inType;
      } else if (inPattern < text.length() && text.charAt(inPattern) == type.charAt(inType)) {
        inPattern++;
        inType++;
      } else if (star >= 0) {
        inPattern = star + 1;
        inType = ++resume;
      } else {
        return false;
      }
    }
    while (inPattern < text.length() && text.charAt(inPattern) == '*') {
      inPattern++;
    }
    return inPattern == text.length();
  }
}
