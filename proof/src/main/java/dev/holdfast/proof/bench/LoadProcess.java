package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.ProofException;
import java.time.Duration;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The benchmark's side of a {@link LoadGenerator}. */
record LoadProcess(Child child, int port, Http http) {

  /** What it has counted. */
  record Counts(Map<String, String> values) {

    long atNanos() {
      return value("at");
    }

    long sent() {
      return value("sent");
    }

    long accepted() {
      return value("accepted");
    }

    long refused() {
      return value("refused");
    }

    /** Events whose connection broke before an answer came. */
    long unknown() {
      return value("unknown");
    }

    long inFlight() {
      return value("flying");
    }

    /** The last answer that was not a 2xx. */
    String refusal() {
      return values.getOrDefault("refusal", "");
    }

    Histogram latency() {
      String text = values.get("latency");
      return text == null ? Control.histogram() : Control.decode(text);
    }

    private long value(String name) {
      return Long.parseLong(values.getOrDefault(name, "0"));
    }
  }

  void start(LoadPlan plan) {
    http.ask(port, "/control/start?" + plan.query());
  }

  Counts counts() {
    return new Counts(Control.lines(http.ask(port, "/control/stats")));
  }

  /** Forgets how long answers took until now. */
  void mark() {
    http.ask(port, "/control/mark");
  }

  /**
   * Ends sending and waits, within a limit, until everything sent is answered.
   *
   * @throws ProofException if the server was not fit to take all of it
   */
  Counts stop() {
    http.ask(port, "/control/stop");
    Counts counts = counts();
    for (int i = 0; i < 300 && counts.inFlight() > 0; i++) {
      Rig.pause(Duration.ofMillis(100));
      counts = counts();
    }
    checkTaken(counts.refusal());
    return counts;
  }

  /** One that cannot take events has not been measured. */
  private static void checkTaken(String refusal) {
    if (refusal.startsWith("HTTP/1.1 503")) {
      String next =
          refusal.contains("store-full") ? "choose a disk with more room by --data: " : "";
      throw new ProofException("the server could not take events; " + next + refusal);
    }
  }
}
