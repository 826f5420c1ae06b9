package dev.holdfast.server.cli;

import org.jspecify.annotations.Nullable;

/**
 * A text that is not a value of its {@link Kind}. Never holds the text itself: it may be secret.
 */
final class BadValue extends Exception {
  private final @Nullable String suggestion;

  BadValue(String what) {
    this(what, null);
  }

  BadValue(String what, @Nullable String suggestion) {
    super(what, null, false, false);
    this.suggestion = suggestion;
  }

  /** What is wrong, to follow the value: "is not a duration". */
  String what() {
    return String.valueOf(getMessage());
  }

  @Nullable String suggestion() {
    return suggestion;
  }
}
