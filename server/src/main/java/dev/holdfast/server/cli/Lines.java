package dev.holdfast.server.cli;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The lines of a stream that are not blank, as their bytes, each with a bounded length. */
final class Lines implements AutoCloseable {
  static final int MOST_BYTES = 12 << 20;

  private final InputStream in;
  private final int skipped;
  private long number;
  private long bytes;

  /**
   * A line.
   *
   * @param number from 1
   */
  record Line(long number, byte[] text) {}

  /**
   * @param firstNumber lines before this one are read but left out
   */
  Lines(InputStream in, int firstNumber) {
    this.in = new BufferedInputStream(in, 1 << 16);
    this.skipped = firstNumber - 1;
  }

  /** The next line; absent at the end. */
  @Nullable Line next() throws IOException, CommandFailed {
    while (true) {
      ByteArrayOutputStream line = new ByteArrayOutputStream(512);
      int read = in.read();
      if (read < 0) {
        return null;
      }
      number++;
      while (read >= 0 && read != '\n') {
        bytes++;
        line.write(read);
        if (line.size() > MOST_BYTES) {
          throw new CommandFailed(
              "Line %,d is longer than any event may be. Put one event on each line."
                  .formatted(number));
        }
        read = in.read();
      }
      bytes++;
      byte[] text = line.toByteArray();
      if (number > skipped && !isBlank(text)) {
        return new Line(number, text);
      }
    }
  }

  private static boolean isBlank(byte[] text) {
    for (byte b : text) {
      if (b != ' ' && b != '\t' && b != '\r') {
        return false;
      }
    }
    return true;
  }

  /** How many bytes were read. */
  long bytes() {
    return bytes;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
