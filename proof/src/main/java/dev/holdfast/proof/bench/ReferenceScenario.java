package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import java.io.IOException;
import java.util.List;

/** What the machine can do with Vert.x alone: the others are given as a share of it. */
final class ReferenceScenario implements Scenario {
  static final String NAME = "reference";
  static final String POSTS = "bare client, posts per second";
  static final String TAKES = "bare server, requests per second";

  /** The group that {@code /v1/events} falls into when a receiver stands in for the server. */
  private static final char BARE_SERVER = 'v';

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "a bare Vert.x client that posts to the receiver, and a bare Vert.x server that answers"
        + " 202: what others are compared with";
  }

  @Override
  public void run(Rig rig) throws IOException {
    ReceiverProcess receiver = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    bareClient(rig, load, receiver);
    rig.stopAll();

    ReceiverProcess server = rig.startReceiver();
    LoadProcess sender = rig.startLoad();
    bareServer(rig, sender, server);
    rig.stopAll();
  }

  private static void bareClient(Rig rig, LoadProcess load, ReceiverProcess receiver) {
    rig.progress().step("bare client, %d connections".formatted(rig.settings().connections));
    load.start(
        LoadPlan.of(Kind.BARE_CLIENT, receiver.port(), "none")
            .with(Setting.CONNECTIONS, rig.settings().connections)
            .with(Setting.ENDPOINTS, rig.settings().endpoints));
    rig.watch("warming up", rig.settings().warmUp);
    List<Child> children = List.of(load.child(), receiver.child());
    Window window =
        Window.measure(rig, load, receiver, Rig.EVENTS, children, rig.settings().seconds);
    LoadProcess.Counts counts = load.stop();
    rig.report().add(NAME, POSTS, window.deliveredPerSecond(), "/s");
    rig.report().add(NAME, "bare client, its CPU per post", window.cpuMicros(load.child()), "µs");
    rig.report().add(NAME, "receiver, CPU per request", window.cpuMicros(receiver.child()), "µs");
    check(rig, receiver, counts, Rig.EVENTS);
  }

  private static void bareServer(Rig rig, LoadProcess load, ReceiverProcess server) {
    rig.progress().step("bare server, %d connections".formatted(rig.settings().connections));
    server.answer(BARE_SERVER, "202");
    load.start(
        LoadPlan.of(Kind.CLOSED_LOOP, server.port(), "none")
            .with(Setting.CONNECTIONS, rig.settings().connections)
            .with(Setting.ENDPOINTS, rig.settings().endpoints));
    rig.watch("warming up", rig.settings().warmUp);
    List<Child> children = List.of(load.child(), server.child());
    Window window =
        Window.measure(rig, load, server, BARE_SERVER, children, rig.settings().seconds);
    LoadProcess.Counts counts = load.stop();
    rig.report().add(NAME, TAKES, window.acceptedPerSecond(), "/s");
    rig.report()
        .add(NAME, "bare server, its CPU per request", window.cpuMicros(server.child()), "µs");
    rig.report().add(NAME, "load generator, CPU per request", window.cpuMicros(load.child()), "µs");
    check(rig, server, counts, BARE_SERVER);
  }

  private static void check(
      Rig rig, ReceiverProcess receiver, LoadProcess.Counts counts, char group) {
    long arrived = rig.awaitArrival(receiver, counts.accepted(), group);
    if (arrived < counts.accepted()) {
      rig.report()
          .fail(
              "%s: %,d requests were answered, but only %,d arrived"
                  .formatted(NAME, counts.accepted(), arrived));
    }
  }
}
