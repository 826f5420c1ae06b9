package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * The minutes of all tenants, as a chart shows them. Nothing is delivered or kept by them: whoever
 * cannot write them goes on without. May be used by any thread; blocks.
 */
public final class ActivityRows {
  /** For how long a minute is kept. */
  public static final Duration KEPT = Duration.ofDays(8);

  /** Rows that are written, and some that are removed, in one transaction: a few milliseconds. */
  public static final int AT_ONCE = 200;

  private static final int REMOVED_AT_ONCE = 2 * AT_ONCE;

  private static final String FIND =
      "SELECT " + ActivityRow.COLUMNS + " FROM activity WHERE tenant = ? AND at = ? AND slot = ?";

  private static final String PUT =
      "INSERT INTO activity ("
          + ActivityRow.COLUMNS
          + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, at, slot) DO UPDATE SET"
          + " accepted = excluded.accepted, delivered = excluded.delivered,"
          + " failed = excluded.failed, dropped = excluded.dropped, delays = excluded.delays,"
          + " sum = excluded.sum";

  private static final String OLD =
      "SELECT tenant, at, slot FROM activity WHERE at < ? ORDER BY at LIMIT ?";

  /** In one order, and past what somebody else removes: so nobody waits for another in a circle. */
  private static final String REMOVE =
      "DELETE FROM activity WHERE (tenant, at, slot) IN (SELECT tenant, at, slot FROM activity"
          + " WHERE at < ? ORDER BY at, tenant, slot LIMIT ?";

  private static final String SINCE =
      "SELECT "
          + ActivityRow.COLUMNS
          + " FROM activity WHERE tenant = ? AND at >= ? ORDER BY at, slot";

  private static final String DROPPED =
      "SELECT coalesce(sum(dropped), 0) FROM activity WHERE tenant = ? AND at >= ?";

  private final Transactions transactions;
  private final IntSupplier slot;

  /**
   * The minutes in a store.
   *
   * @param slot which node counts
   */
  public ActivityRows(Transactions transactions, IntSupplier slot) {
    this.transactions = transactions;
    this.slot = slot;
  }

  /**
   * Adds to what is kept of these minutes, all or none of it, and removes some of what was kept for
   * long enough.
   */
  public void add(List<ActivityRow> rows, Instant now) throws StoreException {
    int own = slot.getAsInt();
    // Before the others: once these are kept, nothing may fail, or they would be added again.
    if (hasOld(now)) {
      remove(now.minus(KEPT));
    }
    Map<Minute, ActivityRow> minutes = new LinkedHashMap<>();
    rows.forEach(
        row -> minutes.merge(new Minute(row.counts().tenant(), row.at()), row, ActivityRow::plus));
    transactions.transactBehind(
        "keeping what has happened",
        (connection, _) -> {
          try (PreparedStatement find = connection.prepareStatement(FIND);
              PreparedStatement put = connection.prepareStatement(PUT)) {
            for (ActivityRow row : minutes.values()) {
              sum(find, row, own).set(put, own);
              put.addBatch();
            }
            put.executeBatch();
          }
        });
  }

  private record Minute(String tenant, Instant at) {}

  /** With what is kept already: the process may have begun anew within the minute. */
  private static ActivityRow sum(PreparedStatement find, ActivityRow row, int slot)
      throws SQLException {
    find.setString(1, row.counts().tenant());
    find.setLong(2, Rows.micros(row.at()));
    find.setInt(3, slot);
    try (ResultSet kept = find.executeQuery()) {
      return kept.next() ? row.plus(ActivityRow.read(kept)) : row;
    } catch (Damaged _) {
      // A chart is not worth a restored backup: what is known now takes its place.
      return row;
    }
  }

  private void remove(Instant before) throws StoreException {
    transactions.transactBehind(
        "removing old minutes",
        (connection, _) -> {
          try (PreparedStatement remove =
              connection.prepareStatement(
                  REMOVE + (transactions.isShared() ? " FOR UPDATE SKIP LOCKED)" : ")"))) {
            remove.setLong(1, Rows.micros(before));
            remove.setInt(2, REMOVED_AT_ONCE);
            remove.executeUpdate();
          }
        });
  }

  /** Whether there is something that was kept for long enough. */
  public boolean hasOld(Instant now) throws StoreException {
    return transactions.read(
        "looking for old minutes",
        connection -> {
          PreparedStatement find = connection.prepare(OLD);
          find.setLong(1, Rows.micros(now.minus(KEPT)));
          find.setInt(2, 1);
          try (ResultSet row = find.executeQuery()) {
            return row.next();
          }
        });
  }

  /**
   * A tenant's minutes from a time on, of all nodes: a day has 1,440 of each. What is damaged is
   * left out.
   */
  public List<ActivityRow> since(String tenant, Instant from) throws StoreException {
    return transactions.read(
        "reading what has happened",
        connection -> {
          PreparedStatement find = connection.prepare(SINCE);
          find.setString(1, tenant);
          find.setLong(2, Rows.micros(from));
          List<ActivityRow> found = new ArrayList<>();
          try (ResultSet row = find.executeQuery()) {
            while (row.next()) {
              add(row, found);
            }
          }
          return found;
        });
  }

  private static void add(ResultSet row, List<ActivityRow> found) throws SQLException {
    try {
      found.add(ActivityRow.read(row));
    } catch (Damaged _) {
      // A gap in a chart says less than no chart for days; a check of the store names the row.
    }
  }

  /** How many messages of a tenant were dropped in the minutes from a time on. */
  public long droppedSince(String tenant, Instant from) throws StoreException {
    return transactions.read(
        "counting what was dropped",
        connection -> {
          PreparedStatement find = connection.prepare(DROPPED);
          find.setString(1, tenant);
          find.setLong(2, Rows.micros(from));
          try (ResultSet row = find.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
          }
        });
  }
}
