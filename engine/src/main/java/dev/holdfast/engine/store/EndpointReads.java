package dev.holdfast.engine.store;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What people ask about endpoints, in a store where no node knows them all as they are now. */
public interface EndpointReads {

  /** An endpoint and how many of its messages are unfinished. */
  record EndpointNow(Endpoint endpoint, Unfinished unfinished) {}

  /**
   * Some endpoints.
   *
   * @param next where the next page begins, if there may be one
   */
  record EndpointPage(List<EndpointNow> endpoints, @Nullable Long next) {}

  /**
   * What endpoints can be sorted by.
   *
   * @param unfinished how many of its messages are
   */
  record Outline(
      long id, String url, Health.State state, long consecutiveFailures, long unfinished) {}

  /**
   * All endpoints of the tenant, or the newest of them, newest first. Of unfinished messages a
   * limited number is counted.
   */
  List<Outline> outlines(String tenant, int most) throws StoreException;

  /** Those of these endpoints that the tenant has, in any order. */
  List<EndpointNow> endpoints(String tenant, List<Long> ids) throws StoreException;

  /** An endpoint of the tenant. */
  Optional<EndpointNow> endpoint(String tenant, long id) throws StoreException;

  /**
   * Endpoints of the tenant with an id below {@code before}, the newest first. Looks at a limited
   * number, so it may find less than there is room for.
   *
   * @param state only those in this state; all when absent
   */
  EndpointPage endpoints(String tenant, Health.@Nullable State state, long before, int limit)
      throws StoreException;
}
