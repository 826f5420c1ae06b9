package dev.holdfast.core.port;

import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An attempt to be made: everything that the sender needs to know.
 *
 * @param tls what is special about encrypted connections to the endpoint, if anything is
 * @param proven whether the endpoint took the last message that it was sent
 */
public record Delivery(
    Message message,
    Event event,
    Subscription subscription,
    String url,
    @Nullable EndpointTls tls,
    Instant startedAt,
    boolean proven) {

  /** An attempt to an endpoint about which nothing is special. */
  public Delivery(
      Message message,
      Event event,
      Subscription subscription,
      String url,
      Instant startedAt,
      boolean proven) {
    this(message, event, subscription, url, null, startedAt, proven);
  }

  /** An attempt to an endpoint of which nothing is known. */
  public Delivery(
      Message message, Event event, Subscription subscription, String url, Instant startedAt) {
    this(message, event, subscription, url, startedAt, false);
  }
}
