package dev.holdfast.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.http.HttpSender;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * Sends test messages to endpoints because somebody wants to see what happens. They are nobody's
 * messages: nothing is kept or counted of them. Lives on the event loop.
 */
final class TestMessages {
  static final String TYPE = "holdfast.test";

  /** How many may be under way at once. */
  private static final int MOST = 16;

  private final HttpSender sender;
  private final InstantSource clock;

  /** Numbers of a node that there is not, so that no message has the same. */
  private final IdSource ids = new IdSource((int) Id.STRIDE - 1, 0);

  private int underWay;

  TestMessages(HttpSender sender, InstantSource clock) {
    this.sender = sender;
    this.clock = clock;
  }

  Future<Holdfast.Tested> send(Endpoint endpoint) {
    if (underWay >= MOST) {
      return Future.failedFuture(new TooManyTests());
    }
    underWay++;
    Promise<Holdfast.Tested> ended = Promise.promise();
    sender.send(
        delivery(endpoint, clock.instant()),
        (outcome, durationMillis) -> {
          underWay--;
          ended.complete(new Holdfast.Tested(outcome, durationMillis));
        });
    return ended.future();
  }

  private Delivery delivery(Endpoint endpoint, Instant now) {
    byte[] data =
        "{\"test\":true,\"endpoint\":\"%s\"}"
            .formatted(Id.text(Id.ENDPOINT, endpoint.id()))
            .getBytes(UTF_8);
    Event event =
        new Event(ids.next(now), endpoint.tenant(), TYPE, null, now, data, null, null, null);
    Subscription nobodys =
        new Subscription(
            0, endpoint.tenant(), endpoint.id(), List.of(new TypePattern(TYPE)), null, now);
    Message message =
        Message.pending(ids.next(now), event.id(), nobodys.id(), endpoint.id(), event.size());
    return new Delivery(message, event, nobodys, endpoint.url(), now);
  }
}
