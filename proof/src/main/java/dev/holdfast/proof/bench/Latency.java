package dev.holdfast.proof.bench;

import org.HdrHistogram.Histogram;

/** How long something took, in milliseconds. */
record Latency(double p50, double p99, double p999, double max) {
  private static final double NANOS_PER_MILLI = 1e6;

  static Latency of(Histogram histogram) {
    return new Latency(
        histogram.getValueAtPercentile(50) / NANOS_PER_MILLI,
        histogram.getValueAtPercentile(99) / NANOS_PER_MILLI,
        histogram.getValueAtPercentile(99.9) / NANOS_PER_MILLI,
        histogram.getMaxValue() / NANOS_PER_MILLI);
  }
}
