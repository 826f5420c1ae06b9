package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.rules.Pace;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Every endpoint's lane, and every message that is held in memory. */
final class Lanes {
  private final int laneInFlight;
  private final Loads loads;
  private final BodyCache bodies;
  private final Activities activities;
  private final Map<Long, Lane> byEndpoint = new HashMap<>();
  private final Map<String, Map<String, Lane>> byUrl = new HashMap<>();
  private final Map<String, NavigableMap<Long, Lane>> byTenant = new HashMap<>();
  private final Map<Long, Held> held = new HashMap<>();
  private final Tally tally = new Tally();

  /** What this node works on. */
  private Shards ours;

  Lanes(int laneInFlight, Loads loads, BodyCache bodies, Activities activities, Shards ours) {
    this.laneInFlight = laneInFlight;
    this.loads = loads;
    this.bodies = bodies;
    this.activities = activities;
    this.ours = ours;
  }

  /** The shards that this node works on. */
  Shards ours() {
    return ours;
  }

  /** Whether this node works on what has this id: an endpoint, an event, or a replay. */
  boolean isOurs(long id) {
    return ours.has(id);
  }

  /** This node works on other shards from now on. */
  void setOurs(Shards shards) {
    ours = shards;
    for (Lane lane : byEndpoint.values()) {
      lane.ours = shards.has(lane.endpoint.id());
      lane.recount();
    }
  }

  Lane add(Endpoint endpoint, boolean stored, @Nullable Unfinished known) {
    boolean isOurs = isOurs(endpoint.id());
    Unfinished counts = known == null || !isOurs ? Unfinished.NOTHING : known;
    TenantCounts tenant = activities.of(endpoint.tenant());
    Lane lane = new Lane(endpoint, stored, isOurs, counts, Pace.full(laneInFlight), tenant);
    tenant.lanes++;
    byEndpoint.put(endpoint.id(), lane);
    byUrl.computeIfAbsent(endpoint.tenant(), _ -> new HashMap<>()).put(endpoint.url(), lane);
    byTenant.computeIfAbsent(endpoint.tenant(), _ -> new TreeMap<>()).put(endpoint.id(), lane);
    tally.add(counts);
    return lane;
  }

  /** Takes back a lane whose endpoint could not be written. */
  void remove(Lane lane) {
    Endpoint endpoint = lane.endpoint;
    byEndpoint.remove(endpoint.id());
    lane.uncount();
    lane.tenant.lanes--;
    byUrl.getOrDefault(endpoint.tenant(), new HashMap<>()).remove(endpoint.url(), lane);
    lanesOf(endpoint.tenant()).remove(endpoint.id());
  }

  @Nullable Lane get(long endpoint) {
    return byEndpoint.get(endpoint);
  }

  /** The lane of an endpoint that a stored message or subscription names. */
  Lane of(long endpoint) {
    Lane lane = byEndpoint.get(endpoint);
    if (lane == null) {
      throw new IllegalStateException("a message names an endpoint that is not there: " + endpoint);
    }
    return lane;
  }

  @Nullable Lane withUrl(String tenant, String url) {
    Map<String, Lane> lanes = byUrl.get(tenant);
    return lanes == null ? null : lanes.get(url);
  }

  NavigableMap<Long, Lane> lanesOf(String tenant) {
    return byTenant.getOrDefault(tenant, new TreeMap<>());
  }

  Collection<Lane> all() {
    return byEndpoint.values();
  }

  @Nullable Held held(long message) {
    return held.get(key(message));
  }

  /** An id with its changing bits at the low end, where a hash map looks. */
  private static long key(long message) {
    return Long.rotateRight(message, Id.NODE_BITS);
  }

  int heldCount() {
    return held.size();
  }

  /** Holds a message that is in the store. */
  Held hold(Lane lane, Message message, Held.Place place) {
    Held entry = new Held(lane, message, place);
    held.put(key(message.id()), entry);
    lane.holding++;
    if (entry.stored == Status.PENDING) {
      lane.pendingHeld++;
    }
    return entry;
  }

  /** Holds a message no longer: it is finished, or the store has it and knows when it is due. */
  void letGo(Held entry) {
    held.remove(key(entry.message.id()));
    entry.lane.holding--;
    if (entry.stored == Status.PENDING) {
      entry.lane.pendingHeld--;
    }
    bodies.letGo(entry);
  }

  /** The store has new messages of the lane. */
  void counted(Lane lane, Status status, int change) {
    lane.tally.add(status, change);
    lane.tenant.tally.add(status, change);
    tally.add(status, change);
  }

  /** The store has the message as it was decided. */
  void stored(Held entry) {
    loads.written(entry.message.id());
    Status now = entry.message.status();
    if (entry.stored == now) {
      return;
    }
    if (entry.stored == Status.PENDING) {
      entry.lane.pendingHeld--;
    }
    counted(entry.lane, entry.stored, -1);
    counted(entry.lane, now, 1);
    entry.stored = now;
  }

  /** The store has the message as finished. */
  void finished(Held entry) {
    loads.written(entry.message.id());
    counted(entry.lane, entry.stored, -1);
    letGo(entry);
  }

  /** All that is held of lanes that this node does not work on. */
  List<Held> heldOfOthers() {
    return held.values().stream().filter(entry -> !entry.lane.ours).toList();
  }

  /** The store has this of a lane that this node begins to work on. */
  void begin(Lane lane, Unfinished unfinished) {
    end(lane);
    lane.tally.add(unfinished);
    lane.tenant.tally.add(unfinished);
    tally.add(unfinished);
  }

  /** Forgets what was known of the messages of a lane that this node works on no longer. */
  void end(Lane lane) {
    Unfinished counts = lane.tally.unfinished();
    for (Status status : Status.values()) {
      counted(lane, status, -counts.of(status));
    }
    lane.reset(Pace.full(laneInFlight));
  }

  /** What the store has of all lanes that this node works on. */
  Tally tally() {
    return tally;
  }
}
