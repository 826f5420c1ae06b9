package dev.holdfast.proof.bench;

import dev.holdfast.core.model.Id;
import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.History;
import dev.holdfast.proof.stage.History.Part;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;

/** What very many finished messages in the database cost: nothing, if nobody has to look there. */
final class HistoryScenario implements Scenario {
  private static final String NAME = "history";

  /** How many there are of what has finished, today among them. */
  private static final int DAYS = 10;

  /** How wide nodes make a part with the usual retention. */
  private static final Duration PART = Duration.ofDays(1);

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
    // The lowest part is for what is older, the next is the one that is written to.
    while (database.number("SELECT count(*) FROM parts") < 2) {
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

  /**
   * Events and their messages, each delivered at the first attempt, over the last days and today:
   * as many in the part that is written to as in each of the others.
   */
  private void fill(Rig rig, Database database) {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      History history = new History(connection);
      history.cutLowest(PART, DAYS - 1);
      statement.execute("SET synchronous_commit = off");
      long now = Id.floor(clock.instant());
      // The lowest is for what is older.
      List<Part> past =
          history.parts().stream().skip(1).filter(part -> part.first() < now).toList();
      int rows = rig.settings().history / past.size();
      for (int i = 0; i < past.size(); i++) {
        Part part = past.get(i);
        int before = i * rows;
        history.fill(
            new Part(part.first(), Math.min(part.until(), now)),
            rows,
            written ->
                rig.progress()
                    .tick(
                        "writing message %,d of %,d"
                            .formatted(before + written, rig.settings().history)));
      }
      rig.progress().tick("vacuuming, as the database would have done over the days");
      statement.execute("VACUUM ANALYZE");
      statement.execute("CHECKPOINT");
      rig.report().count(NAME, "parts with finished messages", past.size());
      rig.report().count(NAME, "finished messages in the part that is written to", rows);
    } catch (SQLException e) {
      throw Database.failed(e);
    } finally {
      rig.progress().end();
    }
  }
}
