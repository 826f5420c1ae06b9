package dev.holdfast.engine.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a node has seen of the others' leases: who has not renewed his for so long that others may
 * take over.
 *
 * <p>The database's clock alone does not say so. It may jump, and when it was away nobody could
 * renew. So a lease is over when the clock says it and it has stood still for as long by the clock
 * of the one who looks. If it stands still for longer than it could have lasted, it is over even if
 * the clock, set back, does not say it.
 */
final class Sightings {
  /** A renewal is seen late, by up to the time from one look to the next. */
  private static final Duration SEEN_LATE = Duration.ofMillis(500);

  private static final Duration GRACE = Duration.ofSeconds(5);

  private final Duration lease;
  private Map<Long, Sighting> sightings = new HashMap<>();

  Sightings(Duration lease) {
    this.lease = lease;
  }

  /** A lease as it was when it was first seen to end then. */
  private record Sighting(long expiresMicros, Duration left, long sinceNanos) {}

  /** Takes in what is seen now; those whose leases are over. */
  List<Leases.Other> over(List<Leases.Other> others, long nowNanos) {
    Map<Long, Sighting> now = new HashMap<>();
    List<Leases.Other> over = new ArrayList<>();
    for (Leases.Other other : others) {
      Sighting before = sightings.get(other.id());
      Sighting seen =
          before != null && before.expiresMicros() == other.expiresMicros()
              ? before
              : new Sighting(other.expiresMicros(), other.left(), nowNanos);
      now.put(other.id(), seen);
      if (isOver(other, seen, nowNanos)) {
        over.add(other);
      }
    }
    sightings = now;
    return over;
  }

  private boolean isOver(Leases.Other other, Sighting seen, long nowNanos) {
    Duration still = Duration.ofNanos(nowNanos - seen.sinceNanos());
    if (other.left().isNegative()) {
      return still.compareTo(lease.minus(SEEN_LATE)) >= 0;
    }
    Duration longest = seen.left().compareTo(lease) > 0 ? seen.left() : lease;
    return still.compareTo(longest.plus(GRACE)) >= 0;
  }

  /** How long it is at least until a lease is over that was seen; zero when one may be. */
  Duration next(List<Leases.Other> others, long nowNanos) {
    Duration next = lease;
    for (Leases.Other other : others) {
      Sighting seen = sightings.get(other.id());
      if (seen != null) {
        Duration still = Duration.ofNanos(nowNanos - seen.sinceNanos());
        Duration left = max(lease.minus(SEEN_LATE).minus(still), other.left());
        next = left.compareTo(next) < 0 ? left : next;
      }
    }
    return max(next, Duration.ZERO);
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
