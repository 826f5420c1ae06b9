package dev.holdfast.engine;

/**
 * How often a value was how large, in fixed buckets: counts in an array, so that adding one costs
 * next to nothing. For one thread.
 */
final class Histogram {
  private final long[] bounds;
  private final long[] counts;
  private long sum;

  /**
   * @param bounds the largest value of each bucket, ascending; one more bucket takes the rest
   */
  Histogram(long... bounds) {
    this.bounds = bounds.clone();
    this.counts = new long[bounds.length + 1];
  }

  void add(long value) {
    int bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) {
      bucket++;
    }
    counts[bucket]++;
    sum += value;
  }

  Distribution read() {
    return new Distribution(bounds.clone(), counts.clone(), sum);
  }
}
