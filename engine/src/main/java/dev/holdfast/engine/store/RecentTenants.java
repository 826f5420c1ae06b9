package dev.holdfast.engine.store;

import org.jspecify.annotations.Nullable;

/**
 * Whose events are that came in lately: nearly all that finishes is among them, and need not be
 * looked up. What comes later takes the place of what came before.
 */
final class RecentTenants {
  private static final int PLACES_BITS = 16;

  /** Spreads ids, whose low bits are nearly all the same, over the places. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private final long[] events = new long[1 << PLACES_BITS];
  private final @Nullable String[] tenants = new String[1 << PLACES_BITS];

  void put(long event, String tenant) {
    int place = place(event);
    events[place] = event;
    tenants[place] = tenant;
  }

  /** Absent when it is not known any more. */
  @Nullable String of(long event) {
    int place = place(event);
    return events[place] == event ? tenants[place] : null;
  }

  private static int place(long event) {
    return (int) ((event * SPREAD) >>> (Long.SIZE - PLACES_BITS));
  }
}
