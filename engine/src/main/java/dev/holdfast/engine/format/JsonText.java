package dev.holdfast.engine.format;

/**
 * A text as a JSON string in UTF-8, written into an array that has room for it.
 *
 * <p>Half of a surrogate pair is not a character and has no UTF-8 form. It is written as an escape,
 * so that the receiver reads what the sender wrote.
 */
final class JsonText {
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private JsonText() {}

  /** The bytes that {@link #write} writes, quotes included. */
  static int length(String text) {
    int length = 2;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        length += c == '"' || c == '\\' ? 2 : c < 0x20 ? escapeLength(c) : 1;
      } else if (c < 0x800) {
        length += 2;
      } else if (!Character.isSurrogate(c)) {
        length += 3;
      } else if (isPair(text, i)) {
        length += 4;
        i++;
      } else {
        length += 6;
      }
    }
    return length;
  }

  /** Writes the text in quotes and returns the index after it. */
  static int write(String text, byte[] into, int at) {
    into[at++] = '"';
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        if (c >= 0x20 && c != '"' && c != '\\') {
          into[at++] = (byte) c;
        } else {
          at = escape(c, into, at);
        }
      } else if (c < 0x800) {
        into[at++] = (byte) (0xc0 | (c >> 6));
        into[at++] = continuation(c);
      } else if (!Character.isSurrogate(c)) {
        into[at++] = (byte) (0xe0 | (c >> 12));
        into[at++] = continuation(c >> 6);
        into[at++] = continuation(c);
      } else if (isPair(text, i)) {
        int point = Character.toCodePoint(c, text.charAt(++i));
        into[at++] = (byte) (0xf0 | (point >> 18));
        into[at++] = continuation(point >> 12);
        into[at++] = continuation(point >> 6);
        into[at++] = continuation(point);
      } else {
        at = unicodeEscape(c, into, at);
      }
    }
    into[at++] = '"';
    return at;
  }

  private static byte continuation(int bits) {
    return (byte) (0x80 | (bits & 0x3f));
  }

  private static boolean isPair(String text, int i) {
    return i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
  }

  private static int escapeLength(char control) {
    return shortEscape(control) == 0 ? 6 : 2;
  }

  private static int escape(char c, byte[] into, int at) {
    byte escape = c == '"' || c == '\\' ? (byte) c : shortEscape(c);
    if (escape == 0) {
      return unicodeEscape(c, into, at);
    }
    into[at++] = '\\';
    into[at++] = escape;
    return at;
  }

  private static byte shortEscape(char control) {
    return switch (control) {
      case '\b' -> 'b';
      case '\t' -> 't';
      case '\n' -> 'n';
      case '\f' -> 'f';
      case '\r' -> 'r';
      default -> 0;
    };
  }

  private static int unicodeEscape(char c, byte[] into, int at) {
    into[at++] = '\\';
    into[at++] = 'u';
    into[at++] = HEX[c >> 12];
    into[at++] = HEX[c >> 8 & 0xf];
    into[at++] = HEX[c >> 4 & 0xf];
    into[at++] = HEX[c & 0xf];
    return at;
  }
}
