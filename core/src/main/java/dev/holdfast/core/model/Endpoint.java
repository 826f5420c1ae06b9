package dev.holdfast.core.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One URL of one tenant, with its health.
 *
 * @param url normalised: scheme and host in lower case, no default port, path at least {@code /}
 * @param rateLimit how often it wants to be called at most, if somebody has said so
 * @param tls what is special about encrypted connections to it, if anything is
 * @param goneAt when it last answered 410 Gone; absent once it has answered otherwise
 */
public record Endpoint(
    long id,
    String tenant,
    String url,
    Health health,
    @Nullable RateLimit rateLimit,
    @Nullable EndpointTls tls,
    @Nullable Instant goneAt) {

  /** An endpoint that nobody has limited, with nothing special, that is not gone. */
  public Endpoint(long id, String tenant, String url, Health health) {
    this(id, tenant, url, health, null, null, null);
  }

  public Endpoint with(Health changed) {
    return new Endpoint(id, tenant, url, changed, rateLimit, tls, goneAt);
  }

  public Endpoint withRateLimit(@Nullable RateLimit changed) {
    return new Endpoint(id, tenant, url, health, changed, tls, goneAt);
  }

  public Endpoint withTls(@Nullable EndpointTls changed) {
    return new Endpoint(id, tenant, url, health, rateLimit, changed, goneAt);
  }

  public Endpoint withGoneAt(@Nullable Instant changed) {
    return new Endpoint(id, tenant, url, health, rateLimit, tls, changed);
  }
}
