package dev.holdfast.core.path;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lanes that have something to send, taken in turn: by tenant first and then by endpoint, so that a
 * tenant with many endpoints gets no more than its share.
 */
final class Ring {

  /**
   * Which rings there are: first attempts and retries, each to endpoints that are well and others.
   */
  enum Kind {
    FIRST_PROVEN,
    FIRST_UNPROVEN,
    RETRY_PROVEN,
    RETRY_UNPROVEN
  }

  private final Kind kind;
  private final Deque<Deque<Lane>> tenants = new ArrayDeque<>();
  private final Map<String, Deque<Lane>> byTenant = new HashMap<>();

  Ring(Kind kind) {
    this.kind = kind;
  }

  /** Puts a lane at the end of its tenant's turn, if it is not there. */
  void add(Lane lane) {
    if (!lane.rings.add(kind)) {
      return;
    }
    Deque<Lane> lanes = byTenant.computeIfAbsent(lane.endpoint.tenant(), _ -> new ArrayDeque<>());
    if (lanes.isEmpty()) {
      tenants.add(lanes);
    }
    lanes.add(lane);
  }

  /** Takes the lane whose turn it is out of the ring. */
  @Nullable Lane poll() {
    Deque<Lane> lanes = tenants.poll();
    if (lanes == null) {
      return null;
    }
    Lane lane = lanes.remove();
    lane.rings.remove(kind);
    if (!lanes.isEmpty()) {
      tenants.add(lanes);
    }
    return lane;
  }
}
