package dev.holdfast.core.path;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Operational;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: makes the operational events that tell a tenant's subscribers what became of its
 * endpoints and messages. They are written with what they tell of, and only if somebody wants them.
 */
final class Announce {
  private final Limits limits;
  private final Match match;
  private final Make make;
  private final Spread spread;
  private final Loads loads;

  Announce(Limits limits, Match match, Make make, Spread spread, Loads loads) {
    this.limits = limits;
    this.match = match;
    this.make = make;
    this.spread = spread;
    this.loads = loads;
  }

  /** The event that tells of an endpoint's new state, if somebody wants it. */
  @Nullable AcceptedEvent state(Endpoint endpoint, Turn turn) {
    Health health = endpoint.health();
    String type =
        switch (health.state()) {
          case ENABLED -> Operational.ENDPOINT_ENABLED;
          case DISABLED -> Operational.ENDPOINT_DISABLED;
          case FROZEN -> Operational.ENDPOINT_FROZEN;
        };
    String id = Id.text(Id.ENDPOINT, endpoint.id());
    if (!match.isAnybodyIn(endpoint.tenant(), type, id)) {
      return null;
    }
    return event(
        endpoint.tenant(),
        type,
        id,
        """
        {"endpoint":"%s","state":"%s","reason":"%s","since":"%s","consecutiveFailures":%d}\
        """
            .formatted(
                id,
                name(health.state()),
                name(health.reason()),
                health.since(),
                health.consecutiveFailures()),
        turn);
  }

  /**
   * The event that tells of a message that was given up, if somebody wants it. A subscription that
   * wants to be told of such is not told of its own: an endpoint that takes nothing would be sent
   * ever more of them.
   */
  @Nullable AcceptedEvent dropped(
      Message message, String tenant, DropReason reason, int attempts, Turn turn) {
    Subscription own = match.get(message.subscription());
    if (own != null && own.interest().covers(Operational.MESSAGE_DROPPED, own.subject())) {
      return null;
    }
    String id = Id.text(Id.MESSAGE, message.id());
    if (!match.isAnybodyIn(tenant, Operational.MESSAGE_DROPPED, id)) {
      return null;
    }
    return event(
        tenant,
        Operational.MESSAGE_DROPPED,
        id,
        """
        {"message":"%s","event":"%s","subscription":"%s","endpoint":"%s","reason":"%s","attempts":%d}\
        """
            .formatted(
                id,
                Id.text(Id.EVENT, message.event()),
                Id.text(Id.SUBSCRIPTION, message.subscription()),
                Id.text(Id.ENDPOINT, message.endpoint()),
                name(reason),
                attempts),
        turn);
  }

  private @Nullable AcceptedEvent event(
      String tenant, String type, String subject, String data, Turn turn) {
    NewEvent told = new NewEvent(type, subject, turn.now(), data.getBytes(UTF_8), null, null, null);
    List<Subscription> wanting = match.wanting(tenant, told);
    if (wanting.isEmpty() || !spread.hasRoomFor(make.count(wanting, turn))) {
      return null;
    }
    AcceptedEvent event = make.event(tenant, told, wanting, limits.matchesAtOnce(), turn);
    loads.accepting(event.event().id(), event.lastId());
    return event;
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
