package dev.holdfast.server.api;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.Set;

/** Says whether a URL can be an endpoint's, and gives it the one form that endpoints have. */
@FunctionalInterface
public interface EndpointUrls {

  /**
   * Brings a URL into its normal form.
   *
   * @throws IllegalArgumentException when it cannot be an endpoint's; the message says why and what
   *     to do, and is shown to the caller
   */
  String normalise(String url);

  /**
   * The name in a URL, in its normal form, that has to be looked up before it is known where the
   * URL leads; empty if there is no such name.
   */
  default Optional<String> nameToLookUp(String url) {
    return Optional.empty();
  }

  /**
   * Looks up names and finds those that lead only to where nothing may be sent. A name about which
   * nothing is known soon is not among them. Called on the event loop, and completes there.
   */
  default Future<Set<String>> findForbidden(Set<String> names) {
    return Future.succeededFuture(Set.of());
  }
}
