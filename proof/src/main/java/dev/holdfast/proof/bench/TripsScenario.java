package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Proxy;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;

/**
 * How often the server waits for the database. It is counted on the way between them, in a run of
 * its own, since that way is not free.
 */
final class TripsScenario implements Scenario {
  private static final String NAME = "trips";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "round trips to the database per 100 messages, events sent in batches";
  }

  @Override
  public boolean runsOn(boolean shared) {
    return shared;
  }

  @Override
  public void run(Rig rig) throws IOException {
    Settings settings = rig.settings();
    Database database = rig.stores().newDatabase();
    try (Proxy proxy = new Proxy(database.port())) {
      ServerProcess server = rig.startServer(database.through(proxy.port()).place());
      ReceiverProcess receiver = rig.startReceiver();
      LoadProcess load = rig.startLoad();
      rig.subscribe(server, receiver, settings.endpoints);
      load.start(
          LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
              .with(Setting.RECEIVER_PORT, receiver.port())
              .with(Setting.CONNECTIONS, settings.batchConnections)
              .with(Setting.BATCH, settings.batch)
              .with(Setting.ENDPOINTS, settings.endpoints)
              .with(Setting.MAX_UNDELIVERED, settings.maxUndelivered));
      rig.watch("warming up", settings.warmUp);
      long trips = proxy.roundTrips();
      long arrived = receiver.counts().numbers(Rig.EVENTS);
      rig.watch("measuring", Math.max(1, settings.seconds / 3));
      trips = proxy.roundTrips() - trips;
      arrived = receiver.counts().numbers(Rig.EVENTS) - arrived;
      LoadProcess.Counts counts = load.stop();
      rig.report()
          .add(
              NAME,
              "round trips per 100 messages",
              100.0 * trips / Math.max(1, arrived),
              "",
              Target.atMost(3));
      rig.settle(receiver, counts, counts.accepted(), Rig.EVENTS);
      rig.stop(server.child());
    }
  }
}
