package dev.holdfast.engine;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.engine.cluster.ClusterState;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an engine has measured since it was started, and what it finds when asked. Distributions of
 * times are in microseconds.
 *
 * @param attemptDuration how long attempts took
 * @param firstAttemptDelay from a message's acceptance to the start of its first attempt
 * @param deliveryDelay from a message's acceptance to the end of the attempt that delivered it
 * @param retryLateness how long after their slots retries started
 * @param failures attempts that failed, by what went wrong
 * @param changes how often endpoints came into a state
 * @param commitDuration how long batches took to be written, with their fsync
 * @param commitWrites how many writes batches had
 * @param dropped messages that were given up, by the reason
 * @param eventLoopLag how late the event loop came to what it was to do at a certain time
 * @param pathReadsWaiting reads for messages on their way that wait for their turn
 * @param historyReadsWaiting reads for people that wait for their turn
 * @param openConnections connections to endpoints, in use or kept
 * @param store what the store finds; absent when it did not answer in time
 * @param node what the node finds of itself among others; absent when it shares its store with
 *     nobody
 */
public record Measurements(
    Distribution attemptDuration,
    Distribution firstAttemptDelay,
    Distribution deliveryDelay,
    Distribution retryLateness,
    Map<Failure.Kind, Long> failures,
    Map<Health.State, Long> changes,
    Distribution commitDuration,
    Distribution commitWrites,
    Map<DropReason, Long> dropped,
    Distribution eventLoopLag,
    int pathReadsWaiting,
    int historyReadsWaiting,
    int openConnections,
    @Nullable StoreState store,
    ClusterState.@Nullable Own node) {

  /** The same with what a node has found of itself. */
  Measurements with(ClusterState.Own own) {
    return new Measurements(
        attemptDuration,
        firstAttemptDelay,
        deliveryDelay,
        retryLateness,
        failures,
        changes,
        commitDuration,
        commitWrites,
        dropped,
        eventLoopLag,
        pathReadsWaiting,
        historyReadsWaiting,
        openConnections,
        store,
        own);
  }

  /**
   * What the store finds when it is asked.
   *
   * @param databaseBytes the size of the database file
   * @param logBytes the size of the log that has not been moved into it
   * @param freeBytes what its disk has left
   * @param oldestUnfinished how long ago the oldest unfinished message was accepted
   * @param dueLag for how long the message that is due for longest has been due
   */
  public record StoreState(
      long databaseBytes,
      long logBytes,
      long freeBytes,
      Duration oldestUnfinished,
      Duration dueLag) {}

  /** Of an engine that has done nothing. */
  public static Measurements none() {
    return new Recorder().read(Map.of(), 0, 0, 0, null);
  }
}
