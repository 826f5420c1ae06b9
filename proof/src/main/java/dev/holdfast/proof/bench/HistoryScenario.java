package dev.holdfast.proof.bench;

import dev.holdfast.core.model.Id;
import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;

/** What very many finished messages in the database cost: nothing, if nobody has to look there. */
final class HistoryScenario implements Scenario {
  private static final String NAME = "history";
  private static final int ROWS_AT_ONCE = 250_000;
  private static final Duration SPAN = Duration.ofDays(10);

  private final InstantSource clock;

  HistoryScenario(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "messages delivered per second with very many finished ones in the database, against an"
        + " empty one, in turns";
  }

  @Override
  public boolean runsOn(boolean shared) {
    return shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    Database full = newDatabase(rig, receiver);
    fill(rig, full);

    double[] empty = new double[settings.rounds];
    double[] beside = new double[settings.rounds];
    for (int round = 0; round < settings.rounds; round++) {
      Database fresh = newDatabase(rig, receiver);
      empty[round] = measure(rig, fresh, load, receiver, "empty database");
      rig.stores().drop(fresh);
      beside[round] = measure(rig, full, load, receiver, "full database");
    }
    Report report = rig.report();
    report.count(NAME, "finished messages", settings.history);
    report.add(
        NAME,
        "size of the database",
        full.number("SELECT pg_database_size(current_database())") / 1e6,
        "MB");
    report.add(NAME, "delivered per second, empty database", median(empty), "/s");
    report.add(NAME, "delivered per second, full database", median(beside), "/s");
    double ratio = median(empty) == 0 ? 0 : median(beside) / median(empty);
    report.add(NAME, "full / empty", ratio, "", Target.atLeast(0.9));
    rig.stores().drop(full);
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return (sorted[sorted.length / 2] + sorted[(sorted.length - 1) / 2]) / 2;
  }

  /** A database with subscriptions and no messages, made by a server. */
  private static Database newDatabase(Rig rig, ReceiverProcess receiver) throws IOException {
    Database database = rig.stores().newDatabase();
    ServerProcess server = rig.startServer(database.place());
    rig.subscribe(server, receiver, rig.settings().endpoints);
    // What is filled in must find the tables cut into parts.
    while (database.number("SELECT count(*) FROM parts") == 0) {
      rig.progress().tick("waiting until the tables are cut");
      Rig.pause(Duration.ofMillis(100));
    }
    rig.stop(server.child());
    return database;
  }

  private static double measure(
      Rig rig, Database database, LoadProcess load, ReceiverProcess receiver, String what)
      throws IOException {
    Settings settings = rig.settings();
    rig.progress().step(what);
    receiver.reset();
    ServerProcess server = rig.startServer(database.place());
    load.start(
        LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
            .with(Setting.RECEIVER_PORT, receiver.port())
            .with(Setting.CONNECTIONS, settings.batchConnections)
            .with(Setting.BATCH, settings.batch)
            .with(Setting.ENDPOINTS, settings.endpoints)
            .with(Setting.MAX_UNDELIVERED, settings.maxUndelivered));
    rig.watch("warming up", settings.warmUp);
    Window window =
        Window.measure(
            rig,
            load,
            receiver,
            Rig.EVENTS,
            rig.withDatabase(server.child(), load.child(), receiver.child()),
            Math.max(1, settings.seconds / 3));
    LoadProcess.Counts counts = load.stop();
    long arrived = rig.awaitArrival(receiver, counts.accepted(), Rig.EVENTS);
    if (arrived < counts.accepted()) {
      rig.report()
          .fail(
              "%s: %,d of %,d accepted events did not arrive, %s"
                  .formatted(NAME, counts.accepted() - arrived, counts.accepted(), what));
    }
    rig.stop(server.child());
    return window.deliveredPerSecond();
  }

  /** Events and their messages, each delivered at the first attempt within the last days. */
  private void fill(Rig rig, Database database) {
    int rows = rig.settings().history;
    Instant first = clock.instant().minus(SPAN).minus(Duration.ofHours(1));
    long base = Id.floor(first);
    // A message has the id that follows its event's.
    long step = Math.max(2 * Id.STRIDE, (Id.floor(first.plus(SPAN)) - base) / Math.max(1, rows));
    step -= step % Id.STRIDE;
    long firstMicros = first.toEpochMilli() * 1_000;
    long stepMicros = SPAN.toMillis() * 1_000 / Math.max(1, rows);
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SET synchronous_commit = off");
      statement.execute(
          "CREATE TEMP TABLE target AS SELECT id AS subscription, endpoint, row_number() OVER () - 1"
              + " AS n, count(*) OVER () AS all_of_them FROM subscriptions");
      for (int from = 0; from < rows; from += ROWS_AT_ONCE) {
        int to = Math.min(rows, from + ROWS_AT_ONCE) - 1;
        rig.progress().tick("writing message %,d of %,d".formatted(from, rows));
        statement.execute(
            """
            INSERT INTO events (id, tenant, type, messages, sum, body_sum, data)
            SELECT %d + i * %d, 'default', 'bench', 1, 0, 0, convert_to(repeat('x', 200), 'UTF8')
            FROM generate_series(%d::bigint, %d::bigint) i
            """
                .formatted(base, step, from, to));
        statement.execute(
            """
            INSERT INTO messages (id, tenant, event, subscription, endpoint, finished_at, attempts,
              sum, attempt_sum, attempt_at, duration_millis, scheduled, http_status)
            SELECT %d + i * %d, 'default', %d + i * %d, t.subscription, t.endpoint, %d + i * %d, 1,
              0, 0, %d + i * %d, 3, 1, 200
            FROM generate_series(%d::bigint, %d::bigint) i
            JOIN target t ON t.n = i %% t.all_of_them
            """
                .formatted(
                    base + Id.STRIDE,
                    step,
                    base,
                    step,
                    firstMicros,
                    stepMicros,
                    firstMicros,
                    stepMicros,
                    from,
                    to));
      }
      rig.progress().tick("vacuuming, as the database would have done over the days");
      statement.execute("VACUUM ANALYZE");
      statement.execute("CHECKPOINT");
    } catch (SQLException e) {
      throw Database.failed(e);
    } finally {
      rig.progress().end();
    }
  }
}
