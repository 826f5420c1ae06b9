package dev.holdfast.server.api;

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
}
