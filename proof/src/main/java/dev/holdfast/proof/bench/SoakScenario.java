package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A steady load for long: whether tables whose rows come and go stay small, and whether rows that
 * nobody needs any more are cleared away.
 */
final class SoakScenario implements Scenario {
  private static final String NAME = "soak";
  private static final int SAMPLE_SECONDS = 10;

  /** When it has found its size, as a part of the whole. */
  private static final int SETTLED_AFTER = 3;

  /** How much larger it may be in the end, since what waits is never the same. */
  private static final double MOST_GROWTH = 1.5;

  /** Below this nobody minds. */
  private static final double FEW_BYTES = 10e6;

  /** What is kept of a message is the same for each. */
  private static final double MOST_GROWTH_PER_MESSAGE = 1.2;

  /** Seconds from when the database looks for tables to be cleared until it looks again. */
  private static final String NAPTIME =
      "SELECT setting::bigint FROM pg_settings WHERE name = 'autovacuum_naptime'";

  /** Rows that died right after a look are cleared after the next one, which takes its time. */
  private static final int ROUNDS_OF_VACUUM = 2;

  /**
   * Below this no table is worth clearing: what the database would leave of any other, and more.
   */
  private static final double FEW_ROWS = 10_000;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "a steady load on two nodes for half an hour: dead rows and sizes of the tables (only when asked for)";
  }

  @Override
  public boolean runsOn(boolean shared) {
    return shared;
  }

  @Override
  public boolean isOnlyOnRequest() {
    return true;
  }

  /** What was seen of one table that is not to grow. */
  private static final class Table {
    private long mostDead;
    private long lastBytes;
    private long settledBytes;
    private long firstChanges = -1;
    private long lastChanges;

    void sample(long dead, long bytes, long changes, boolean settling) {
      mostDead = Math.max(mostDead, dead);
      lastBytes = bytes;
      if (settling) {
        settledBytes = Math.max(settledBytes, bytes);
      }
      firstChanges = firstChanges < 0 ? changes : firstChanges;
      lastChanges = changes;
    }

    /** How many rows nobody needs any more after this time, if none is cleared away. */
    double dying(long seconds, int soak) {
      return (double) (lastChanges - firstChanges) * seconds / soak;
    }
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    Database database = rig.stores().newDatabase();
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    ServerProcess server = rig.startNode("node 1", database.place());
    rig.startNode("node 2", database.place());
    rig.subscribe(server, receiver, settings.endpoints);
    ClusterScenario.awaitBalance(rig, database);
    load.start(
        LoadPlan.of(Kind.OPEN_LOOP, server.port(), server.key())
            .with(Setting.CONNECTIONS, LatencyScenario.CONNECTIONS)
            .with(Setting.ENDPOINTS, settings.endpoints)
            .with(Setting.MAX_SECONDS, settings.soak + 60)
            .with(Setting.RATE, settings.rate()));
    Map<String, Table> tables = new LinkedHashMap<>();
    double settledHistory = 0;
    long transactions = database.transactions();
    for (int second = 0; second < settings.soak; second += SAMPLE_SECONDS) {
      rig.progress()
          .tick(
              "%d/%d s, %,d arrived"
                  .formatted(second, settings.soak, receiver.counts().numbers(Rig.EVENTS)));
      Rig.pause(Duration.ofSeconds(Math.min(SAMPLE_SECONDS, settings.soak - second)));
      boolean settling = second == 0 || second < settings.soak / SETTLED_AFTER;
      sample(database, tables, settling);
      if (settling) {
        settledHistory = historyPerMessage(database, receiver);
      }
    }
    double history = historyPerMessage(database, receiver);
    LoadProcess.Counts counts = load.stop();
    long arrived = Math.max(1, receiver.counts().numbers(Rig.EVENTS));
    Latency arrival = Latency.of(receiver.counts().latency(Rig.EVENTS));

    Report report = rig.report();
    report.add(NAME, "time", settings.soak, "s");
    report.add(NAME, "POST to arrival, p99", arrival.p99(), "ms");
    report.add(
        NAME,
        "transactions per 100 messages",
        100.0 * (database.transactions() - transactions) / arrived,
        "");
    long mostSeconds = ROUNDS_OF_VACUUM * Math.max(1, database.number(NAPTIME));
    tables.forEach(
        (name, table) -> {
          report.add(
              NAME,
              name + ", most dead rows",
              (double) table.mostDead,
              "",
              Target.atMost(Math.max(FEW_ROWS, table.dying(mostSeconds, settings.soak))));
          report.add(NAME, name + ", size in the first third", table.settledBytes / 1e6, "MB");
          report.add(
              NAME,
              name + ", size in the end",
              table.lastBytes / 1e6,
              "MB",
              Target.atMost(Math.max(FEW_BYTES, MOST_GROWTH * table.settledBytes) / 1e6));
        });
    report.add(NAME, "history per message, in the first third", settledHistory, "bytes");
    report.add(
        NAME,
        "history per message, in the end",
        history,
        "bytes",
        Target.atMost(MOST_GROWTH_PER_MESSAGE * settledHistory));
    report.add(
        NAME,
        "size of the database per message",
        (double) database.number("SELECT pg_database_size(current_database())") / arrived,
        "bytes");
    rig.settle(receiver, counts, counts.accepted(), Rig.EVENTS);
  }

  /** What grows by design, with its indexes, by the messages that it is for. */
  private static double historyPerMessage(Database database, ReceiverProcess receiver) {
    long arrived = Math.max(1, receiver.counts().numbers(Rig.EVENTS));
    return (double)
            database.number(
                """
                SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables
                WHERE relname ~ '^(events|messages|attempts|replayed)_' OR relname = 'keys'
                """)
        / arrived;
  }

  /** The tables whose rows come and go or change all the time, with their indexes. */
  private static void sample(Database database, Map<String, Table> tables, boolean settling) {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                """
                SELECT relname, n_dead_tup, pg_total_relation_size(relid),
                  n_tup_upd + n_tup_del
                FROM pg_stat_user_tables
                WHERE relname IN ('open', 'handovers', 'calls', 'fan_outs', 'endpoints', 'tenants',
                  'batches', 'nodes', 'node_reports', 'shards', 'known')
                ORDER BY relname
                """)) {
      while (rows.next()) {
        tables
            .computeIfAbsent(rows.getString(1), _ -> new Table())
            .sample(rows.getLong(2), rows.getLong(3), rows.getLong(4), settling);
      }
    } catch (SQLException e) {
      throw Database.failed(e);
    }
  }
}
