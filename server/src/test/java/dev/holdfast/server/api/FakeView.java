package dev.holdfast.server.api;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.View;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Sees an engine that has nothing, and counts that are all different. */
final class FakeView implements View {

  @Override
  public Optional<Subscription> subscription(String tenant, long id) {
    return Optional.empty();
  }

  @Override
  public List<Subscription> subscriptions(String tenant, long before, int limit) {
    return List.of();
  }

  @Override
  public Optional<EndpointNow> endpoint(String tenant, long id) {
    return Optional.empty();
  }

  @Override
  public List<EndpointNow> endpoints(
      String tenant, Health.@Nullable State state, long before, int limit) {
    return List.of();
  }

  @Override
  public Gauges gauges() {
    return new Gauges(
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24);
  }
}
