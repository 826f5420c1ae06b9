package dev.holdfast.engine;

/** So many test messages are under way that another one has to wait. */
public final class TooManyTests extends Exception {
  private static final long serialVersionUID = 1L;

  TooManyTests() {
    super("too many test messages are under way");
  }
}
