package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.rules.Pace;
import dev.holdfast.core.rules.TokenBucket;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint's queues: first attempts in the order of acceptance, and apart from them what is due
 * again. The queues are windows; the rest of what waits for the endpoint is in the store.
 */
final class Lane {
  Endpoint endpoint;

  /** Whether this node decides for it and works on it. */
  boolean ours;

  /** How many of its messages are held in memory. */
  int holding;

  /** Its settings as another node has left them while this one is changing them. */
  @Nullable Endpoint learned;

  /** Whether the store has the endpoint; it has not until its first subscription is written. */
  boolean stored;

  /** What somebody has set about it and that is not on disk yet. */
  List<Deed> deeds = List.of();

  final Deque<Held> first = new ArrayDeque<>(4);
  final Deque<Held> retry = new ArrayDeque<>(4);

  /**
   * Taken from the queues, but this node has not heard of their subscriptions. They count as if
   * they were still there, so that no more are read in their place.
   */
  final Deque<Held> unheard = new ArrayDeque<>(0);

  /** Taken from the queues in this order, but an event of theirs is still being read. */
  final Deque<Held> awaitingEvent = new ArrayDeque<>(4);

  Pace pace;

  /** Taken from the queues: being sent, or soon. */
  int inFlight;

  /** Whether its last attempt succeeded. */
  boolean proven;

  /** When the bucket of its rate limit is full again. */
  Instant bucketFullAt = TokenBucket.FULL;

  /** Until when its rate limit keeps it from sending; absent while it does not. */
  @Nullable Instant limitedUntil;

  /** Probes, and retries by hand, that wait for its rate limit. */
  @Nullable Deque<Held> urgentLater;

  /** What the store has of it. */
  final Tally tally = new Tally();

  /** How many of the pending ones are held in memory. */
  int pendingHeld;

  boolean loadingPending;

  /** There may be due messages in the store that are in no queue. */
  boolean backlog;

  boolean loadingBacklog;

  /**
   * The earliest time that the timer has passed although a message due then is in the store only,
   * because the backlog will bring it; absent when there is none.
   */
  @Nullable Instant leftBehind;

  /** How often the backlog was begun from its start. */
  int backlogPass;

  /** The pass that is being loaded for. */
  int loadingBacklogPass;

  /** How far the backlog has been loaded. */
  BacklogCursor backlogCursor = BacklogCursor.START;

  /** The lane waits in line to have its windows filled. */
  boolean wantsRefill;

  boolean probing;
  boolean loadingProbe;

  /** The dispatcher's rings that the lane stands in. */
  final Set<Ring.Kind> rings = EnumSet.noneOf(Ring.Kind.class);

  /** What is counted of its tenant. */
  final TenantCounts tenant;

  /** The state that it is counted with among the tenant's endpoints; absent while it is not. */
  private Health.@Nullable State counted;

  Lane(
      Endpoint endpoint,
      boolean stored,
      boolean ours,
      Unfinished unfinished,
      Pace pace,
      TenantCounts tenant) {
    this.endpoint = endpoint;
    this.stored = stored;
    this.ours = ours;
    this.tally.add(unfinished);
    this.pace = pace;
    this.tenant = tenant;
    tenant.tally.add(unfinished);
    recount();
  }

  /** The store has the endpoint now. */
  void nowStored() {
    stored = true;
    recount();
  }

  /**
   * Counts it among the tenant's endpoints as it is now: to be called when its state, whether the
   * store has it, or whether it is ours has changed. May be called more often.
   */
  void recount() {
    count(stored && ours ? endpoint.health().state() : null);
  }

  /** It is no endpoint of the tenant's after all. */
  void uncount() {
    count(null);
  }

  private void count(Health.@Nullable State state) {
    if (state == counted) {
      return;
    }
    if (counted != null) {
      tenant.add(counted, -1);
    }
    if (state != null) {
      tenant.add(state, 1);
    }
    counted = state;
  }

  /** Forgets how far its messages were; what is held of it stays counted. */
  void reset(Pace full) {
    pace = full;
    proven = false;
    limitedUntil = null;
    loadingPending = false;
    backlog = false;
    loadingBacklog = false;
    leftBehind = null;
    backlogPass++;
    backlogCursor = BacklogCursor.START;
    loadingProbe = false;
  }

  Health health() {
    return endpoint.health();
  }

  /** How many attempts are under way. */
  int started() {
    return inFlight - awaitingEvent.size();
  }

  /** What its rate limit allows; absent when it has none. */
  @Nullable TokenBucket bucket() {
    RateLimit limit = endpoint.rateLimit();
    return limit == null ? null : TokenBucket.spaced(limit);
  }

  boolean isOpen() {
    return endpoint.health().isEnabled();
  }

  /** Leaves a message to the backlog. */
  void leaveBehind(Message message) {
    Instant due = message.due();
    if (due != null && (leftBehind == null || due.isBefore(leftBehind))) {
      leftBehind = due;
    }
  }

  /** How many it has in memory of what was never tried. */
  int firstSize() {
    return first.size() + unheard.size();
  }

  /** How many it has in memory of what is due again. */
  int retrySize() {
    return retry.size() + unheard.size();
  }

  /** Pending messages that are only in the store. */
  int pendingUnheld() {
    return tally.pending() - pendingHeld;
  }
}
