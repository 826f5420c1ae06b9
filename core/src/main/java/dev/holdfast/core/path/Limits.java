package dev.holdfast.core.path;

import java.time.Duration;

/**
 * How much of everything there may be. Nothing on the path grows without one of these.
 *
 * @param inFlight attempts under way at once, over all endpoints; each holds a connection
 * @param inFlightUnproven of these, how many may go to endpoints whose last attempt did not succeed
 * @param laneInFlight attempts under way at once to one endpoint
 * @param laneWindow messages of one endpoint that are held in memory ahead of being sent, per queue
 * @param held messages held in memory over all endpoints; beyond it a lane holds only {@code
 *     laneMinimum}
 * @param laneMinimum see {@code held}
 * @param bodyBytes events kept in memory from acceptance until they are sent
 * @param sendingBytes events of attempts under way
 * @param startsInAStep messages taken to be attempted in one step of the loop, so that what comes
 *     in meanwhile is heard before the next ones start
 * @param answersInAStep answers in one step to those whose events are on disk, for the same reason
 * @param batchWrites writes in one batch
 * @param batchBytes event bytes in one batch
 * @param batchEvery from the beginning of one batch to that of the next, unless one alone waits for
 *     an answer
 * @param acceptingBytes event bytes accepted but not on disk yet; beyond it requests are refused,
 *     and before that those of tenants that have more than their share ({@link Admission})
 * @param unwritten writes that wait for a batch; beyond it no attempt starts
 * @param timers waiting messages held in memory because they are due soon
 * @param horizon how far ahead due messages are loaded
 * @param loads reads from the store under way at once
 * @param sweep messages parked or dropped at once because something happened to all of them
 * @param matchesAtOnce messages of one event that are made in one commit; more are made in steps
 * @param spreading messages that wait to be made in steps; beyond it events that need them are
 *     refused
 * @param retryStoreAfter how long to wait after the store failed
 * @param bothVersions how long after a change of its version a subscription gets each event in both
 */
public record Limits(
    int inFlight,
    int inFlightUnproven,
    int laneInFlight,
    int laneWindow,
    int held,
    int laneMinimum,
    long bodyBytes,
    long sendingBytes,
    int startsInAStep,
    int answersInAStep,
    int batchWrites,
    long batchBytes,
    Duration batchEvery,
    long acceptingBytes,
    int unwritten,
    int timers,
    Duration horizon,
    int loads,
    int sweep,
    int matchesAtOnce,
    int spreading,
    Duration retryStoreAfter,
    Duration bothVersions) {

  /** Attempts under way at once where the system allows as many connections. */
  private static final int IN_FLIGHT = 16_384;

  /** 800 batches a second while several wait: with checkpoints, fewer than a thousand fsyncs. */
  private static final Duration BATCH_EVERY = Duration.ofNanos(1_250_000);

  /** Headers of its own that one subscription's messages are sent with. */
  public static final int HEADERS = 20;

  /**
   * How long after a change of what everyone knows another node may still have written something
   * that it had decided before.
   */
  public static final Duration OTHERS_CATCH_UP = Duration.ofSeconds(10);

  /** How far the clocks of nodes, which they set by their store, may be apart. */
  public static final Duration CLOCKS_APART = Duration.ofSeconds(1);

  /** How long requests wait for what another node has changed to be read. */
  public static final Duration NEWS_WITHIN = Duration.ofSeconds(5);

  /** What other nodes have left that is read at once. */
  public static final int ARRIVALS = 1_000;

  /** Subscriptions of one tenant that are being brought what was before them, at once. */
  public static final int HISTORIES = 100;

  /** Secrets of one subscription that are valid at once. */
  public static final int VALID_SECRETS = 10;

  /** How long each event goes out in both versions, unless somebody has set it otherwise. */
  public static final Duration BOTH_VERSIONS = Duration.ofMinutes(5);

  /** Subscriptions of one tenant whose version is changed at once. */
  public static final int VERSION_CHANGES = 10_000;

  /** The same, with no more attempts under way at once than this. */
  public Limits withInFlight(int most) {
    int fewer = Math.min(inFlight, most);
    return with(
        fewer,
        Math.min(inFlightUnproven, unproven(fewer)),
        batchBytes,
        batchEvery,
        acceptingBytes,
        bothVersions);
  }

  /** The same, with batches so far apart. */
  public Limits withBatchEvery(Duration duration) {
    return with(inFlight, inFlightUnproven, batchBytes, duration, acceptingBytes, bothVersions);
  }

  /** The same, with each event in both versions for so long. */
  public Limits withBothVersions(Duration duration) {
    return with(inFlight, inFlightUnproven, batchBytes, batchEvery, acceptingBytes, duration);
  }

  /** The same, with so many bytes accepted but not on disk yet. */
  public Limits withAcceptingBytes(long bytes) {
    long smaller = Math.min(batchBytes, Math.max(1, bytes / 2));
    return with(inFlight, inFlightUnproven, smaller, batchEvery, bytes, bothVersions);
  }

  private Limits with(
      int attempts, int unproven, long batch, Duration every, long accepting, Duration both) {
    return new Limits(
        attempts,
        unproven,
        laneInFlight,
        laneWindow,
        held,
        laneMinimum,
        bodyBytes,
        sendingBytes,
        startsInAStep,
        answersInAStep,
        batchWrites,
        batch,
        every,
        accepting,
        unwritten,
        timers,
        horizon,
        loads,
        sweep,
        matchesAtOnce,
        spreading,
        retryStoreAfter,
        both);
  }

  /** Most of all, and still thousands for endpoints that are known to answer. */
  private static int unproven(int inFlight) {
    return Math.max(1, inFlight / 4 * 3);
  }

  /** Limits for a process with this much heap: an eighth of it for each kind of event bytes. */
  public static Limits forHeap(long heapBytes, int laneInFlight) {
    long share = Math.max(16L << 20, heapBytes / 8);
    return new Limits(
        IN_FLIGHT,
        unproven(IN_FLIGHT),
        laneInFlight,
        512,
        100_000,
        64,
        share,
        share,
        128,
        32,
        4_000,
        Math.min(share / 2, 16L << 20),
        BATCH_EVERY,
        share,
        50_000,
        50_000,
        Duration.ofSeconds(30),
        8,
        1_000,
        1_000,
        1_000_000,
        Duration.ofSeconds(1),
        BOTH_VERSIONS);
  }
}
