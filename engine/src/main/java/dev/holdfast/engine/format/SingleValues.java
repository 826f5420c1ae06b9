package dev.holdfast.engine.format;

import static dev.holdfast.engine.format.Body.ascii;

import java.util.Arrays;

/**
 * A state as version 1 of the format {@code workfront} has it: an array with one simple value is
 * that value.
 *
 * <p>That is so for fields of the state itself and for those of its object {@code parameterValues};
 * what is deeper stays as it is. Everything else keeps its bytes: order, digits and blanks.
 *
 * <p>This is done on the event loop for each attempt, with states of up to a megabyte. So the bytes
 * are read once, from the first to the last, and no tree is made of them. They were found to be
 * JSON when they were accepted, and are not checked again: what turns out not to be JSON is left as
 * it is.
 */
final class SingleValues {
  private static final byte[] PARAMETER_VALUES = ascii("parameterValues");

  /** What stands after the end; in JSON it stands nowhere. */
  private static final byte NOTHING = 0;

  private static final byte[] NO_BYTES = {};

  private final byte[] state;
  private int at;

  /** What was read up to {@link #copied}, without the brackets; empty until the first are found. */
  private byte[] without = NO_BYTES;

  private int length;
  private int copied;

  private SingleValues(byte[] state) {
    this.state = state;
  }

  /** The same array when nothing is to be changed. */
  static byte[] bare(byte[] state) {
    return new SingleValues(state).bare();
  }

  private byte[] bare() {
    skipBlanks();
    boolean isRead = here() == '{' && readFields(true);
    if (!isRead || copied == 0) {
      return state;
    }
    copy(copied, state.length);
    return Arrays.copyOf(without, length);
  }

  /**
   * Reads an object from its opening brace to after the closing one.
   *
   * @param isState whether it is the state, and not one of its fields
   * @return whether all of it was there
   */
  private boolean readFields(boolean isState) {
    at++;
    skipBlanks();
    if (here() == '}') {
      at++;
      return true;
    }
    while (here() == '"') {
      int name = at;
      skipString();
      int nameEnd = at;
      skipBlanks();
      if (here() != ':') {
        return false;
      }
      at++;
      skipBlanks();
      if (here() == '[') {
        readArray();
      } else if (isState && here() == '{' && isParameterValues(name + 1, nameEnd - 1)) {
        if (!readFields(false)) {
          return false;
        }
      } else {
        skipValue();
      }
      skipBlanks();
      if (here() != ',') {
        break;
      }
      at++;
      skipBlanks();
    }
    if (here() != '}') {
      return false;
    }
    at++;
    return true;
  }

  /** Reads an array, and leaves its brackets out if there is one simple value between them. */
  private void readArray() {
    int start = at;
    at++;
    skipBlanks();
    int value = at;
    switch (here()) {
      case '[', '{', ']' -> {
        at = start;
        skipValue();
      }
      default -> {
        skipValue();
        int valueEnd = at;
        skipBlanks();
        if (here() == ']') {
          copy(copied, start);
          copy(value, valueEnd);
          at++;
          copied = at;
        } else {
          skipNested(1);
        }
      }
    }
  }

  private void copy(int from, int to) {
    if (without.length == 0) {
      without = new byte[state.length];
    }
    System.arraycopy(state, from, without, length, to - from);
    length += to - from;
  }

  private void skipValue() {
    switch (here()) {
      case '"' -> skipString();
      case '[', '{' -> skipNested(0);
      default -> skipWord();
    }
  }

  /** To after the bracket or brace with which the outermost ends. */
  private void skipNested(int open) {
    int depth = open;
    while (at < state.length) {
      switch (state[at]) {
        case '"' -> skipString();
        case '[', '{' -> {
          depth++;
          at++;
        }
        case ']', '}' -> {
          depth--;
          at++;
          if (depth == 0) {
            return;
          }
        }
        default -> at++;
      }
    }
  }

  /** To after its closing quote. */
  private void skipString() {
    at++;
    while (at < state.length) {
      byte b = state[at++];
      if (b == '"') {
        return;
      }
      if (b == '\\') {
        at++;
      }
    }
  }

  /** To after a number, true, false or null. */
  private void skipWord() {
    while (at < state.length && !endsWord(state[at])) {
      at++;
    }
  }

  private static boolean endsWord(byte b) {
    return isBlank(b) || b == ',' || b == ']' || b == '}';
  }

  private void skipBlanks() {
    while (at < state.length && isBlank(state[at])) {
      at++;
    }
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  private byte here() {
    return at < state.length ? state[at] : NOTHING;
  }

  /** Whether a name is that, some of its letters perhaps written as escapes. */
  private boolean isParameterValues(int from, int to) {
    int next = from;
    for (byte letter : PARAMETER_VALUES) {
      if (next >= to) {
        return false;
      }
      if (state[next] == letter) {
        next++;
      } else if (isEscapeOf(letter, next, to)) {
        next += 6;
      } else {
        return false;
      }
    }
    return next == to;
  }

  private boolean isEscapeOf(byte letter, int from, int to) {
    if (to - from < 6 || state[from] != '\\' || state[from + 1] != 'u') {
      return false;
    }
    int value = 0;
    for (int i = from + 2; i < from + 6; i++) {
      int digit = Character.digit(state[i] & 0xff, 16);
      if (digit < 0) {
        return false;
      }
      value = value << 4 | digit;
    }
    return value == letter;
  }
}
