package dev.holdfast.core.model;

/**
 * One URL of one tenant, with its health.
 *
 * @param url normalised: scheme and host in lower case, no default port, path at least {@code /}
 */
public record Endpoint(long id, String tenant, String url, Health health) {

  public Endpoint with(Health changed) {
    return new Endpoint(id, tenant, url, changed);
  }
}
