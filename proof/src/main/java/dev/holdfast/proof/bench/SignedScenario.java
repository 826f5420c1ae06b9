package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What signatures cost: the same load to subscriptions whose messages are not signed, and to others
 * that differ in nothing but that theirs are, in turns on one server.
 */
final class SignedScenario implements Scenario {
  private static final String NAME = "signed";

  /** Much less than a second's worth, so that there is little to wait for between the turns. */
  private static final int MAX_UNDELIVERED = 5_000;

  /** Speed that signatures may cost. */
  private static final double LEAST_RATIO = 0.95;

  /** Ways to sign. */
  private enum Way {
    NOT,
    V1,
    V1A
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String about() {
    return "messages delivered per second, signed, compared with messages that are not";
  }

  @Override
  public void run(Rig rig) throws IOException {
    Turns turns = new Turns(rig);
    int seconds = Math.max(1, rig.settings().seconds / rig.settings().rounds);
    // A server that has just started gets faster with each turn: that counts for neither.
    turns.measure(Way.NOT, 1);
    turns.measure(Way.V1, 1);
    turns.windows.clear();
    for (int round = 0; round < rig.settings().rounds; round++) {
      turns.measure(round % 2 == 0 ? Way.NOT : Way.V1, seconds);
      turns.measure(round % 2 == 0 ? Way.V1 : Way.NOT, seconds);
    }
    turns.measure(Way.V1A, seconds);
    Report report = rig.report();
    for (Way way : Way.values()) {
      report.add(NAME, "delivered per second, " + turns.name(way), turns.rate(way), "/s");
      report.add(NAME, "server, CPU per message, " + turns.name(way), turns.cpu(way), "µs");
    }
    report.add(
        NAME,
        "v1 / not signed",
        ratio(turns.rate(Way.V1), turns.rate(Way.NOT)),
        "",
        Target.atLeast(LEAST_RATIO));
    report.add(NAME, "v1a / not signed", ratio(turns.rate(Way.V1A), turns.rate(Way.NOT)), "");
    rig.settle(turns.receiver, turns.last, turns.accepted, Rig.EVENTS);
  }

  private static double ratio(double one, double other) {
    return other == 0 ? 0 : one / other;
  }

  /** The turns of one run: one server, with as many endpoints for each way. */
  private static final class Turns {
    private final Rig rig;
    private final ServerProcess server;
    private final ReceiverProcess receiver;
    private final LoadProcess load;
    private final Map<Way, List<Window>> windows = new EnumMap<>(Way.class);
    private long sent;
    private long accepted;
    private LoadProcess.Counts last;

    Turns(Rig rig) throws IOException {
      this.rig = rig;
      this.server = rig.startServer(rig.newPlace());
      this.receiver = rig.startReceiver();
      this.load = rig.startLoad();
      this.last = load.counts();
      for (Way way : Way.values()) {
        int first = firstEndpoint(way);
        for (int i = first; i < first + rig.settings().endpoints; i++) {
          String url = receiver.url(Rig.EVENTS, i);
          switch (way) {
            case NOT -> server.subscribePlain(url, i);
            case V1 -> server.subscribeSigned(url, i, "v1");
            case V1A -> server.subscribeSigned(url, i, "v1a");
          }
        }
      }
    }

    private int firstEndpoint(Way way) {
      int before =
          switch (way) {
            case NOT -> 0;
            case V1 -> 1;
            case V1A -> 2;
          };
      return before * rig.settings().endpoints;
    }

    void measure(Way way, int seconds) {
      Settings settings = rig.settings();
      load.start(
          LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
              .with(Setting.RECEIVER_PORT, receiver.port())
              .with(Setting.CONNECTIONS, settings.batchConnections)
              .with(Setting.BATCH, settings.batch)
              .with(Setting.ENDPOINTS, settings.endpoints)
              .with(Setting.FIRST_ENDPOINT, firstEndpoint(way))
              .with(Setting.MAX_UNDELIVERED, Math.min(MAX_UNDELIVERED, settings.maxUndelivered))
              .with(Setting.FIRST_NUMBER, Math.toIntExact(sent)));
      rig.watch(name(way) + ", warming up", settings.warmUp);
      List<Child> children = List.of(server.child(), load.child(), receiver.child());
      Window window =
          Window.measure(rig, load, receiver, Rig.EVENTS, children, seconds, accepted, name(way));
      windows.computeIfAbsent(way, _ -> new ArrayList<>()).add(window);
      last = load.stop();
      sent += last.sent();
      accepted += last.accepted();
      rig.awaitArrival(receiver, accepted, Rig.EVENTS);
    }

    String name(Way way) {
      return switch (way) {
        case NOT -> "not signed";
        case V1 -> "v1";
        case V1A -> "v1a";
      };
    }

    double rate(Way way) {
      return mean(way, Window::deliveredPerSecond);
    }

    double cpu(Way way) {
      return mean(way, window -> window.cpuMicros(server.child()));
    }

    private double mean(Way way, ToDoubleFunction<Window> figure) {
      return windows.getOrDefault(way, List.of()).stream().mapToDouble(figure).average().orElse(0);
    }
  }
}
