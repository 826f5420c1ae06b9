package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Report;
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

  /** What was seen of one table. */
  private static final class Table {
    private long mostDead;
    private long mostBytes;
    private long lastBytes;
    private long settledBytes;

    void sample(long dead, long bytes, boolean settling) {
      mostDead = Math.max(mostDead, dead);
      mostBytes = Math.max(mostBytes, bytes);
      lastBytes = bytes;
      if (settling) {
        settledBytes = mostBytes;
      }
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
            .with(Setting.RATE, settings.rate));
    Map<String, Table> tables = new LinkedHashMap<>();
    long transactions = database.transactions();
    for (int second = 0; second < settings.soak; second += SAMPLE_SECONDS) {
      rig.progress()
          .tick(
              "%d/%d s, %,d arrived"
                  .formatted(second, settings.soak, receiver.counts().numbers(Rig.EVENTS)));
      Rig.pause(Duration.ofSeconds(Math.min(SAMPLE_SECONDS, settings.soak - second)));
      sample(database, tables, second < settings.soak / SETTLED_AFTER);
    }
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
    tables.forEach(
        (name, table) -> {
          report.count(NAME, name + ", most dead rows", table.mostDead);
          report.add(NAME, name + ", size in the first third", table.settledBytes / 1e6, "MB");
          report.add(NAME, name + ", size in the end", table.lastBytes / 1e6, "MB");
        });
    report.add(
        NAME,
        "size of the database per message",
        (double) database.number("SELECT pg_database_size(current_database())") / arrived,
        "bytes");
    rig.settle(receiver, counts, counts.accepted(), Rig.EVENTS);
  }

  /** The tables whose rows come and go or change all the time, with their indexes. */
  private static void sample(Database database, Map<String, Table> tables, boolean settling) {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                """
                SELECT relname, n_dead_tup, pg_total_relation_size(relid)
                FROM pg_stat_user_tables
                WHERE relname IN ('open', 'handovers', 'endpoints', 'batches', 'nodes')
                ORDER BY relname
                """)) {
      while (rows.next()) {
        tables
            .computeIfAbsent(rows.getString(1), _ -> new Table())
            .sample(rows.getLong(2), rows.getLong(3), settling);
      }
    } catch (SQLException e) {
      throw Database.failed(e);
    }
  }
}
