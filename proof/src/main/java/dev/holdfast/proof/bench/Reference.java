package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What the machine can do with Vert.x alone, nothing stored: others are given as a share of it.
 *
 * <p>Each question is answered once in a run, when somebody first asks. Ask while no other process
 * is busy.
 */
final class Reference {
  static final String NAME = "reference";

  /** The group that {@code /v1/events} falls into when a receiver stands in for the server. */
  private static final char BARE_SERVER = 'v';

  private final Rig rig;
  private final Map<String, Double> rates = new HashMap<>();
  private final Map<Integer, Histogram> answers = new HashMap<>();

  Reference(Rig rig) {
    this.rig = rig;
  }

  /** How many posts a second a bare client makes to the receiver. */
  double posts(int dataBytes) throws IOException {
    String name = "bare client, posts per second, %,d bytes of data".formatted(dataBytes);
    return rate(name, () -> bareClient(name, dataBytes, false, false));
  }

  /** The same over HTTPS, on connections that are kept or with a new one for each. */
  double encryptedPosts(boolean cold) throws IOException {
    String name =
        "bare client, posts per second, HTTPS, " + (cold ? "new connections" : "kept connections");
    return rate(name, () -> bareClient(name, LoadPlan.DATA_BYTES, true, cold));
  }

  /** How many requests a second a bare server answers. */
  double takes() throws IOException {
    String name = "bare server, requests per second";
    return rate(name, () -> bareServer(name));
  }

  /** How long a bare server takes to answer, at a rate that does not wait for it. */
  Histogram answers(int perSecond) throws IOException {
    Histogram known = answers.get(perSecond);
    if (known == null) {
      known = asReference(() -> bareAnswers(perSecond));
      answers.put(perSecond, known);
    }
    return known;
  }

  /**
   * Reports what share of the reference somebody reached.
   *
   * @param least the percentage that is hoped for, if there is a hope
   */
  void share(String scenario, String name, double rate, double bare, @Nullable Double least) {
    if (bare > 0) {
      Target target = least == null ? null : Target.atLeast(least);
      rig.report().add(scenario, name, 100 * rate / bare, "%", target);
    }
  }

  private interface Question<T> {
    T ask() throws IOException;
  }

  private double rate(String name, Question<Double> question) throws IOException {
    Double known = rates.get(name);
    if (known == null) {
      known = asReference(question);
      rates.put(name, known);
    }
    return known;
  }

  private <T> T asReference(Question<T> question) throws IOException {
    String before = rig.progress().currentScenario();
    rig.progress().scenario(NAME);
    try {
      return question.ask();
    } finally {
      rig.progress().scenario(before);
    }
  }

  private int seconds() {
    return Math.max(1, rig.settings().seconds / 3);
  }

  private double bareClient(String name, int dataBytes, boolean encrypted, boolean cold)
      throws IOException {
    rig.progress().step(name);
    ReceiverProcess receiver =
        encrypted ? rig.startReceiver(rig.newDirectory()) : rig.startReceiver();
    LoadProcess load = rig.startLoad();
    if (cold) {
      receiver.answer(Rig.EVENTS, "close");
    }
    int port = encrypted ? receiver.encryptedPort() : receiver.postPort();
    Window window =
        measure(BarePosts.plan(rig, port, dataBytes, encrypted), load, receiver, Rig.EVENTS);
    rig.report().add(NAME, name, window.deliveredPerSecond(), "/s");
    rig.report().add(NAME, "its CPU per post", window.cpuMicros(load.child()), "µs");
    rig.report().add(NAME, "receiver, CPU per request", window.cpuMicros(receiver.child()), "µs");
    end(load, receiver);
    return window.deliveredPerSecond();
  }

  private double bareServer(String name) throws IOException {
    rig.progress().step(name);
    ReceiverProcess server = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    server.answer(BARE_SERVER, "202");
    Window window =
        measure(
            LoadPlan.of(Kind.CLOSED_LOOP, server.port(), "none")
                .with(Setting.CONNECTIONS, rig.settings().connections)
                .with(Setting.ENDPOINTS, rig.settings().endpoints),
            load,
            server,
            BARE_SERVER);
    rig.report().add(NAME, name, window.acceptedPerSecond(), "/s");
    rig.report().add(NAME, "its CPU per request", window.cpuMicros(server.child()), "µs");
    rig.report().add(NAME, "load generator, CPU per request", window.cpuMicros(load.child()), "µs");
    end(load, server);
    return window.acceptedPerSecond();
  }

  private Histogram bareAnswers(int perSecond) throws IOException {
    rig.progress().step("bare server, %,d requests per second".formatted(perSecond));
    ReceiverProcess server = rig.startReceiver();
    LoadProcess load = rig.startLoad();
    server.answer(BARE_SERVER, "202");
    load.start(
        LoadPlan.of(Kind.OPEN_LOOP, server.port(), "none")
            .with(Setting.CONNECTIONS, LatencyScenario.CONNECTIONS)
            .with(Setting.ENDPOINTS, rig.settings().endpoints)
            .with(Setting.RATE, perSecond));
    rig.watch("warming up", rig.settings().warmUp);
    load.mark();
    rig.watch("measuring", seconds());
    Histogram taken = load.counts().latency();
    load.stop();
    end(load, server);
    Latency latency = Latency.of(taken);
    String name = "bare server, POST to 202 at %,d/s, ".formatted(perSecond);
    rig.report().add(NAME, name + "p50", latency.p50(), "ms");
    rig.report().add(NAME, name + "p99", latency.p99(), "ms");
    rig.report().add(NAME, name + "p99.9", latency.p999(), "ms");
    return taken;
  }

  private Window measure(LoadPlan plan, LoadProcess load, ReceiverProcess receiver, char group) {
    load.start(plan);
    rig.watch("warming up", rig.settings().warmUp);
    List<Child> children = List.of(load.child(), receiver.child());
    Window window = Window.measure(rig, load, receiver, group, children, seconds());
    LoadProcess.Counts counts = load.stop();
    long arrived = rig.awaitArrival(receiver, counts.accepted(), group);
    if (arrived < counts.accepted()) {
      rig.report()
          .fail(
              "%s: %,d requests were answered, but only %,d arrived"
                  .formatted(NAME, counts.accepted(), arrived));
    }
    return window;
  }

  private void end(LoadProcess load, ReceiverProcess receiver) {
    rig.stop(load.child());
    rig.stop(receiver.child());
  }
}
