package dev.holdfast.core.path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Delivery;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Operational events, which tell subscribers what became of endpoints and messages. */
class AnnounceTest {
  private static final String FAILING = "http://failing.example/";
  private static final String TOLD = "http://told.example/";

  private final Crank crank = new Crank();
  private final Subscription subscription = crank.subscribe(FAILING, "order");

  private List<Event> told() {
    return crank.sent.stream()
        .filter(delivery -> delivery.url().equals(TOLD))
        .map(Delivery::event)
        .toList();
  }

  private static String data(Event event) {
    return new String(event.data(), UTF_8);
  }

  @Test
  void each_change_of_state_is_told_to_who_subscribes_to_it() {
    crank.subscribe(TOLD, "endpoint.*");
    crank.operate(subscription, Operation.DISABLE);
    crank.operate(subscription, Operation.FREEZE);
    crank.operate(subscription, Operation.ENABLE);
    assertThat(told())
        .extracting(Event::type)
        .containsExactly("endpoint.disabled", "endpoint.frozen", "endpoint.enabled");
    String id = Id.text(Id.ENDPOINT, subscription.endpoint());
    assertThat(told()).extracting(Event::subject).containsOnly(id);
    assertThat(data(told().getFirst()))
        .isEqualTo(
            """
            {"endpoint":"%s","state":"disabled","reason":"operator",\
            "since":"2026-03-01T12:00:00Z","consecutiveFailures":0}\
            """
                .formatted(id));
  }

  @Test
  void an_endpoint_that_is_disabled_by_its_failures_is_told_of() {
    crank.subscribe(TOLD, "endpoint.disabled");
    crank.receiver = delivery -> delivery.url().equals(FAILING) ? Crank.DOWN : Crank.OK;
    crank.send("order", 102);
    assertThat(told()).hasSize(1);
    assertThat(data(told().getFirst())).contains("\"reason\":\"failure-rate\"");
  }

  @Test
  void a_dropped_message_is_told_of_with_its_reason() {
    crank.subscribe(TOLD, "message.dropped");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("order", 2);
    crank.pass(Duration.ofHours(49));
    assertThat(told()).hasSize(2);
    assertThat(data(told().getFirst()))
        .contains("\"reason\":\"expired\"", "\"attempts\":0", "\"message\":\"msg_");
  }

  @Test
  void a_pattern_of_nothing_but_a_star_gets_no_operational_events() {
    crank.subscribe(TOLD, "*");
    crank.operate(subscription, Operation.DISABLE);
    assertThat(told()).isEmpty();
    assertThat(crank.store.events).isEmpty();
  }

  @Test
  void another_tenant_is_told_nothing() {
    crank.subscribeFor("other", TOLD, "endpoint.*");
    crank.operate(subscription, Operation.DISABLE);
    assertThat(told()).isEmpty();
  }

  @Test
  void a_dead_subscriber_to_drops_is_not_told_of_its_own() {
    crank.subscribe(TOLD, "message.dropped");
    crank.receiver = _ -> Crank.DOWN;
    crank.send("order", 1);
    crank.pass(Duration.ofHours(200));
    assertThat(crank.store.events).hasSize(2);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void a_change_and_what_tells_of_it_are_written_together() {
    crank.subscribe(TOLD, "endpoint.*");
    crank.holdCommits = true;
    crank.askLater(new Request.Operate("default", subscription.endpoint(), Operation.DISABLE));
    assertThat(crank.store.changes).isEmpty();
    crank.commitOne();
    assertThat(crank.store.changes).hasSize(1);
    assertThat(crank.store.events).hasSize(1);
    crank.holdCommits = false;
    crank.crash();
    assertThat(told()).extracting(Event::id).containsOnly(told().getFirst().id());
  }
}
