package dev.holdfast.server.api;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.Snapshot.Unfinished;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Sees an engine that has these endpoints and subscriptions and nothing else, and counts that are
 * all different.
 */
final class FakeView implements View {
  private final NavigableMap<Long, Subscription> subscriptions = new TreeMap<>();
  private final NavigableMap<Long, EndpointNow> endpoints = new TreeMap<>();

  /** Called for each list of endpoints. */
  Runnable whenListed = () -> {};

  /** How many endpoints a tenant is said to have. */
  int enabled;

  void add(Endpoint endpoint) {
    add(endpoint, Unfinished.NOTHING);
  }

  void add(Endpoint endpoint, Unfinished unfinished) {
    endpoints.put(endpoint.id(), new EndpointNow(endpoint, unfinished));
  }

  void add(Subscription subscription) {
    subscriptions.put(subscription.id(), subscription);
  }

  @Override
  public Optional<Subscription> subscription(String tenant, long id) {
    return Optional.ofNullable(subscriptions.get(id))
        .filter(subscription -> subscription.tenant().equals(tenant));
  }

  @Override
  public List<Subscription> subscriptions(String tenant, long before, int limit) {
    return List.of();
  }

  @Override
  public Numbered objectSubscriptions(String tenant, long skipped, int limit) {
    return new Numbered(0, List.of());
  }

  @Override
  public Optional<EndpointNow> endpoint(String tenant, long id) {
    return Optional.ofNullable(endpoints.get(id))
        .filter(now -> now.endpoint().tenant().equals(tenant));
  }

  @Override
  public List<EndpointNow> endpoints(String tenant, long before, int limit) {
    whenListed.run();
    List<EndpointNow> found = new ArrayList<>();
    for (EndpointNow now : endpoints.headMap(before, false).descendingMap().values()) {
      if (found.size() == limit) {
        break;
      }
      found.add(now);
    }
    return found;
  }

  @Override
  public Gauges gauges() {
    return new Gauges(
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23);
  }

  @Override
  public TenantNow tenant(String tenant) {
    return new TenantNow(0, 0, 0, enabled, 0, 0);
  }
}
