package dev.holdfast.core.path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Delivery;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Subscriptions with filters, on the path of a message. */
class FilteredPathTest {
  private static final String PAID =
      """
      [{"fieldName":"state","fieldValue":"paid","comparison":"eq"}]
      """;
  private static final String CHANGED =
      """
      [{"fieldName":"state","comparison":"changed"}]
      """;

  private final Crank crank = new Crank();

  private Subscription subscribe(String url, String type, String filters) {
    Interest interest =
        new Interest(List.of(new TypePattern(type)), null, Filters.parse(Connector.AND, filters));
    Request wished =
        new Request.Subscribe("default", new Wish(url, interest, Form.PLAIN, null), null);
    return ((Answer.Subscribed) crank.ask(wished)).subscription();
  }

  private void send(String data, @Nullable String previous) {
    byte[] before = previous == null ? null : previous.getBytes(UTF_8);
    NewEvent event = new NewEvent("order", null, null, data.getBytes(UTF_8), before, null, null);
    crank.ask(new Request.Submit("default", List.of(event)));
  }

  private List<String> sentTo() {
    return crank.sent.stream().map(Delivery::url).toList();
  }

  @Test
  void an_event_goes_to_those_whose_filters_hold() {
    subscribe("http://paid.example/", "order", PAID);
    subscribe("http://changed.example/", "order", CHANGED);
    crank.subscribe("http://all.example/", "order");
    send("{\"state\":\"paid\"}", null);
    assertThat(sentTo()).containsExactlyInAnyOrder("http://all.example/", "http://paid.example/");
    crank.sent.clear();
    send("{\"state\":\"sent\"}", "{\"state\":\"paid\"}");
    assertThat(sentTo())
        .containsExactlyInAnyOrder("http://all.example/", "http://changed.example/");
  }

  @Test
  void filters_that_are_changed_decide_about_what_comes_next() {
    Subscription subscription = subscribe("http://paid.example/", "order", PAID);
    Filters changed = Filters.parse(Connector.AND, PAID.replace("paid", "sent"));
    crank.ask(
        new Request.Update(
            "default",
            subscription.id(),
            Patch.of(new Interest.Change(null, null, changed.filters(), null))));
    send("{\"state\":\"paid\"}", null);
    assertThat(sentTo()).isEmpty();
    send("{\"state\":\"sent\"}", null);
    assertThat(sentTo()).containsExactly("http://paid.example/");
    crank.crash();
    send("{\"state\":\"paid\"}", null);
    assertThat(sentTo()).hasSize(1);
  }

  @Test
  void operational_events_are_filtered_too_and_not_made_for_nobody() {
    Subscription watched = crank.subscribe("http://watched.example/", "order");
    subscribe("http://told.example/", "endpoint.*", PAID.replace("paid", "frozen"));
    crank.operate(watched, Operation.DISABLE);
    assertThat(crank.store.events).isEmpty();
    crank.operate(watched, Operation.FREEZE);
    assertThat(sentTo()).containsExactly("http://told.example/");
  }
}
