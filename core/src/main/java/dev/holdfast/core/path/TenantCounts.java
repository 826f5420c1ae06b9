package dev.holdfast.core.path;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import org.jspecify.annotations.Nullable;

/**
 * What is counted of one tenant: what has happened since somebody last asked, and what there is.
 *
 * <p>It is on the path of every message: plain additions. Nothing is decided by it.
 */
final class TenantCounts {
  private final String tenant;
  private final Activities activities;

  /** What the store has of the tenant's messages, in lanes that this node works on. */
  final Tally tally = new Tally();

  /** How many lanes there are, whoever works on them. */
  int lanes;

  private int enabled;
  private int disabled;
  private int frozen;

  private long accepted;
  private long delivered;
  private long failed;
  private long dropped;
  private @Nullable Delays delays;
  private boolean counted;

  TenantCounts(String tenant, Activities activities) {
    this.tenant = tenant;
    this.activities = activities;
  }

  private void count() {
    if (!counted) {
      counted = true;
      activities.counted(this);
    }
  }

  /** An event is on disk. */
  void accepted() {
    count();
    accepted++;
  }

  /** A message was delivered, on disk. */
  void delivered(Message message, Attempt attempt) {
    count();
    delivered++;
    Delays known = delays;
    if (known == null) {
      known = new Delays();
      delays = known;
    }
    known.add(
        attempt.at().toEpochMilli()
            - message.createdAt().toEpochMilli()
            + attempt.durationMillis());
  }

  /** An attempt failed, on disk. */
  void failed() {
    count();
    failed++;
  }

  /** A message was given up, on disk. */
  void dropped() {
    count();
    dropped++;
  }

  /** What was counted since the last time; it begins anew. */
  Activity take() {
    Activity taken =
        new Activity(
            tenant, accepted, delivered, failed, dropped, delays == null ? new Delays() : delays);
    accepted = 0;
    delivered = 0;
    failed = 0;
    dropped = 0;
    delays = null;
    counted = false;
    return taken;
  }

  /** So many endpoints more, or less, are in a state. */
  void add(Health.State state, int change) {
    switch (state) {
      case ENABLED -> enabled += change;
      case DISABLED -> disabled += change;
      case FROZEN -> frozen += change;
    }
  }

  View.TenantNow now() {
    return new View.TenantNow(
        tally.pending(),
        tally.waiting(),
        (long) tally.parked() + tally.paused(),
        enabled,
        disabled,
        frozen);
  }
}
