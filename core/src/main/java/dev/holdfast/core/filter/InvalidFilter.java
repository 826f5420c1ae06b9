package dev.holdfast.core.filter;

/** A filter that cannot work, with where it stands and why. */
public final class InvalidFilter extends RuntimeException {
  private final String place;

  /**
   * @param place such as {@code filters[0].filters[1].fieldValue}
   * @param reason a sentence that says what to do
   */
  public InvalidFilter(String place, String reason) {
    super(reason, null, false, false);
    this.place = place;
  }

  public String place() {
    return place;
  }

  public String reason() {
    return String.valueOf(getMessage());
  }
}
