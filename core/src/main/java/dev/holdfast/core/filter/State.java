package dev.holdfast.core.filter;

/** Which of an event's two states a filter looks at. */
public enum State {
  /** The event's {@code data}. */
  NEW("newState"),
  /** The event's {@code previous}. */
  OLD("oldState");

  private final String word;

  State(String word) {
    this.word = word;
  }

  /** The word for it in JSON. */
  public String word() {
    return word;
  }
}
