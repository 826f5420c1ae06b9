package dev.holdfast.proof.bench;

import org.HdrHistogram.Histogram;

/** What a load generator sends by one plan, and what it counts while it does. */
abstract class Traffic {
  private static final int LONGEST_REFUSAL = 600;

  private final Histogram latency = Control.histogram();
  private long sent;
  private long accepted;
  private long refused;
  private long unknown;
  private String refusal = "";

  abstract void start();

  /** Sends nothing more; what is in flight is still counted. */
  abstract void stop();

  /** Gives back what it holds. */
  abstract void close();

  final void sending(int events) {
    sent += events;
  }

  final void accepted(int events, long sinceNanos) {
    accepted += events;
    Control.record(latency, System.nanoTime() - sinceNanos);
  }

  final void refused(int events, String answer) {
    refused += events;
    refusal = answer;
  }

  /** The server may have accepted them or not. */
  final void unknown(int events) {
    unknown += events;
  }

  final long sent() {
    return sent;
  }

  final long accepted() {
    return accepted;
  }

  final long inFlight() {
    return sent - accepted - refused - unknown;
  }

  /** Forgets how long answers took until now. */
  final void mark() {
    latency.reset();
  }

  final void describe(StringBuilder text) {
    text.append("at ").append(System.nanoTime()).append('\n');
    text.append("sent ").append(sent).append('\n');
    text.append("accepted ").append(accepted).append('\n');
    text.append("refused ").append(refused).append('\n');
    text.append("unknown ").append(unknown).append('\n');
    text.append("flying ").append(inFlight()).append('\n');
    if (!refusal.isEmpty()) {
      String beginning = refusal.substring(0, Math.min(refusal.length(), LONGEST_REFUSAL));
      text.append("refusal ").append(beginning.replaceAll("\\s+", " ")).append('\n');
    }
    text.append("latency ").append(Control.encode(latency)).append('\n');
  }
}
