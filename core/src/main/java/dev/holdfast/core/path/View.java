package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Snapshot.Unfinished;
import java.util.List;
import java.util.Optional;

/**
 * What can be seen of the {@link Loop} from outside. Only its own thread may look. Where nodes
 * share a store, what is told of an endpoint's health and messages is true on the node that decides
 * for it, and may be old or nothing on the others.
 */
public interface View {

  Optional<Subscription> subscription(String tenant, long id);

  /** Subscriptions with an id below {@code before}, newest first. */
  List<Subscription> subscriptions(String tenant, long before, int limit);

  /**
   * Some of a tenant's subscriptions to one kind of event of one kind of object ({@link
   * dev.holdfast.core.model.ObjectEvent}), the oldest first, without so many before them.
   */
  Numbered objectSubscriptions(String tenant, long skipped, int limit);

  Optional<EndpointNow> endpoint(String tenant, long id);

  /** Endpoints with an id below {@code before}, newest first. */
  List<EndpointNow> endpoints(String tenant, long before, int limit);

  Gauges gauges();

  /** What there is of a tenant, as far as this node works on it. */
  TenantNow tenant(String tenant);

  /**
   * Some subscriptions of many.
   *
   * @param total how many there are
   */
  record Numbered(int total, List<Subscription> items) {}

  /** An endpoint and what waits for it. */
  record EndpointNow(Endpoint endpoint, Unfinished unfinished) {}

  /**
   * A tenant's unfinished messages, and its endpoints by their state.
   *
   * @param parked with those of paused subscriptions
   */
  record TenantNow(long pending, long waiting, long parked, int enabled, int disabled, int frozen) {
    public static final TenantNow NOTHING = new TenantNow(0, 0, 0, 0, 0, 0);
  }

  /**
   * Where the messages are, over all tenants, and what has been counted since the start.
   *
   * @param endpointsGone those whose last answer was 410 Gone
   */
  record Gauges(
      long pending,
      long waiting,
      long parked,
      int inFlight,
      int held,
      int timers,
      long bodyBytes,
      long sendingBytes,
      long acceptingBytes,
      int unwritten,
      int endpointsEnabled,
      int endpointsDisabled,
      int endpointsFrozen,
      int subscriptions,
      long eventsAccepted,
      long messagesAccepted,
      long delivered,
      long dropped,
      long attemptsSucceeded,
      long attemptsFailed,
      long refused,
      long refusedByQuota,
      int endpointsGone) {}
}
