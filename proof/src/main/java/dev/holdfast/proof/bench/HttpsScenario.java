package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What encryption costs: the same load over plain HTTP and over HTTPS, one after the other.
 *
 * <p>Warm, connections are kept. Cold, the receiver closes each after its answer, so that every
 * message needs a new one.
 */
final class HttpsScenario implements Scenario {

  /** Much less than a second's worth, so that there is little to wait for between the two. */
  private static final int MAX_UNDELIVERED = 5_000;

  private final String name;
  private final boolean cold;

  private HttpsScenario(String name, boolean cold) {
    this.name = name;
    this.cold = cold;
  }

  static HttpsScenario warm() {
    return new HttpsScenario("https", false);
  }

  static HttpsScenario cold() {
    return new HttpsScenario("https-cold", true);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String about() {
    return "messages delivered per second over HTTPS, compared with plain HTTP, "
        + (cold ? "with a new connection for each" : "on connections that are kept");
  }

  @Override
  public void run(Rig rig) throws IOException {
    double posts = rig.reference().encryptedPosts(cold);
    Turns turns = new Turns(rig, rig.newDirectory());
    if (cold) {
      turns.receiver.answer(Rig.EVENTS, "close");
    }
    Window plain = turns.measure(false);
    Window encrypted = turns.measure(true);
    Report report = rig.report();
    report.add(name, "delivered per second, HTTP", plain.deliveredPerSecond(), "/s");
    report.add(name, "delivered per second, HTTPS", encrypted.deliveredPerSecond(), "/s");
    report.add(
        name,
        "HTTPS / HTTP",
        plain.delivered() == 0 ? 0 : encrypted.deliveredPerSecond() / plain.deliveredPerSecond(),
        "");
    rig.reference()
        .share(
            name, "share of the bare client, HTTPS", encrypted.deliveredPerSecond(), posts, null);
    turns.cpu("HTTP", plain);
    turns.cpu("HTTPS", encrypted);
    rig.settle(turns.receiver, turns.last, turns.accepted, Rig.EVENTS);
  }

  /** The two turns of one run: a server for each, and the same receiver. */
  private static final class Turns {
    private final Rig rig;
    private final Path certificate;
    private final ReceiverProcess receiver;
    private final LoadProcess load;
    private long sent;
    private long accepted;
    private LoadProcess.Counts last;

    Turns(Rig rig, Path directory) throws IOException {
      this.rig = rig;
      this.receiver = rig.startReceiver(directory);
      this.certificate = TestAuthority.in(directory).certificate();
      this.load = rig.startLoad();
      this.last = load.counts();
    }

    Window measure(boolean encrypted) throws IOException {
      Settings settings = rig.settings();
      ServerProcess server = rig.startServer(rig.newPlace(), "egress.trust=" + certificate);
      for (int i = 0; i < settings.endpoints; i++) {
        String url = encrypted ? receiver.encryptedUrl(i) : receiver.url(Rig.EVENTS, i);
        server.subscribe(url, LoadPlan.type(i));
      }
      load.start(
          LoadPlan.of(Kind.CLOSED_LOOP, server.port(), server.key())
              .with(Setting.RECEIVER_PORT, receiver.port())
              .with(Setting.CONNECTIONS, settings.batchConnections)
              .with(Setting.BATCH, settings.batch)
              .with(Setting.ENDPOINTS, settings.endpoints)
              .with(Setting.MAX_UNDELIVERED, Math.min(MAX_UNDELIVERED, settings.maxUndelivered))
              .with(Setting.FIRST_NUMBER, Math.toIntExact(sent)));
      String what = encrypted ? "HTTPS" : "HTTP";
      rig.watch(what + ", warming up", settings.warmUp);
      List<Child> children = List.of(server.child(), load.child(), receiver.child());
      int seconds = Math.max(1, settings.seconds / 2);
      Window window =
          Window.measure(rig, load, receiver, Rig.EVENTS, children, seconds, accepted, what);
      last = load.stop();
      sent += last.sent();
      accepted += last.accepted();
      rig.awaitArrival(receiver, accepted, Rig.EVENTS);
      rig.stop(server.child());
      return window;
    }

    void cpu(String what, Window window) {
      String scenario = rig.progress().currentScenario();
      window
          .usage()
          .forEach(
              (process, used) ->
                  rig.report()
                      .add(
                          scenario,
                          "%s, CPU per message, %s".formatted(process, what),
                          used.cpuMicrosPer(window.delivered()),
                          "µs"));
    }
  }
}
