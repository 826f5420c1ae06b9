package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Upkept.Left;
import dev.holdfast.engine.store.Upkept.Removed;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the store does for itself between two batches, a few milliseconds at a time: it indexes what
 * has finished, removes what was kept for long enough, and gives the room back.
 *
 * <p>Each step is a transaction of its own, so a crash leaves each either done or not done. Nothing
 * of this is needed for a delivery: when it meets damage, it ends, and deliveries go on.
 */
final class Upkeep {
  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);

  private final Connection connection;
  private final Writer writer;
  private final HistoryIndex index;
  private final Removal removal;
  private final Shrinking shrinking;
  private boolean ended;

  /** How much is done at a time. */
  record Limits(HistoryIndex.Limits index, Removal.Limits removal, Shrinking.Limits shrinking) {
    static final Limits DEFAULT =
        new Limits(HistoryIndex.Limits.DEFAULT, Removal.Limits.DEFAULT, Shrinking.Limits.DEFAULT);
  }

  Upkeep(Connection connection, Writer writer, HistoryIndex index, Limits limits)
      throws SQLException {
    this.connection = connection;
    this.writer = writer;
    this.index = index;
    this.removal = new Removal(connection, index, writer::removes, limits.removal());
    this.shrinking = new Shrinking(limits.shrinking());
  }

  Upkept step(Retention retention, Instant now) throws StoreException {
    if (ended) {
      return new Upkept(false, Removed.NOTHING);
    }
    try {
      boolean more = false;
      if (index.isBehind()) {
        index.advanced(writer.behind("indexing history", index::advance));
        more = index.isBehind();
      }
      Removed removed = Removed.NOTHING;
      if (removal.isDue(retention, now)) {
        removed = remove(retention, now);
        more |= removal.isDue(retention, now);
      }
      if (shrinking.isDue(connection)) {
        more |= writer.behind("giving room back", () -> shrinking.step(connection));
      }
      boolean isTooMuch = removal.isLate() || index.isFarBehind();
      return new Upkept(isTooMuch ? Left.TOO_MUCH : Left.of(more), removed);
    } catch (SQLException e) {
      return failed(Sqlite.failure("upkeep of the store", e));
    } catch (StoreException e) {
      return failed(e);
    }
  }

  private Removed remove(Retention retention, Instant now) throws StoreException, SQLException {
    boolean done = false;
    try {
      Removed removed = writer.behind("removing history", () -> removal.step(retention, now));
      done = true;
      removal.stepped();
      return removed;
    } finally {
      if (!done) {
        removal.undone();
      }
    }
  }

  private Upkept failed(StoreException failure) throws StoreException {
    if (failure.getCause() instanceof SQLException cause && Sqlite.isDamage(cause)) {
      ended = true;
      LOG.error(
          "store.upkeep-ended next=\"deliveries go on, but nothing is removed and lists get slower,"
              + " until the store is restored from a backup\"",
          failure);
      return new Upkept(false, Removed.NOTHING);
    }
    throw failure;
  }
}
