package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Values to be stored, with ids as the path gives them out. */
public final class Sample {
  public static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123456Z");
  public static final String TENANT = "default";

  private final IdSource ids;

  public Sample() {
    this(0);
  }

  public Sample(long highestUsed) {
    ids = new IdSource(7, highestUsed);
  }

  public static Instant after(long seconds) {
    return NOW.plusSeconds(seconds);
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static Batch batch(Write... writes) {
    return new Batch(List.of(writes), List.of());
  }

  public static Write.Accept accept(AcceptedEvent... events) {
    return new Write.Accept(List.of(events));
  }

  public long id() {
    return ids.next(NOW);
  }

  public Endpoint endpoint(String url) {
    return new Endpoint(id(), TENANT, url, Health.created(NOW));
  }

  public Subscription subscription(Endpoint endpoint, String... types) {
    return new Subscription(
        id(),
        endpoint.tenant(),
        endpoint.id(),
        Arrays.stream(types).map(TypePattern::new).toList(),
        null,
        NOW);
  }

  public Event event() {
    return event(TENANT, null, "{\"n\":1}");
  }

  public Event event(String tenant, @Nullable String callerId, String data) {
    return new Event(
        id(), tenant, "order.paid", "order-1", null, bytes(data), null, callerId, null);
  }

  /** The event with a pending message for each endpoint. */
  public AcceptedEvent pending(Event event, long... endpoints) {
    List<Message> messages = new ArrayList<>();
    for (long endpoint : endpoints) {
      messages.add(Message.pending(id(), event.id(), endpoint + 1, endpoint, event.size()));
    }
    return new AcceptedEvent(event, messages);
  }

  /** An event with a pending message in each of these versions, absent or not. */
  public AcceptedEvent versions(long endpoint, @Nullable Version... versions) {
    Event event = event();
    List<Message> messages = new ArrayList<>();
    for (Version version : versions) {
      messages.add(
          Message.pending(id(), event.id(), endpoint + 1, endpoint, event.size(), version));
    }
    return new AcceptedEvent(event, messages);
  }

  public AcceptedEvent pending(long... endpoints) {
    return pending(event(), endpoints);
  }

  /** The event with a message that was parked as it was accepted. */
  public AcceptedEvent parked(long endpoint, Instant deadline) {
    AcceptedEvent pending = pending(endpoint);
    return new AcceptedEvent(
        pending.event(),
        List.of(with(pending.messages().getFirst(), Status.PARKED, 0, deadline, null)));
  }

  public static Message with(
      Message message, Status status, int attempts, Instant due, @Nullable Instant notBefore) {
    return new Message(
        message.id(),
        message.event(),
        message.subscription(),
        message.endpoint(),
        status,
        attempts,
        Math.min(attempts, 11),
        NOW,
        due,
        notBefore,
        attempts == 0 ? null : NOW.plusMillis(attempts),
        message.size(),
        message.version());
  }

  public static Message waiting(Message message, int attempts, Instant due) {
    return with(message, Status.WAITING, attempts, due, null);
  }

  public static Message parked(Message message, int attempts, Instant due) {
    return with(message, Status.PARKED, attempts, due, null);
  }

  public static Attempt success(Message message, int number) {
    return attempt(message, number, new Outcome.Success(204, bytes("thanks")));
  }

  public static Attempt failure(Message message, int number) {
    return attempt(
        message, number, new Outcome.Failure(Outcome.Failure.Kind.STATUS, 503, bytes("no"), "120"));
  }

  public static Attempt attempt(Message message, int number, Outcome outcome) {
    return new Attempt(
        message.id(), number, NOW.plus(Duration.ofMillis(number)), 42, number % 2 == 1, outcome);
  }

  public static Write.Retry retry(Message message, int attempts, Instant due) {
    return new Write.Retry(waiting(message, attempts, due), failure(message, attempts));
  }

  public static Write.Deliver deliver(Message message) {
    return new Write.Deliver(message, success(message, message.attempts() + 1), after(1));
  }

  public static long nextTo(long id) {
    return id + Id.STRIDE;
  }
}
