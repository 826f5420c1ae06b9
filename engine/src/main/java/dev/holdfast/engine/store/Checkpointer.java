package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves what was committed from the log into the file, beside the writer, and keeps the log small.
 *
 * <p>SQLite begins the log anew only when all of it has been moved and nobody reads from it. While
 * the writer goes on writing, a checkpoint of another thread never catches up with it. So when the
 * log has grown long, the writer's own thread moves the little that is left between two commits.
 * Whoever reads for long keeps the log from being emptied as well, and is interrupted when the log
 * gets too long.
 */
final class Checkpointer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);

  /** How short a read must be to be let alone even then. */
  private static final long SHORT_READ_NANOS = 100_000_000;

  /** How often a full disk is logged. */
  private static final long COMPLAIN_EVERY_NANOS = 60_000_000_000L;

  private static final Progress UNKNOWN = new Progress(1, 0);

  private final Connection connection;
  private final Writer writer;
  private final List<Reader> longReaders;
  private final StoreLimits limits;
  private final Thread thread;

  /** Held during a checkpoint: SQLite lets only one run. */
  private final ReentrantLock turn = new ReentrantLock();

  private final CountDownLatch closing = new CountDownLatch(1);
  private volatile boolean finishWanted;
  private long complainedNanos = System.nanoTime() - COMPLAIN_EVERY_NANOS;

  Checkpointer(Connection connection, Writer writer, List<Reader> longReaders, StoreLimits limits) {
    this.connection = connection;
    this.writer = writer;
    this.longReaders = longReaders;
    this.limits = limits;
    this.thread = Thread.ofPlatform().name("holdfast-checkpoint").daemon().unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /**
   * What a checkpoint found.
   *
   * @param log pages in the log as the checkpoint began
   * @param moved of these, those that are in the file too
   */
  private record Progress(long log, long moved) {
    boolean isComplete() {
      return moved >= log;
    }

    boolean isLongerThan(long bytes) {
      return log * Sqlite.PAGE_BYTES > bytes;
    }
  }

  private void run() {
    try {
      checkpointUntilClosed();
    } catch (RuntimeException e) {
      // Without checkpoints the log would grow without limit.
      LOG.error(
          "store.checkpointer-ended next=\"nothing is written any more: the process ends\"", e);
      writer.breakDown(
          new StoreException(StoreException.Kind.BROKEN, "the checkpointer has ended", e));
    }
  }

  private void checkpointUntilClosed() {
    long seen = -1;
    Progress progress = UNKNOWN;
    while (pause()) {
      for (Reader reader : longReaders) {
        reader.interruptIfLongerThan(
            limits.historyRead().toNanos(),
            "it took longer than " + limits.historyRead().toMillis() + " ms");
      }
      long commits = writer.commits();
      if (commits != seen || !progress.isComplete()) {
        progress = checkpoint(commits);
        seen = commits;
      }
    }
  }

  private boolean pause() {
    try {
      return !closing.await(limits.checkpointEvery().toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  /**
   * Moves what there is. When the log is long and the writer has written meanwhile, moves that as
   * well, so that little is left for the writer to move.
   */
  private Progress checkpoint(long commits) {
    turn.lock();
    try {
      Progress progress = passive(connection);
      if (progress.isLongerThan(limits.longLogBytes()) && writer.commits() != commits) {
        progress = passive(connection);
        finishWanted = true;
      }
      if (progress.isLongerThan(limits.tooLongLogBytes())) {
        for (Reader reader : longReaders) {
          reader.interruptIfLongerThan(
              SHORT_READ_NANOS, "it kept the store from emptying its log, which got too long");
        }
      }
      return progress;
    } catch (SQLException e) {
      failed(e);
      return UNKNOWN;
    } finally {
      turn.unlock();
    }
  }

  /** Called by the writer's thread between two transactions. */
  void betweenCommits() {
    if (finishWanted && turn.tryLock()) {
      try {
        finishWanted = false;
        writer.between(Checkpointer::passive);
      } catch (SQLException e) {
        failed(e);
      } finally {
        turn.unlock();
      }
    }
  }

  private static Progress passive(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
      return row.next()
          ? new Progress(Math.max(0, row.getLong(2)), Math.max(0, row.getLong(3)))
          : new Progress(0, 0);
    }
  }

  private void failed(SQLException e) {
    StoreException failure = Sqlite.failure("moving the log into the file", e);
    if (failure.kind() == StoreException.Kind.BROKEN) {
      LOG.error(
          "store.checkpoint-failed next=\"nothing is written any more: the process ends\"",
          failure);
      writer.breakDown(failure);
    } else if (System.nanoTime() - complainedNanos >= COMPLAIN_EVERY_NANOS) {
      complainedNanos = System.nanoTime();
      LOG.warn("store.checkpoint-postponed next=\"tried again in a moment\"", failure);
    }
  }

  @Override
  public void close() throws SQLException {
    closing.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connection.close();
  }
}
