package dev.holdfast.engine.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;

/** Which pages of the file a log has: those need not be in the file itself. */
final class LogPages {
  private static final int HEADER_BYTES = 32;
  private static final int FRAME_HEADER_BYTES = 24;
  private static final int HEADER_SALT_OFFSET = 16;
  private static final int FRAME_SALT_OFFSET = 8;

  private LogPages() {}

  /** Reads the numbers of all pages, up to the first frame that is left over from earlier. */
  static BitSet in(Path log) throws IOException {
    BitSet pages = new BitSet();
    try (FileChannel channel = FileChannel.open(log, StandardOpenOption.READ)) {
      ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
      if (channel.read(header, 0) < HEADER_BYTES) {
        return pages;
      }
      long salt = header.getLong(HEADER_SALT_OFFSET);
      ByteBuffer frame = ByteBuffer.allocate(FRAME_HEADER_BYTES);
      for (long at = HEADER_BYTES;
          channel.read(frame.clear(), at) == FRAME_HEADER_BYTES
              && frame.getLong(FRAME_SALT_OFFSET) == salt;
          at += FRAME_HEADER_BYTES + Sqlite.PAGE_BYTES) {
        pages.set(frame.getInt(0));
      }
    }
    return pages;
  }
}
