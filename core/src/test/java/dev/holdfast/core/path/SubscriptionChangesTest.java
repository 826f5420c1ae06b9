package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.NewHeaders;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Form.NewToken;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Interest.NewSubject;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What happens to the messages of a subscription that is changed, paused or resumed. */
class SubscriptionChangesTest {
  private static final String OLD = "http://old.example/";
  private static final String NEW = "http://new.example/";

  private final Crank crank = new Crank();

  private Answer patch(Subscription subscription, Patch patch) {
    return crank.ask(new Request.Update("default", subscription.id(), patch));
  }

  private static Patch url(String url) {
    return Patch.toUrl(url);
  }

  private static Patch paused(boolean paused) {
    return Patch.toPaused(paused);
  }

  private Subscription now(Subscription subscription) {
    return crank.loop.subscription("default", subscription.id()).orElseThrow();
  }

  private List<String> urls() {
    return crank.sent.stream().map(Delivery::url).toList();
  }

  @Test
  void a_waiting_message_goes_to_the_new_url_with_base_attempts_and_slot_kept() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.receiver = _ -> Crank.DOWN;
    crank.send("order", 1);
    Message before = crank.onlyOpen();
    patch(subscription, url(NEW));
    crank.pass(Duration.ofSeconds(5));
    Message after = crank.onlyOpen();
    assertThat(after).isEqualTo(before.at(now(subscription).endpoint()));
    crank.receiver = _ -> Crank.OK;
    crank.pass(Duration.ofMillis(84_800));
    assertThat(urls()).containsExactly(OLD, NEW);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void a_message_parked_at_a_frozen_endpoint_is_tried_at_the_new_one() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("order", 3);
    assertThat(crank.store.open.values()).extracting(Message::status).containsOnly(Status.PARKED);
    patch(subscription, url(NEW));
    crank.pass(Duration.ofSeconds(5));
    assertThat(urls()).containsExactly(NEW, NEW, NEW);
    assertThat(crank.store.open).isEmpty();
    assertThat(now(subscription).unsettled()).isEmpty();
  }

  @Test
  void many_messages_move_a_limited_number_at_a_time() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("order", 2_500);
    patch(subscription, url(NEW));
    assertThat(crank.taken).hasSizeLessThanOrEqualTo(1_000);
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.taken).hasSize(2_500);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void an_attempt_under_way_ends_where_it_began_and_its_retry_goes_to_the_new_url() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.receiver = delivery -> delivery.url().equals(OLD) ? null : Crank.OK;
    crank.send("order", 1);
    patch(subscription, url(NEW));
    crank.endAll(Crank.DOWN);
    crank.pass(Duration.ofMillis(90_000));
    assertThat(urls()).containsExactly(OLD, NEW);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void a_crash_in_the_middle_of_a_move_leaves_nothing_behind() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("order", 1_500);
    patch(subscription, url(NEW));
    crank.crash();
    crank.pass(Duration.ofSeconds(20));
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.taken.keySet()).hasSize(1_500);
  }

  @Test
  void new_types_and_subject_decide_about_the_next_event() {
    Subscription subscription = crank.subscribe(OLD, "order");
    patch(
        subscription,
        Patch.of(
            new Interest.Change(
                List.of(new TypePattern("invoice")), new NewSubject("s1"), null, null)));
    crank.send("order", 1);
    crank.send("invoice", 1);
    assertThat(crank.sent).isEmpty();
    patch(subscription, Patch.of(new Interest.Change(null, new NewSubject(null), null, null)));
    crank.send("invoice", 1);
    assertThat(crank.sent).hasSize(1);
  }

  @Test
  void a_change_that_cannot_be_written_changes_nothing() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.failNextCommit = StoreException.Kind.FULL;
    assertThat(patch(subscription, url(NEW))).isInstanceOf(Answer.Refused.class);
    crank.pass(Duration.ofSeconds(2));
    crank.send("order", 1);
    assertThat(urls()).containsExactly(OLD);
    assertThat(crank.store.endpoints).hasSize(1);
  }

  @Test
  void a_change_that_is_refused_does_not_come_with_the_next_when_a_batch_was_split_before() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.holdCommits = true;
    crank.askLater(newOne("first"));
    List<Answer> pause = updateLater(subscription, Patch.toPaused(true));
    crank.askLater(newOne("second"));
    List<Answer> types =
        updateLater(subscription, Patch.toTypes(List.of(new TypePattern("invoice"))));
    crank.askLater(newOne("third"));
    crank.commitOne();
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.commitOne();
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.commitOne();
    crank.pass(Duration.ofSeconds(5));
    crank.commit();
    assertThat(pause).hasOnlyElementsOfType(Answer.Refused.class).hasSize(1);
    assertThat(types).hasOnlyElementsOfType(Answer.Refused.class).hasSize(1);
    assertThat(now(subscription)).isEqualTo(subscription);
  }

  private List<Answer> updateLater(Subscription subscription, Patch patch) {
    return crank.askLater(new Request.Update("default", subscription.id(), patch));
  }

  private static Request.Subscribe newOne(String type) {
    return new Request.Subscribe("default", NEW, List.of(new TypePattern(type)), null);
  }

  @Test
  void messages_of_a_paused_subscription_are_held_back_and_sent_when_it_is_resumed() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.subscribe(OLD, "invoice");
    patch(subscription, paused(true));
    crank.send("order", 2);
    crank.send("invoice", 1);
    assertThat(crank.sent).as("the other subscription of the endpoint goes on").hasSize(1);
    crank.pass(Duration.ofHours(5));
    assertThat(crank.store.open.values()).extracting(Message::status).containsOnly(Status.PAUSED);
    assertThat(crank.loop.gauges().parked()).isEqualTo(2);
    patch(subscription, paused(false));
    crank.pass(Duration.ofSeconds(3));
    assertThat(crank.sent).hasSize(3);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void what_waits_for_its_slot_when_it_is_paused_waits_for_it_when_it_is_resumed() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.receiver = _ -> Crank.DOWN;
    crank.send("order", 1);
    Message waiting = crank.onlyOpen();
    patch(subscription, paused(true));
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.onlyOpen().status()).isEqualTo(Status.PAUSED);
    patch(subscription, paused(false));
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.onlyOpen()).isEqualTo(waiting);
  }

  @Test
  void the_deadline_of_a_paused_message_runs() {
    Subscription subscription = crank.subscribe(OLD, "order");
    patch(subscription, paused(true));
    crank.send("order", 1);
    crank.pass(Crank.SCHEDULE.unit().multipliedBy(2_047));
    assertThat(crank.store.finished.values()).containsExactly("expired");
    assertThat(crank.sent).isEmpty();
  }

  @Test
  void a_paused_message_can_be_tried_by_hand() {
    Subscription subscription = crank.subscribe(OLD, "order");
    patch(subscription, paused(true));
    crank.send("order", 1);
    assertThat(crank.ask(new Request.RetryNow("default", crank.onlyOpen().id())))
        .isInstanceOf(Answer.RetryStarted.class);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void a_paused_message_is_never_the_probe() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.subscribe(OLD, "invoice");
    patch(subscription, paused(true));
    crank.send("order", 1);
    crank.receiver = _ -> Crank.DOWN;
    crank.send("invoice", 102);
    assertThat(crank.changes).hasSize(1);
    crank.receiver = _ -> null;
    crank.pass(Duration.ofMinutes(11));
    assertThat(crank.inFlight).hasSize(1);
    assertThat(crank.inFlight.getFirst().message().subscription()).isNotEqualTo(subscription.id());
  }

  @Test
  void an_unknown_subscription_or_another_tenants_cannot_be_changed() {
    Subscription subscription = crank.subscribeFor("other", OLD, "order");
    assertThat(patch(subscription, paused(true))).isInstanceOf(Answer.NotFound.class);
    assertThat(crank.ask(new Request.Update("default", 42, paused(true))))
        .isInstanceOf(Answer.NotFound.class);
  }

  @Test
  void a_changed_subscription_that_is_deleted_has_its_messages_dropped_at_both_endpoints() {
    Subscription subscription = crank.subscribe(OLD, "order");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("order", 1_500);
    patch(subscription, url(NEW));
    crank.operate(now(subscription), Operation.FREEZE);
    crank.ask(new Request.Unsubscribe("default", subscription.id()));
    crank.pass(Duration.ofSeconds(20));
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.store.ended).isEmpty();
    assertThat(crank.store.finished.values()).contains("unsubscribed");
  }

  // ---- what does not go together

  private static Patch form(
      @Nullable NewToken token, @Nullable NewHeaders headers, @Nullable NewSecret secret) {
    return Patch.of(new Form.Change(null, null, null, token, headers, secret));
  }

  private static NewHeaders set(String... names) {
    return new NewHeaders(
        false, Stream.of(names).collect(Collectors.toMap(name -> name, _ -> "v")), Set.of());
  }

  private void assertUnfit(Subscription subscription, Patch patch, String field) {
    Subscription before = now(subscription);
    assertThat(patch(subscription, patch))
        .isInstanceOfSatisfying(
            Answer.Unfit.class, unfit -> assertThat(unfit.field()).isEqualTo(field));
    assertThat(now(subscription)).isEqualTo(before);
  }

  @Test
  void a_token_and_a_header_that_authorizes_too_are_never_there_together() {
    Subscription subscription = crank.subscribe(OLD, "order");
    patch(subscription, form(new NewToken("t"), null, null));
    assertUnfit(subscription, form(null, set("AUTHORIZATION"), null), "headers");
    patch(subscription, form(new NewToken(null), set("Authorization"), null));
    assertThat(now(subscription).form().headers()).containsOnlyKeys("Authorization");
    assertUnfit(subscription, form(new NewToken("t"), null, null), "authToken");
    NewHeaders without = new NewHeaders(false, Map.of(), Set.of("authorization"));
    patch(subscription, form(new NewToken("t"), without, null));
    assertThat(now(subscription).form().authToken()).isEqualTo("t");
  }

  @Test
  void a_subscription_has_at_most_20_headers_however_many_are_added_at_once() {
    Subscription subscription = crank.subscribe(OLD, "order");
    String[] names = IntStream.range(0, 20).mapToObj(i -> "h" + i).toArray(String[]::new);
    patch(subscription, form(null, set(names), null));
    assertThat(now(subscription).form().headers()).hasSize(20);
    assertUnfit(subscription, form(null, set("one-more"), null), "headers");
    patch(subscription, form(null, set("H1"), null));
    assertThat(now(subscription).form().headers()).hasSize(20).containsKey("H1");
  }

  @Test
  void ten_secrets_can_be_valid_at_once_and_none_of_them_twice() {
    Subscription subscription = crank.subscribe(OLD, "order");
    for (int i = 0; i < 10; i++) {
      patch(subscription, form(null, null, new NewSecret("s" + i, Duration.ofDays(1))));
    }
    assertUnfit(subscription, form(null, null, new NewSecret("s3", Duration.ZERO)), "secret");
    assertThat(patch(subscription, form(null, null, new NewSecret("s10", Duration.ofDays(1)))))
        .isEqualTo(new Answer.TooManySecrets(10));
    patch(subscription, form(null, null, new NewSecret("s10", Duration.ZERO)));
    assertThat(now(subscription).form().secrets()).extracting(Secret::text).containsExactly("s10");
  }
}
