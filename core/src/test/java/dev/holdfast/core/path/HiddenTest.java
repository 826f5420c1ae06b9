package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is printed, be it into a log or an error, has no secret, token or header in it. */
class HiddenTest {
  private static final Instant NOW = Instant.parse("2026-03-04T05:06:07Z");
  private static final String TOKEN = "planted-token";
  private static final String SECRET = "whsec_cGxhbnRlZC1zZWNyZXQtcGxhbnRlZA==";
  private static final String OLD_SECRET = "whsec_cGxhbnRlZC1vbGQtc2VjcmV0LW9sZA==";
  private static final String HEADER = "planted-header";
  private static final Form FORM =
      new Form(
          Format.HOLDFAST,
          false,
          TOKEN,
          new TreeMap<>(Map.of("x-shop", HEADER)),
          List.of(new Secret(SECRET, NOW, null), new Secret(OLD_SECRET, NOW, NOW.plusSeconds(9))));

  @ParameterizedTest
  @MethodSource("printed")
  void what_is_printed_has_no_secret_in_it(Object printed) {
    assertThat(printed.toString())
        .isNotEmpty()
        .doesNotContain(TOKEN, HEADER, SECRET, OLD_SECRET)
        .doesNotContain(SECRET.substring("whsec_".length(), 20), "cGxhbnRlZC1vb");
  }

  static Stream<Object> printed() {
    Interest interest = new Interest(List.of(new TypePattern("*")), null, Filters.NONE);
    Subscription subscription = new Subscription(1, "default", 2, interest, FORM, NOW);
    Endpoint endpoint = new Endpoint(2, "default", "http://host/", Health.created(NOW));
    Event event = new Event(7, "default", "t", null, null, new byte[] {'1'}, null, null, null);
    Request.Wish wish = new Request.Wish("http://host/", interest, FORM, null);
    Form.Change change =
        new Form.Change(
            Format.WORKFRONT,
            Version.V1,
            true,
            new Form.NewToken(TOKEN),
            new Form.NewHeaders(true, Map.of("x-shop", HEADER), Set.of()),
            new Form.NewSecret(SECRET, Duration.ZERO));
    return Stream.of(
        FORM,
        change,
        subscription,
        new Write.Subscribe(subscription, endpoint),
        new Write.Update(subscription, endpoint),
        new Write.Unsubscribe(subscription, NOW),
        new Write.Import(
            List.of(new Write.Subscribe(subscription, null)),
            List.of(new Write.Update(subscription, null))),
        new Request.Subscribe("default", wish, null),
        new Request.Update("default", 1, Request.Patch.of(change)),
        new Request.Import("default", List.of(new Request.Imported(wish, true)), false),
        new Answer.Subscribed(subscription, endpoint, null),
        new Answer.Updated(subscription, endpoint),
        new Delivery(
            Message.pending(42, 7, 1, 2, event.size()), event, subscription, "http://host/", NOW));
  }
}
