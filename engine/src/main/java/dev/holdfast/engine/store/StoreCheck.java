package dev.holdfast.engine.store;

import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.KeysRefused;
import dev.holdfast.engine.vault.MasterKeySource;
import dev.holdfast.engine.vault.MasterKeys;
import dev.holdfast.engine.vault.Vault;
import dev.holdfast.engine.vault.WrappedKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at everything in a store that nobody uses: whether its tables and indexes hold together,
 * and whether each row is as it was written. Changes nothing.
 */
public final class StoreCheck {
  private static final int MOST_PROBLEMS = 100;

  private final Connection connection;
  private final Seals seals;
  private final List<String> problems = new ArrayList<>();
  private long rows;

  private StoreCheck(Connection connection, Seals seals) {
    this.connection = connection;
    this.seals = seals;
  }

  /**
   * What was found.
   *
   * @param rows how many rows were read
   * @param problems what is damaged; empty when nothing is
   * @param unopened the master key without which sealed values were not opened; absent when they
   *     were, or when there are none
   */
  public record Result(long rows, List<String> problems, @Nullable String unopened) {}

  /** Checks the store in a directory, with the key file that is in there. */
  public static Result run(Path directory) throws StoreRefused {
    return run(directory, KeyFile.in(directory));
  }

  /**
   * Checks the store in a directory. Takes a time that grows with the store.
   *
   * @param keys where the master key is looked for, with which sealed values are opened
   */
  public static Result run(Path directory, MasterKeySource keys) throws StoreRefused {
    if (!Files.exists(StoreFile.path(directory))) {
      throw new StoreRefused("There is no store in " + directory + ". Name another directory.");
    }
    try (StoreFile file = StoreFile.open(directory);
        Connection connection = Sqlite.reader(file.path())) {
      if (Migrations.version(connection) < Migrations.newest()) {
        throw new StoreRefused(
            "The store in "
                + directory
                + " was last used by an earlier Holdfast. Check it with that version, or start a"
                + " server of this version on it once.");
      }
      return all(connection, keys);
    } catch (KeysRefused e) {
      throw new StoreRefused(String.valueOf(e.getMessage()), e);
    } catch (SQLException e) {
      throw new StoreRefused("The store in " + directory + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** Checks everything that a connection shows, and opens no sealed value. */
  static Result all(Connection connection) throws SQLException {
    return all(connection, Seals.closed(), null);
  }

  private static Result all(Connection connection, MasterKeySource keys)
      throws SQLException, KeysRefused {
    List<WrappedKey> wrapped;
    try {
      wrapped = DataKeys.read(connection);
    } catch (Damaged _) {
      // Told when the table is read as all the others.
      return all(connection);
    }
    if (wrapped.isEmpty()) {
      return all(connection);
    }
    MasterKeys masters = keys.read().orElse(null);
    String missing =
        masters == null ? wrapped.getLast().master() : Vault.missing(wrapped, masters).orElse(null);
    if (masters == null || missing != null) {
      return all(connection, Seals.closed(), missing);
    }
    try {
      return all(connection, Seals.of(StoreVault.vault(wrapped, masters)), null);
    } catch (Damaged e) {
      Result result = all(connection);
      List<String> problems = new ArrayList<>(result.problems());
      problems.add(e.what());
      return new Result(result.rows(), List.copyOf(problems), null);
    }
  }

  private static Result all(Connection connection, Seals seals, @Nullable String unopened)
      throws SQLException {
    StoreCheck check = new StoreCheck(connection, seals);
    check.all();
    return new Result(check.rows, List.copyOf(check.problems), unopened);
  }

  /**
   * Looks at what a server looks at before it starts, which takes seconds at most.
   *
   * @return how many bytes the store has on disk
   */
  public static long glance(Path directory) throws StoreRefused {
    Path path = StoreFile.path(directory);
    if (!Files.exists(path)) {
      throw new StoreRefused("There is no store in " + directory + ". Name another directory.");
    }
    try (StoreFile file = StoreFile.open(directory)) {
      return Files.size(file.path());
    } catch (IOException e) {
      throw new StoreRefused("The store in " + directory + " cannot be read: " + e, e);
    }
  }

  /** Whether there is a store in a directory, in whatever state. */
  public static boolean isThere(Path directory) {
    return Files.exists(StoreFile.path(directory));
  }

  private interface Row {
    Object read(ResultSet row) throws SQLException;
  }

  private void all() throws SQLException {
    structure();
    table("open", Rows.MESSAGE_COLUMNS, Rows::message);
    table("events", Rows.EVENT_COLUMNS, Rows::event);
    table("keys", Key.COLUMNS, Key::from);
    table("messages", Finished.COLUMNS, Finished::from);
    table(
        "messages WHERE attempt_sum IS NOT NULL",
        "id, attempts, " + Rows.ATTEMPT_COLUMNS + ", attempt_sum",
        row -> Rows.attempt(row, 3, 10, row.getLong(1), row.getInt(2)));
    table(
        "attempts",
        "message, number, " + Rows.ATTEMPT_COLUMNS + ", sum",
        row -> Rows.attempt(row, 3, 10, row.getLong(1), row.getInt(2)));
    table("endpoints", Rows.ENDPOINT_COLUMNS, row -> Rows.endpoint(row, seals));
    table("endpoint_changes", Rows.CHANGE_COLUMNS, Rows::change);
    table("fan_outs", FanOutRow.COLUMNS, FanOutRow::read);
    table("replays", ReplayRow.COLUMNS, ReplayRow::read);
    table("replayed", Remaking.COLUMNS, Remaking::from);
    table("subscriptions", SubscriptionRow.COLUMNS, row -> SubscriptionRow.read(row, seals));
    table("data_keys", DataKeys.COLUMNS, DataKeys::key);
    table("api_keys", ApiKeys.COLUMNS, ApiKeys::key);
    table("sessions", Sessions.COLUMNS, Sessions::session);
    table("tenants", Tenants.COLUMNS, Tenants::tenant);
    table("activity", ActivityRow.COLUMNS, ActivityRow::read);
    history();
    audit();
  }

  private void audit() {
    try {
      rows += AuditCheck.run(connection, this::problem);
    } catch (SQLException e) {
      problem("the audit log cannot be read to its end: " + e.getMessage());
    }
  }

  /** The orders that lists go by have each finished message once, as far as they reach. */
  private void history() {
    try (Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery(Removal.HIDDEN)) {
        Removal.hidden(row);
      }
      HistoryIndex.Extent extent;
      try (ResultSet row = statement.executeQuery(HistoryIndex.Extent.SELECT)) {
        extent = HistoryIndex.Extent.from(row);
      }
      long messages = count("SELECT count(*) FROM messages WHERE id <= " + extent.through());
      NavigableMap<Long, Long> parts = new TreeMap<>();
      try (ResultSet rows =
          statement.executeQuery("SELECT " + HistoryIndex.Part.COLUMNS + " FROM parts")) {
        while (rows.next()) {
          HistoryIndex.Part part = HistoryIndex.Part.from(rows);
          parts.put(part.first(), part.number());
        }
      }
      for (HistoryIndex.By by : HistoryIndex.By.values()) {
        Indexed indexed = indexed(by, parts, extent.through());
        if (indexed.ids() != messages || indexed.right() != messages) {
          problem(
              "table %s has %d ids, of which %d are right, for %d messages"
                  .formatted(by.table(), indexed.ids(), indexed.right(), messages));
        }
      }
    } catch (Damaged e) {
      problem(e.what());
    } catch (SQLException e) {
      problem("the index of history cannot be read to its end: " + e.getMessage());
    }
  }

  /**
   * What one of the orders has.
   *
   * @param right of its ids, those that stand where their message says that they belong, once
   */
  private record Indexed(long ids, long right) {}

  private Indexed indexed(HistoryIndex.By by, NavigableMap<Long, Long> parts, long through)
      throws SQLException {
    long ids = 0;
    long right = 0;
    try (PreparedStatement ownerOf = connection.prepareStatement(by.ownerOf());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(by.all())) {
      long last = IndexedIds.NONE;
      Object lastPlace = null;
      while (row.next()) {
        HistoryOrder.Place place =
            new HistoryOrder.Place(row.getLong(1), row.getObject(2), row.getInt(3));
        if (!place.equals(lastPlace)) {
          lastPlace = place;
          last = IndexedIds.NONE;
        }
        for (long id : IdList.decode(row.getLong(4), row.getBytes(5))) {
          ids++;
          Map.Entry<Long, Long> part = parts.floorEntry(id);
          if (id > last
              && id <= through
              && part != null
              && part.getValue() == place.part()
              && isOf(ownerOf, id, place)) {
            right++;
          }
          last = Math.max(last, id);
        }
      }
    }
    return new Indexed(ids, right);
  }

  private static boolean isOf(PreparedStatement ownerOf, long message, HistoryOrder.Place place)
      throws SQLException {
    ownerOf.setLong(1, message);
    try (ResultSet row = ownerOf.executeQuery()) {
      return row.next()
          && place.equals(new HistoryOrder.Place(place.part(), row.getObject(1), row.getInt(2)));
    }
  }

  private long count(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private void structure() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("PRAGMA integrity_check(" + MOST_PROBLEMS + ")")) {
      while (found.next()) {
        if (!"ok".equals(found.getString(1))) {
          problem(String.valueOf(found.getString(1)));
        }
      }
    }
  }

  private void table(String table, String columns, Row reading) {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT " + columns + " FROM " + table)) {
      while (row.next()) {
        rows++;
        try {
          reading.read(row);
        } catch (Damaged e) {
          problem(e.what());
        }
      }
    } catch (SQLException e) {
      problem("table " + table + " cannot be read to its end: " + e.getMessage());
    }
  }

  private void problem(String problem) {
    if (problems.size() < MOST_PROBLEMS) {
      problems.add(problem);
    }
  }
}
