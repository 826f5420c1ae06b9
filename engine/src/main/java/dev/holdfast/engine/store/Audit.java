package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The audit log: what people and keys have changed, in chains that show a gap. There is one for
 * each tenant, and one for what concerns all of them. Nothing ever removes an entry. May be used by
 * any thread; blocking.
 */
public final class Audit {
  private static final String COLUMNS =
      "id, chain, number, at, action, actor, target, entry, previous, hash";

  private final Transactions transactions;
  private final int mostRows;

  /** Looks at no more than {@code mostRows} entries for one question. */
  public Audit(Transactions transactions, int mostRows) {
    this.transactions = transactions;
    this.mostRows = mostRows;
  }

  /** Writes down what is changed by nothing else in the store; when it returns, it is on disk. */
  public void append(Act act) throws StoreException {
    transactions.transact("writing down what was done", (_, chains) -> chains.append(act));
  }

  /**
   * What is looked for, the newest first.
   *
   * @param chain a tenant's, or empty for what concerns all of them; all chains when absent
   * @param since at that time or later
   * @param until before that time
   * @param actor the id of a key, or else a name
   * @param before where to go on: {@link Found#next} of the same question; or the highest number
   */
  public record Query(
      @Nullable String chain,
      @Nullable Instant since,
      @Nullable Instant until,
      @Nullable String action,
      @Nullable String target,
      @Nullable String actor,
      long before,
      int limit) {}

  /**
   * An entry.
   *
   * @param place where a question that found it goes on behind it
   * @param json its text, as it was hashed
   * @param previous the hash of the entry before it in its chain, in hexadecimal
   */
  public record Entry(long place, String chain, String json, String previous, String hash) {}

  /**
   * Some entries.
   *
   * @param next where to go on; absent at the end
   */
  public record Found(List<Entry> entries, @Nullable Long next) {}

  /** Looks at a limited number of rows, so it may find less than there is room for. */
  public Found find(Query query) throws StoreException {
    return transactions.read("reading the audit log", connection -> find(connection, query));
  }

  private Found find(Transactions.Statements connection, Query query) throws SQLException {
    List<Entry> entries = new ArrayList<>();
    int looked = 0;
    long last = query.before();
    PreparedStatement statement = prepare(connection, query);
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        if (looked == mostRows || entries.size() == query.limit()) {
          return new Found(entries, last);
        }
        looked++;
        last = row.getLong(query.chain() == null ? 1 : 3);
        if (fits(row, query)) {
          entries.add(
              new Entry(
                  last,
                  row.getString(2),
                  row.getString(8),
                  hex(row.getBytes(9)),
                  hex(row.getBytes(10))));
        }
      }
      return new Found(entries, null);
    }
  }

  /** One chain goes by its numbers, all of them by the order in which they were written. */
  private PreparedStatement prepare(Transactions.Statements connection, Query query)
      throws SQLException {
    if (query.chain() == null) {
      PreparedStatement all =
          connection.prepare(
              "SELECT " + COLUMNS + " FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?");
      all.setLong(1, query.before());
      all.setInt(2, mostRows + 1);
      return all;
    }
    if (query.target() == null) {
      PreparedStatement one =
          connection.prepare(
              "SELECT "
                  + COLUMNS
                  + " FROM audit WHERE chain = ? AND number < ? ORDER BY number DESC LIMIT ?");
      one.setString(1, query.chain());
      one.setLong(2, query.before());
      one.setInt(3, mostRows + 1);
      return one;
    }
    PreparedStatement ofTarget =
        connection.prepare(
            "SELECT "
                + COLUMNS
                + " FROM audit WHERE chain = ? AND target = ?"
                // With a sign, so that the index of targets is taken and not that of numbers.
                + " AND +number < ? ORDER BY id DESC LIMIT ?");
    ofTarget.setString(1, query.chain());
    ofTarget.setString(2, query.target());
    ofTarget.setLong(3, query.before());
    ofTarget.setInt(4, mostRows + 1);
    return ofTarget;
  }

  private static boolean fits(ResultSet row, Query query) throws SQLException {
    long at = row.getLong(4);
    return (query.since() == null || at >= Rows.micros(query.since()))
        && (query.until() == null || at < Rows.micros(query.until()))
        && (query.action() == null || query.action().equals(row.getString(5)))
        && (query.actor() == null || query.actor().equals(row.getString(6)))
        && (query.target() == null || query.target().equals(row.getString(7)));
  }

  private static String hex(byte @Nullable [] bytes) {
    return bytes == null ? "" : HexFormat.of().formatHex(bytes);
  }
}
