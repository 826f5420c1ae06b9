package dev.holdfast.proof.simulation;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.path.Request.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Something that the world does at its time. What an action is about is named by a number that is
 * taken modulo what there is, so that an action means something whatever happened before it.
 */
sealed interface Action {

  Instant at();

  record Subscribe(Instant at, int endpoint, String type, @Nullable String subject)
      implements Action {}

  /** A subscription comes that wants what was accepted in the last while too. */
  record SubscribeSince(Instant at, int endpoint, String type, Duration back) implements Action {}

  /**
   * A subscription comes in the format that has versions.
   *
   * @param back it wants what was accepted in the last while too
   */
  record SubscribeIn(
      Instant at,
      Version version,
      int endpoint,
      String type,
      @Nullable String subject,
      @Nullable Duration back)
      implements Action {}

  /** A subscription gets a version, which may be the one that it has. */
  record ToVersion(Instant at, int which, Version version) implements Action {}

  /**
   * Many subscriptions get a version at once.
   *
   * @param which all, when there are none
   */
  record ManyToVersion(Instant at, List<Integer> which, Version version) implements Action {}

  record Unsubscribe(Instant at, int which) implements Action {}

  /** A subscription gets another URL. */
  record Redirect(Instant at, int which, int endpoint) implements Action {}

  /** A subscription gets another type. */
  record Retype(Instant at, int which, String type) implements Action {}

  /** A subscription is paused, or resumed. */
  record Pause(Instant at, int which, boolean paused) implements Action {}

  /**
   * Finished messages are replayed.
   *
   * @param byEndpoint those of an endpoint, else those of a subscription
   * @param recent only those of this time
   */
  record Replay(
      Instant at,
      int which,
      boolean byEndpoint,
      Set<Ending> endings,
      @Nullable Duration recent,
      boolean again)
      implements Action {}

  record CancelReplay(Instant at, int which) implements Action {}

  /**
   * Events are sent in one request.
   *
   * @param callerId a number for an id that the caller gives; other events may have the same
   * @param poison the store cannot keep it
   */
  record Submit(
      Instant at,
      String type,
      @Nullable String subject,
      int events,
      int padding,
      int callerId,
      boolean poison)
      implements Action {
    static final int NO_ID = -1;
  }

  record Operate(Instant at, int endpoint, Operation operation) implements Action {}

  /** Somebody limits the rate of an endpoint. */
  record LimitRate(Instant at, int endpoint, double perSecond) implements Action {}

  record RetryByHand(Instant at, int which) implements Action {}

  /** A receiver behaves so from now on. */
  record Behave(Instant at, int endpoint, Behaviour behaviour) implements Action {}

  /**
   * The process dies.
   *
   * @param effects how many more things it does before
   * @param down until it is started again
   */
  record Crash(Instant at, int effects, Duration down) implements Action {}

  /** The process is asked to end, and started again. */
  record Stop(Instant at, Duration down) implements Action {}

  /** The disk is full for a time. */
  record FillDisk(Instant at, Duration time) implements Action {}

  /** One in {@code oneIn} messages cannot be written about for a time. */
  record Poison(Instant at, Duration time, int oneIn) implements Action {}

  /** The next commit's answer never comes: nobody knows whether it is on disk. */
  record LoseCommit(Instant at, boolean written, Duration down) implements Action {}

  /** Commits, or reads, take up to so long for a time. */
  record SlowStore(Instant at, Duration time, Duration commits, Duration reads) implements Action {}

  /** One in {@code oneIn} reads fails for a time. */
  record FailReads(Instant at, Duration time, int oneIn) implements Action {}

  /** Somebody sets the machine's clock. */
  record SetClock(Instant at, Duration by) implements Action {}
}
