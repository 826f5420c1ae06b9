package dev.holdfast.engine.cluster;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Learns what other nodes have changed of what everyone knows. What is learned is told in the order
 * of its versions, whoever asked for it.
 */
final class Learning {
  /**
   * After this time nothing can be learned any more but all of it: the store tells for an hour that
   * nothing is left of a subscription.
   */
  private static final Duration LONGEST = Duration.ofMinutes(30);

  private final Source source;
  private final Consumer<Input> told;
  private final LongSupplier nanos;

  /** Whoever renews the lease looks at it, and does not wait while something is learned. */
  private volatile long known;

  private volatile long learnedNanos;

  /** Where changes are read. */
  @FunctionalInterface
  interface Source {
    /** What has changed after a version. */
    Known changes(long since) throws StoreException;
  }

  /**
   * @param nanos a clock that never goes back
   */
  Learning(Source source, Consumer<Input> told, LongSupplier nanos) {
    this.source = source;
    this.told = told;
    this.nanos = nanos;
    this.learnedNanos = nanos.getAsLong();
  }

  /** Begins anew with a path that knows all up to a version. */
  synchronized void begin(long version) {
    known = version;
    learnedNanos = nanos.getAsLong();
  }

  /** For how long nothing could be learned. */
  Duration since() {
    return Duration.ofNanos(nanos.getAsLong() - learnedNanos);
  }

  /** Learns what there is to be learned; when it returns, the path has been told. */
  void learn() throws StoreException {
    learn(false);
  }

  /** The same; the path is told also if that is nothing, as it waits for it. */
  void learnForSure() throws StoreException {
    learn(true);
  }

  private synchronized void learn(boolean isAwaited) throws StoreException {
    if (since().compareTo(LONGEST) > 0) {
      throw new StoreException(
          StoreException.Kind.FENCED,
          "what others have changed could not be read for " + since().toMinutes() + " minutes",
          new IllegalStateException());
    }
    long asked = nanos.getAsLong();
    Known changes = source.changes(known);
    learnedNanos = asked;
    if (isAwaited || changes.version() > known) {
      long since = known;
      known = changes.version();
      told.accept(new Input.Learned(since, changes));
    }
  }

  long version() {
    return known;
  }
}
