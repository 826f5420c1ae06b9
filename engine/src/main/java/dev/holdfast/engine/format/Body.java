package dev.holdfast.engine.format;

/**
 * The body of a request, in one piece or in several that follow one another. The arrays are not
 * copied and must not be changed.
 */
public record Body(byte[]... parts) {

  public int length() {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    return length;
  }
}
