package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Http;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The benchmark's side of a {@link Receiver}.
 *
 * @param port where it is asked and told
 * @param postPort where it takes events
 */
record ReceiverProcess(Child child, int port, int postPort, Http http) {

  static ReceiverProcess of(Child child, Http http) {
    int port = child.awaitPort();
    int postPort = Integer.parseInt(http.ask(port, "/control/post-port"));
    return new ReceiverProcess(child, port, postPort, http);
  }

  /** What it has counted. */
  record Counts(Map<String, String> values) {

    long atNanos() {
      return value("at");
    }

    /** Events of a group that arrived, each counted once. */
    long numbers(char group) {
      return value("numbers." + group);
    }

    /** Arrivals of an event that had arrived before. */
    long repeats(char group) {
      return value("repeats." + group);
    }

    /** Requests that were answered with an error. */
    long failed(char group) {
      return value("failed." + group);
    }

    /** Requests that were left without an answer. */
    long hung(char group) {
      return value("hung." + group);
    }

    /** Those of them that nobody has given up yet. */
    long hanging(char group) {
      return value("hanging." + group);
    }

    long firstAtNanos(char group) {
      return value("first." + group);
    }

    long lastAtNanos(char group) {
      return value("last." + group);
    }

    Histogram latency(char group) {
      String text = values.get("latency." + group);
      return text == null ? Control.histogram() : Control.decode(text);
    }

    private long value(String name) {
      return Long.parseLong(values.getOrDefault(name, "0"));
    }
  }

  Counts counts() {
    return new Counts(Control.lines(http.ask(port, "/control/stats")));
  }

  /** Forgets everything, also how groups answer. */
  void reset() {
    http.ask(port, "/control/reset");
  }

  /** Forgets how long deliveries took until now. */
  void mark() {
    http.ask(port, "/control/mark");
  }

  void answer(char group, String how) {
    http.ask(port, "/control/answer?group=" + group + "&how=" + how);
  }

  String url(char group, int endpoint) {
    return "http://%s:%d/%c/%d".formatted(Control.LOCALHOST, postPort, group, endpoint);
  }

  /** The same over HTTPS, for events of the load. */
  String encryptedUrl(int endpoint) {
    return "https://%s:%d/%c/%d"
        .formatted(Control.LOCALHOST, encryptedPort(), Rig.EVENTS, endpoint);
  }

  int encryptedPort() {
    return Integer.parseInt(http.ask(port, "/control/https-port"));
  }
}
