package dev.holdfast.server.api;

import dev.holdfast.engine.Distribution;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.function.Supplier;

/**
 * Histograms that were counted elsewhere, in buckets of their own. Micrometer has no place for
 * them, so Prometheus is told directly.
 */
final class Histograms {
  private static final double MICROS_PER_SECOND = 1e6;

  private final PrometheusRegistry registry;

  Histograms(PrometheusRegistry registry) {
    this.registry = registry;
  }

  /** Registers a distribution of times in microseconds, which are told in seconds. */
  void times(String name, String help, Supplier<Distribution> distribution) {
    register(name, help, MICROS_PER_SECOND, distribution);
  }

  /** Registers a distribution of numbers. */
  void numbers(String name, String help, Supplier<Distribution> distribution) {
    register(name, help, 1, distribution);
  }

  private void register(
      String name, String help, double perUnit, Supplier<Distribution> distribution) {
    Collector collector = () -> snapshot(name, help, perUnit, distribution.get());
    registry.register(collector);
  }

  private static MetricSnapshot snapshot(
      String name, String help, double perUnit, Distribution distribution) {
    long[] bounds = distribution.bounds();
    double[] upper = new double[bounds.length + 1];
    for (int i = 0; i < bounds.length; i++) {
      upper[i] = bounds[i] / perUnit;
    }
    upper[bounds.length] = Double.POSITIVE_INFINITY;
    return HistogramSnapshot.builder()
        .name(name)
        .help(help)
        .dataPoint(
            HistogramDataPointSnapshot.builder()
                .classicHistogramBuckets(ClassicHistogramBuckets.of(upper, distribution.counts()))
                .sum(distribution.sum() / perUnit)
                .build())
        .build();
  }
}
