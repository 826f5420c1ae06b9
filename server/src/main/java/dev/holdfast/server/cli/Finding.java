package dev.holdfast.server.cli;

import org.jspecify.annotations.Nullable;

/**
 * What {@link Doctor} found out about one thing.
 *
 * @param check what was looked at
 * @param remedy what to do; absent when there is nothing to do
 */
record Finding(String check, Level level, String what, @Nullable String remedy) {

  /** How bad it is. */
  enum Level {
    OK("ok"),
    /** It could not be found out, which is not bad in itself. */
    UNCHECKED("not checked"),
    WARNING("warning"),
    PROBLEM("problem");

    final String word;

    Level(String word) {
      this.word = word;
    }
  }

  static Finding ok(String check, String what) {
    return new Finding(check, Level.OK, what, null);
  }

  static Finding unchecked(String check, String what) {
    return new Finding(check, Level.UNCHECKED, what, null);
  }

  static Finding warning(String check, String what, String remedy) {
    return new Finding(check, Level.WARNING, what, remedy);
  }

  static Finding problem(String check, String what, String remedy) {
    return new Finding(check, Level.PROBLEM, what, remedy);
  }
}
