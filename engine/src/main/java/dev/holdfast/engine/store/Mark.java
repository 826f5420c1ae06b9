package dev.holdfast.engine.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many transactions were committed, noted outside the store: in the lock file, after each.
 *
 * <p>SQLite takes a log whose end is cut off or damaged for one that simply ends there, and goes on
 * without what was behind it. The mark shows that something was there. It is not forced to disk, so
 * after a power failure it may be behind the store, but never ahead of it.
 */
final class Mark {
  private static final Logger LOG = LoggerFactory.getLogger(Mark.class);
  private static final int BYTES = 2 * Long.BYTES;

  private final RandomAccessFile file;
  private final ByteBuffer buffer = ByteBuffer.allocate(BYTES);
  private boolean failed;

  /**
   * Notes into a file, which the caller closes. It is no channel, since an interrupt would close
   * that, and with it the lock.
   */
  Mark(RandomAccessFile file) {
    this.file = file;
  }

  /** What was noted last; absent when nothing was, or when that cannot be read. */
  OptionalLong commits() throws IOException {
    if (file.length() == 0) {
      return OptionalLong.empty();
    }
    byte[] bytes = new byte[BYTES];
    file.seek(0);
    int read = file.read(bytes);
    ByteBuffer noted = ByteBuffer.wrap(bytes);
    if (read < BYTES || noted.getLong(Long.BYTES) != sum(noted.getLong(0))) {
      LOG.warn(
          "store.mark-unreadable next=\"whether the newest transactions are there is not checked\"");
      return OptionalLong.empty();
    }
    return OptionalLong.of(noted.getLong(0));
  }

  void note(long commits) {
    buffer.clear().putLong(commits).putLong(sum(commits));
    try {
      file.seek(0);
      file.write(buffer.array());
    } catch (IOException e) {
      if (!failed) {
        failed = true;
        LOG.warn("store.mark-failed next=\"a log that is cut off would not be noticed\"", e);
      }
    }
  }

  private static long sum(long commits) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(Long.BYTES).putLong(commits).flip());
    return crc.getValue();
  }
}
