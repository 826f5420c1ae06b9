package dev.holdfast.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Comparator.comparing;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.http.Attempts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends test messages to endpoints because somebody wants to see what happens. They are nobody's
 * messages: nothing is kept or counted of them. Lives on the event loop.
 *
 * <p>A test message is to show what real ones would meet, so it is sent in the form of the
 * endpoint's subscription. Where there are several, it is signed with the secrets of all, and has
 * of the rest what they agree on.
 */
final class TestMessages {
  static final String TYPE = "holdfast.test";

  /** How many may be under way at once. */
  private static final int MOST = 16;

  /**
   * How many subscriptions of a tenant are looked at to find an endpoint's: it is done on the event
   * loop, and takes a millisecond.
   */
  private static final int MOST_LOOKED_AT = 100_000;

  /** How many of them are looked at before it is asked for more. */
  private static final int LOOKED_AT_ONCE = 1_000;

  /** How many of an endpoint's subscriptions count, the newest. */
  private static final int MOST_SUBSCRIPTIONS = 10;

  /** How many secrets a message for several subscriptions is signed with, the newest. */
  private static final int MOST_SECRETS = 20;

  private final Sending sending;
  private final InstantSource clock;

  /** Numbers of a node that there is not, so that no message has the same. */
  private final IdSource ids = new IdSource((int) Id.STRIDE - 1, 0);

  private int underWay;

  TestMessages(Sending sending, InstantSource clock) {
    this.sending = sending;
    this.clock = clock;
  }

  /** Makes an attempt. */
  @FunctionalInterface
  interface Sending {
    void send(Delivery delivery, Attempts.Ended ended);
  }

  /** An endpoint and the newest of its subscriptions. */
  private record Recipient(Endpoint endpoint, List<Subscription> subscriptions) {}

  /** Empty when there is no such endpoint; fails with {@link TooManyTests}. */
  Future<Optional<Holdfast.Tested>> send(View view, String tenant, long endpoint) {
    if (underWay >= MOST) {
      return Future.failedFuture(new TooManyTests());
    }
    EndpointNow found = view.endpoint(tenant, endpoint).orElse(null);
    if (found == null) {
      return Future.succeededFuture(Optional.empty());
    }
    Recipient recipient = new Recipient(found.endpoint(), subscriptionsOf(view, tenant, endpoint));
    underWay++;
    Promise<Optional<Holdfast.Tested>> ended = Promise.promise();
    sending.send(
        delivery(recipient, clock.instant()),
        (outcome, durationMillis) -> {
          underWay--;
          ended.complete(Optional.of(new Holdfast.Tested(outcome, durationMillis)));
        });
    return ended.future();
  }

  /** The newest of an endpoint's subscriptions. */
  private static List<Subscription> subscriptionsOf(View view, String tenant, long endpoint) {
    List<Subscription> found = new ArrayList<>();
    long before = Long.MAX_VALUE;
    for (int looked = 0; looked < MOST_LOOKED_AT; looked += LOOKED_AT_ONCE) {
      List<Subscription> some = view.subscriptions(tenant, before, LOOKED_AT_ONCE);
      for (Subscription subscription : some) {
        if (subscription.endpoint() == endpoint) {
          found.add(subscription);
          if (found.size() == MOST_SUBSCRIPTIONS) {
            return found;
          }
        }
      }
      if (some.size() < LOOKED_AT_ONCE) {
        return found;
      }
      before = some.getLast().id();
    }
    return found;
  }

  private Delivery delivery(Recipient recipient, Instant now) {
    Endpoint endpoint = recipient.endpoint();
    byte[] data =
        "{\"test\":true,\"endpoint\":\"%s\"}"
            .formatted(Id.text(Id.ENDPOINT, endpoint.id()))
            .getBytes(UTF_8);
    Event event =
        new Event(ids.next(now), endpoint.tenant(), TYPE, null, now, data, null, null, null);
    Subscription subscription =
        recipient.subscriptions().size() == 1
            ? recipient.subscriptions().getFirst()
            : new Subscription(
                0,
                endpoint.tenant(),
                endpoint.id(),
                new Interest(List.of(new TypePattern(TYPE)), null, Filters.NONE),
                common(recipient.subscriptions().stream().map(Subscription::form).toList(), now),
                now);
    Message message =
        Message.pending(ids.next(now), event.id(), subscription.id(), endpoint.id(), event.size());
    return new Delivery(message, event, subscription, endpoint.url(), endpoint.tls(), now, false);
  }

  /**
   * A form for all of these: what they agree on, and signed so that the receiver of each of them
   * can verify it.
   */
  static Form common(List<Form> forms, Instant now) {
    Set<String> known = new HashSet<>();
    List<Secret> secrets =
        forms.stream()
            .flatMap(form -> form.secretsAt(now).stream())
            .sorted(comparing(Secret::createdAt).reversed())
            .filter(secret -> known.add(secret.text()))
            .limit(MOST_SECRETS)
            .toList();
    Form first = forms.isEmpty() ? Form.PLAIN : forms.getFirst();
    boolean sameBody = agree(forms, Form::format) && agree(forms, Form::base64);
    return new Form(
        sameBody ? first.format() : Form.PLAIN.format(),
        sameBody && agree(forms, Form::version) ? first.edition() : Form.Edition.NEWEST,
        sameBody && first.base64(),
        agree(forms, Form::authToken) ? first.authToken() : null,
        agree(forms, Form::headers) ? first.headers() : Form.PLAIN.headers(),
        secrets);
  }

  private static boolean agree(List<Form> forms, Function<Form, @Nullable Object> part) {
    return forms.stream().map(form -> Optional.ofNullable(part.apply(form))).distinct().count()
        <= 1;
  }
}
