package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks whether each unfinished message is found by the indexes that work is found by, while the
 * store is in use: what {@link Inspection} leaves out when there are so many that a start would
 * take long.
 *
 * <p>It goes through the messages by id, some at a time, in reads that are short enough to keep
 * nobody from emptying the log. Damage ends the process, as it does when a message meets it.
 */
final class LateInspection implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LateInspection.class);

  /** Messages that are looked at in one read. */
  private static final int MESSAGES = 1_000;

  /** How much longer than a read the pause after it is: it takes a tenth of a processor. */
  private static final int PAUSES_PER_READ = 9;

  private static final String NEXT =
      "SELECT o.id, o.endpoint, o.status, o.attempts, o.due FROM open o NOT INDEXED"
          + " WHERE o.id > ?1 ORDER BY o.id LIMIT ?2";

  /** How many of the next there are, how many of them each index has, and the last of them. */
  private static final String FOUND =
      "SELECT count(*), max(o.id),"
          + " coalesce(sum(EXISTS (SELECT 1 FROM open i INDEXED BY open_by_endpoint"
          + " WHERE i.endpoint = o.endpoint AND i.status = o.status AND i.attempts = o.attempts"
          + " AND i.id = o.id)), 0),"
          + " coalesce(sum(o.due IS NULL OR EXISTS (SELECT 1 FROM open i INDEXED BY open_by_due"
          + " WHERE i.due = o.due AND i.due IS NOT NULL AND i.id = o.id)), 0)"
          + " FROM ("
          + NEXT
          + ") o";

  private final Reader reader;
  private final Writer writer;
  private final Thread thread;
  private final CountDownLatch closing = new CountDownLatch(1);

  LateInspection(Reader reader, Writer writer) {
    this.reader = reader;
    this.writer = writer;
    this.thread = Thread.ofPlatform().name("holdfast-inspection").daemon().unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  private void run() {
    long after = 0;
    long looked = 0;
    long readNanos = 0;
    try {
      while (!closing.await(PAUSES_PER_READ * readNanos, TimeUnit.NANOSECONDS)) {
        long began = System.nanoTime();
        Progress progress = look(reader, after);
        readNanos = System.nanoTime() - began;
        if (progress.messages() == 0) {
          LOG.info("store.inspected messages={}", looked);
          return;
        }
        after = progress.last();
        looked += progress.messages();
      }
    } catch (StoreException e) {
      if (closing.getCount() > 0) {
        failed(e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How many messages were looked at, and the last of them. */
  record Progress(int messages, long last) {}

  /** Looks at the next messages. */
  static Progress look(Reader reader, long after) throws StoreException {
    return reader.read(
        "inspecting unfinished messages",
        connection -> {
          PreparedStatement found = connection.prepare(FOUND);
          found.setLong(1, after);
          found.setInt(2, MESSAGES);
          try (ResultSet row = found.executeQuery()) {
            return row.next() ? progress(row) : new Progress(0, after);
          }
        });
  }

  private static Progress progress(ResultSet row) throws SQLException {
    int messages = row.getInt(1);
    if (row.getInt(3) != messages || row.getInt(4) != messages) {
      throw Inspection.disagreement();
    }
    return new Progress(messages, row.getLong(2));
  }

  private void failed(StoreException failure) {
    if (failure.kind() == StoreException.Kind.BROKEN) {
      LOG.error(
          "store.inspection-failed next=\"nothing is written any more: the process ends\"",
          failure);
      writer.breakDown(failure);
    } else {
      LOG.warn(
          "store.inspection-ended next=\"the rest is not looked at before the next start\"",
          failure);
    }
  }

  @Override
  public void close() {
    closing.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
