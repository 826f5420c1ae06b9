package dev.holdfast.core.path;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How long deliveries took, in buckets that grow with the time: four to each doubling, so that a
 * time read from them is off by a quarter at most. The same buckets everywhere, so that what was
 * counted in several minutes, or by several nodes, can be added up.
 *
 * <p>Counting allocates nothing and takes a few steps whatever the time is. For one thread.
 */
public final class Delays {
  private static final int BITS = 2;
  private static final int PER_DOUBLING = 1 << BITS;

  /** Times from here on, more than twelve days, are in the last bucket. */
  private static final long LONGEST_MILLIS = 1L << 30;

  /** How many buckets there are. */
  public static final int BUCKETS = bucket(LONGEST_MILLIS - 1) + 1;

  private final long[] counts = new long[BUCKETS];

  /** Times below which so many percent of all are. */
  public record Percentiles(long p50Millis, long p95Millis, long p99Millis) {}

  private static int bucket(long millis) {
    if (millis < PER_DOUBLING) {
      return (int) Math.max(0, millis);
    }
    long value = Math.min(millis, LONGEST_MILLIS - 1);
    int doublings = Long.SIZE - 1 - Long.numberOfLeadingZeros(value) - BITS;
    return (doublings << BITS) + (int) (value >> doublings);
  }

  private static long lowest(int bucket) {
    if (bucket < PER_DOUBLING) {
      return bucket;
    }
    int doublings = (bucket >> BITS) - 1;
    return (long) (PER_DOUBLING + (bucket & (PER_DOUBLING - 1))) << doublings;
  }

  public void add(long millis) {
    counts[bucket(millis)]++;
  }

  /** Adds what another has counted. */
  public void add(Delays others) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      counts[bucket] += others.counts[bucket];
    }
  }

  /** Adds so many to a bucket. */
  public void add(int bucket, long count) {
    counts[bucket] += count;
  }

  /** How many are in a bucket. */
  public long count(int bucket) {
    return counts[bucket];
  }

  public void clear() {
    Arrays.fill(counts, 0);
  }

  /** Absent when nothing was counted. */
  public @Nullable Percentiles percentiles() {
    long all = 0;
    for (long count : counts) {
      all += count;
    }
    return all == 0
        ? null
        : new Percentiles(percentile(50, all), percentile(95, all), percentile(99, all));
  }

  /** As if the times in a bucket were spread over it evenly. */
  private long percentile(int percent, long all) {
    double wanted = all * (percent / 100.0);
    long below = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      long here = counts[bucket];
      if (here > 0 && below + here >= wanted) {
        long from = lowest(bucket);
        long width = lowest(bucket + 1) - from;
        return from + (long) ((width - 1) * (wanted - below) / here);
      }
      below += here;
    }
    throw new IllegalStateException("less was counted than there is");
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Delays delays && Arrays.equals(counts, delays.counts);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(counts);
  }
}
