package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Shards;
import dev.holdfast.engine.store.ActivityRow;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.engine.store.AuditCheck;
import dev.holdfast.engine.store.Damaged;
import dev.holdfast.engine.store.DataKeys;
import dev.holdfast.engine.store.FanOutRow;
import dev.holdfast.engine.store.Finished;
import dev.holdfast.engine.store.Key;
import dev.holdfast.engine.store.Remaking;
import dev.holdfast.engine.store.ReplayRow;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import dev.holdfast.engine.store.Sessions;
import dev.holdfast.engine.store.StoreCheck.Result;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.store.SubscriptionRow;
import dev.holdfast.engine.vault.KeysRefused;
import dev.holdfast.engine.vault.MasterKeySource;
import dev.holdfast.engine.vault.MasterKeys;
import dev.holdfast.engine.vault.Vault;
import dev.holdfast.engine.vault.WrappedKey;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks at everything in a database: whether each row is as it was written, whether what belongs to
 * something is there with it, and whether the audit log is whole. Changes nothing, and may run
 * while nodes do; it sees the database as it was at its start. Rows are read a few at a time.
 *
 * <p>A part that is dropped is gone for everybody, whatever moment they see. So all tables that are
 * cut are locked before that moment is chosen, and no part is made or dropped until the end.
 */
public final class PostgresCheck {
  private static final int MOST_PROBLEMS = 100;
  private static final int FETCHED = 500;

  /** What has to be there for each row of a table: a name for it, and how one without is found. */
  private enum Belonging {
    OPEN(
        "an event of unfinished message",
        "SELECT m.id FROM open m WHERE NOT EXISTS"
            + " (SELECT 1 FROM events e WHERE e.tenant = m.tenant AND e.id = m.event)"),
    MESSAGES(
        "an event of message",
        "SELECT m.id FROM messages m WHERE holdfast_is_kept(m.event)"
            + " AND NOT EXISTS"
            + " (SELECT 1 FROM events e WHERE e.tenant = m.tenant AND e.id = m.event)"),
    ATTEMPTS(
        "what was attempted: message",
        "SELECT DISTINCT a.message FROM attempts a WHERE NOT EXISTS"
            + " (SELECT 1 FROM messages m WHERE m.tenant = a.tenant AND m.id = a.message)"
            + " AND NOT EXISTS"
            + " (SELECT 1 FROM open m WHERE m.tenant = a.tenant AND m.id = a.message)"),
    REPLAYED(
        "what a replay has made: message",
        "SELECT r.message FROM replayed r WHERE NOT EXISTS"
            + " (SELECT 1 FROM messages m WHERE m.tenant = r.tenant AND m.id = r.message)"
            + " AND NOT EXISTS"
            + " (SELECT 1 FROM open m WHERE m.tenant = r.tenant AND m.id = r.message)"),
    REPLAYED_EVENTS(
        "an event that was replayed:",
        "SELECT r.event FROM replayed r WHERE NOT EXISTS"
            + " (SELECT 1 FROM events e WHERE e.tenant = r.tenant AND e.id = r.event)"),
    FAN_OUTS(
        "an event whose messages are still to be made:",
        "SELECT f.event FROM fan_outs f WHERE NOT EXISTS"
            + " (SELECT 1 FROM events e WHERE e.tenant = f.tenant AND e.id = f.event)"),
    KEYS(
        "an event with an id of its caller's:",
        "SELECT k.event FROM keys k WHERE holdfast_is_kept(k.event)"
            + " AND NOT EXISTS"
            + " (SELECT 1 FROM events e WHERE e.tenant = k.tenant AND e.id = k.event)"),
    MADE(
        "a message of event",
        "SELECT e.id FROM events e WHERE e.messages > (SELECT count(*) FROM messages m"
            + " WHERE m.tenant = e.tenant AND m.id > e.id AND m.id <= e.id + e.messages * "
            + Id.STRIDE
            + " AND m.event = e.id) + (SELECT count(*) FROM open m"
            + " WHERE m.tenant = e.tenant AND m.id > e.id AND m.id <= e.id + e.messages * "
            + Id.STRIDE
            + " AND m.event = e.id) + ("
            + FanOutRow.COUNT_OF_EVENT.replace("?", "e.id")
            + ")"),
    TWICE(
        "one state of message",
        "SELECT m.id FROM open m JOIN messages f ON f.tenant = m.tenant AND f.id = m.id");

    private final String what;
    private final String missing;

    Belonging(String what, String missing) {
      this.what = what;
      this.missing = missing;
    }
  }

  private final Connection connection;
  private final Seals seals;
  private final List<String> problems = new ArrayList<>();
  private long rows;

  private PostgresCheck(Connection connection, Seals seals) {
    this.connection = connection;
    this.seals = seals;
  }

  /**
   * Checks a database. Takes a time that grows with it.
   *
   * @param keys where the master key is looked for, with which sealed values are opened
   */
  public static Result run(PostgresOptions options, MasterKeySource keys) throws StoreRefused {
    try (Connections connections = new Connections(options)) {
      connections.reach();
      return run(connections, keys);
    } catch (KeysRefused e) {
      throw new StoreRefused(String.valueOf(e.getMessage()), e);
    } catch (SQLException e) {
      throw new StoreRefused(
          "The store in " + options.place() + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static Result run(Connections connections, MasterKeySource keys)
      throws SQLException, KeysRefused, StoreRefused {
    try (Connection connection = connections.own()) {
      connection.setNetworkTimeout(Runnable::run, 0);
      Connections.execute(
          connection,
          "SET statement_timeout = 0; SET lock_timeout = '1min';"
              + " SET idle_in_transaction_session_timeout = 0");
      refuseOther(connection, connections.options().place());
      connection.setAutoCommit(false);
      Connections.execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
      Connections.execute(
          connection, "LOCK TABLE " + String.join(", ", Parts.TABLES) + " IN ACCESS SHARE MODE");
      return all(connection, keys);
    }
  }

  private static void refuseOther(Connection connection, String place)
      throws SQLException, StoreRefused {
    if (Select.list(
            connection, "SELECT to_regclass('schema_version') IS NULL", row -> row.getBoolean(1))
        .getFirst()) {
      throw new StoreRefused("There is no store in " + place + ". Name another database.");
    }
    int version =
        Select.list(connection, "SELECT version FROM schema_version", row -> row.getInt(1))
            .getFirst();
    if (version != Schema.newest()) {
      throw new StoreRefused(
          "The store in %s was last used by %s Holdfast. Check it with that version."
              .formatted(place, version < Schema.newest() ? "an earlier" : "a later"));
    }
    StoreRefused moving = Schema.moving(connection, place);
    if (moving != null) {
      throw moving;
    }
  }

  private static Result all(Connection connection, MasterKeySource keys)
      throws SQLException, KeysRefused {
    List<WrappedKey> wrapped;
    try {
      wrapped = DataKeys.all(connection);
    } catch (Damaged _) {
      // Told when the table is read as all the others.
      return all(connection, Seals.closed(), null);
    }
    MasterKeys masters = wrapped.isEmpty() ? null : keys.read().orElse(null);
    if (masters == null) {
      return all(connection, Seals.closed(), wrapped.isEmpty() ? null : wrapped.getLast().master());
    }
    String missing = Vault.missing(wrapped, masters).orElse(null);
    if (missing != null) {
      return all(connection, Seals.closed(), missing);
    }
    try {
      return all(connection, Seals.of(StoreVault.vault(wrapped, masters)), null);
    } catch (Damaged e) {
      Result result = all(connection, Seals.closed(), null);
      List<String> problems = new ArrayList<>(result.problems());
      problems.add(e.what());
      return new Result(result.rows(), List.copyOf(problems), null);
    }
  }

  private static Result all(Connection connection, Seals seals, @Nullable String unopened)
      throws SQLException {
    PostgresCheck check = new PostgresCheck(connection, seals);
    check.all();
    return new Result(check.rows, List.copyOf(check.problems), unopened);
  }

  /** What is damaged, as a connection in a transaction shows it; opens no sealed value. */
  static List<String> problems(Connection connection) throws SQLException {
    return all(connection, Seals.closed(), null).problems();
  }

  private interface Row {
    @Nullable Object read(ResultSet row) throws SQLException;
  }

  private void all() throws SQLException {
    table(
        "open",
        Rows.MESSAGE_COLUMNS + ", shard",
        row -> inShard("message", Rows.message(row).endpoint(), row.getInt(15)));
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
    table(
        "endpoints",
        EndpointRow.COLUMNS + ", shard",
        row -> inShard("endpoint", EndpointRow.read(row, seals).id(), row.getInt(22)));
    table("endpoint_changes", Rows.CHANGE_COLUMNS, Rows::change);
    table(
        "fan_outs",
        FanOutRow.COLUMNS + ", shard",
        row -> inShard("event", FanOutRow.read(row).event(), row.getInt(7)));
    table(
        "replays",
        ReplayRow.COLUMNS + ", shard",
        row -> inShard("replay", ReplayRow.read(row).id(), row.getInt(16)));
    table("replayed", Remaking.COLUMNS, Remaking::from);
    table("subscriptions", SubscriptionRow.COLUMNS, row -> SubscriptionRow.read(row, seals));
    table("data_keys", DataKeys.COLUMNS, DataKeys::key);
    table("api_keys", ApiKeys.COLUMNS, ApiKeys::key);
    table("sessions", Sessions.COLUMNS, Sessions::session);
    table("activity", ActivityRow.COLUMNS, ActivityRow::read);
    for (Belonging belonging : Belonging.values()) {
      belongings(belonging);
    }
    dataKeys();
    tenants();
    audit();
  }

  private static @Nullable Object inShard(String what, long id, int shard) throws Damaged {
    if (shard != Shards.of(id)) {
      throw new Damaged("the row of " + what + " " + id + " is in the wrong shard, " + shard);
    }
    return null;
  }

  private void table(String table, String columns, Row reading) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(FETCHED);
      try (ResultSet row = statement.executeQuery("SELECT " + columns + " FROM " + table)) {
        while (row.next()) {
          rows++;
          try {
            reading.read(row);
          } catch (Damaged e) {
            problem(e.what());
          }
        }
      }
    }
  }

  private void belongings(Belonging belonging) throws SQLException {
    for (Long id :
        Select.list(
            connection, belonging.missing + " LIMIT " + MOST_PROBLEMS, row -> row.getLong(1))) {
      problem(belonging.what + " " + id + " is missing");
    }
  }

  private void dataKeys() throws SQLException {
    if (Select.list(
            connection,
            "SELECT NOT EXISTS (SELECT 1 FROM data_keys)"
                + " AND (EXISTS (SELECT 1 FROM endpoints WHERE sealed IS NOT NULL)"
                + " OR EXISTS (SELECT 1 FROM subscriptions WHERE sealed IS NOT NULL))",
            row -> row.getBoolean(1))
        .getFirst()) {
      problem("the keys that values are sealed with are missing");
    }
  }

  /** What quotas go by is what there is. */
  private void tenants() throws SQLException {
    Select.list(
        connection,
        "WITH counted AS (SELECT tenant, sum(events) AS events, sum(bytes) AS bytes FROM tenants"
            + " GROUP BY tenant), there AS (SELECT tenant, count(*) AS events, sum("
            + PostgresHistory.BYTES
            + " + "
            + Event.OVERHEAD_BYTES
            + ") AS bytes FROM events GROUP BY tenant)"
            + " SELECT tenant, coalesce(c.events, 0), coalesce(t.events, 0), coalesce(c.bytes, 0),"
            + " coalesce(t.bytes, 0) FROM counted c FULL JOIN there t USING (tenant)"
            + " WHERE coalesce(c.events, 0) <> coalesce(t.events, 0)"
            + " OR coalesce(c.bytes, 0) <> coalesce(t.bytes, 0) LIMIT "
            + MOST_PROBLEMS,
        row -> {
          problem(
              "tenant %s is counted with %d events of %d bytes and has %d of %d"
                  .formatted(
                      row.getString(1),
                      row.getLong(2),
                      row.getLong(4),
                      row.getLong(3),
                      row.getLong(5)));
          return true;
        });
  }

  private void audit() throws SQLException {
    rows += AuditCheck.run(connection, this::problem);
  }

  private void problem(String problem) {
    if (problems.size() < MOST_PROBLEMS) {
      problems.add(problem);
    }
  }
}
