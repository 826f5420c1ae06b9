package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.Imported;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What somebody does is on disk with what it changes, in their name. */
class DeedsTest {
  private static final String ONE = "http://one.example/";
  private static final String TWO = "http://two.example/";
  private static final Actor ANN = new Actor(Actor.Kind.KEY, "key_1", "ann");
  private static final Actor BOB = new Actor(Actor.Kind.KEY, "key_2", "bob");

  private final Crank crank = new Crank();

  private static Request.Subscribe wish(String url, @Nullable RateLimit limit) {
    return new Request.Subscribe("default", wished(url, "order", Format.HOLDFAST, limit), null);
  }

  private static Wish wished(String url, String type, Format format, @Nullable RateLimit limit) {
    return new Wish(
        url,
        new Interest(List.of(new TypePattern(type)), null, Filters.NONE),
        new Form(format, false, null, new TreeMap<>(), List.of()),
        limit);
  }

  private static Request.Import imported(Wish... wishes) {
    return new Request.Import(
        "default", List.of(wishes).stream().map(wish -> new Imported(wish, true)).toList(), false);
  }

  private Subscription subscribe(String url) {
    Answer answer = crank.ask(wish(url, null), ANN);
    Subscription made = ((Answer.Subscribed) answer).subscription();
    crank.store.deeds.clear();
    return made;
  }

  private static Request.Update update(Subscription subscription, Patch patch) {
    return new Request.Update("default", subscription.id(), patch);
  }

  private List<Class<?>> kinds() {
    return crank.store.deeds.stream().<Class<?>>map(deed -> deed.what().getClass()).toList();
  }

  private Deed only() {
    assertThat(crank.store.deeds).hasSize(1);
    return crank.store.deeds.getFirst();
  }

  @Test
  void a_subscription_is_made_in_somebodys_name() {
    Answer.Subscribed made = (Answer.Subscribed) crank.ask(wish(ONE, null), ANN);
    assertThat(only())
        .isEqualTo(
            new Deed(
                ANN,
                Crank.START,
                "default",
                new Deed.Subscribed(made.subscription(), made.endpoint(), null)));
  }

  @Test
  void the_limit_of_a_new_endpoint_is_a_deed_of_its_own() {
    crank.ask(wish(ONE, new RateLimit(5)), ANN);
    assertThat(kinds()).containsExactly(Deed.Configured.class, Deed.Subscribed.class);
    crank.ask(wish(ONE, new RateLimit(5)), ANN);
    assertThat(kinds()).hasSize(3).endsWith(Deed.Subscribed.class);
  }

  @Test
  void a_change_tells_what_was_before_and_where_it_went() {
    Subscription before = subscribe(ONE);
    crank.ask(update(before, Patch.toUrl(TWO)), BOB);
    Deed deed = only();
    assertThat(deed.by()).isEqualTo(BOB);
    Deed.Updated what = (Deed.Updated) deed.what();
    assertThat(what.before()).isEqualTo(before);
    assertThat(what.after().endpoint()).isEqualTo(what.to().id());
    assertThat(List.of(what.from().url(), what.to().url())).containsExactly(ONE, TWO);
  }

  @Test
  void a_change_that_changes_nothing_is_no_deed() {
    Subscription subscription = subscribe(ONE);
    crank.ask(update(subscription, Patch.toPaused(false)), BOB);
    crank.ask(Request.Configure.limitRate("default", subscription.endpoint(), null), BOB);
    crank.ask(new Request.Operate("default", subscription.endpoint(), Operation.ENABLE), BOB);
    crank.ask(imported(wished(ONE, "order", Format.HOLDFAST, null)), BOB);
    assertThat(crank.store.deeds).isEmpty();
  }

  @Test
  void a_subscription_is_ended_in_somebodys_name() {
    Subscription subscription = subscribe(ONE);
    crank.ask(new Request.Unsubscribe("default", subscription.id()), BOB);
    assertThat(only().by()).isEqualTo(BOB);
    assertThat(((Deed.Unsubscribed) only().what()).before()).isEqualTo(subscription);
  }

  @Test
  void what_is_done_to_an_endpoint_by_hand_is_a_deed_and_what_happens_to_it_is_none() {
    Subscription subscription = subscribe(ONE);
    crank.receiver = _ -> Crank.DOWN;
    crank.send("order", 5_000);
    crank.pass(Duration.ofMinutes(5));
    assertThat(crank.changes).isNotEmpty();
    assertThat(crank.store.deeds).isEmpty();
    crank.ask(new Request.Operate("default", subscription.endpoint(), Operation.FREEZE), BOB);
    Deed.Operated what = (Deed.Operated) only().what();
    assertThat(what.before().health().state()).isEqualTo(Health.State.DISABLED);
    assertThat(what.after().health().state()).isEqualTo(Health.State.FROZEN);
  }

  @Test
  void each_subscription_that_an_import_makes_or_changes_is_a_deed() {
    Subscription there = subscribe(ONE);
    crank.ask(
        imported(
            wished(ONE, "order", Format.CLOUDEVENTS, null),
            wished(TWO, "order", Format.HOLDFAST, new RateLimit(3)),
            wished(TWO, "invoice", Format.HOLDFAST, null)),
        BOB);
    assertThat(kinds())
        .containsExactly(
            Deed.Configured.class,
            Deed.Updated.class,
            Deed.Subscribed.class,
            Deed.Subscribed.class);
    assertThat(crank.store.deeds).allMatch(deed -> deed.by().equals(BOB));
    Deed.Updated changed = (Deed.Updated) crank.store.deeds.get(1).what();
    assertThat(changed.before()).isEqualTo(there);
    assertThat(changed.after().form().format()).isEqualTo(Format.CLOUDEVENTS);
  }

  @Test
  void a_change_of_the_version_is_a_deed_for_each_subscription_that_it_changes() {
    Wish wish =
        new Wish(
            ONE,
            new Interest(List.of(new TypePattern("TASK.CREATE")), null, Filters.NONE),
            new Form(Format.WORKFRONT, false, null, new TreeMap<>(), List.of()),
            null);
    crank.ask(new Request.Subscribe("default", wish, null), ANN);
    crank.store.deeds.clear();
    crank.ask(new Request.ChangeVersion("default", null, Version.V1), BOB);
    crank.ask(new Request.ChangeVersion("default", null, Version.V1), BOB);
    Deed.Updated what = (Deed.Updated) only().what();
    assertThat(what.after().form().version()).isEqualTo(Version.V1);
  }

  @Test
  void replays_are_started_and_ended_in_somebodys_name() {
    Subscription subscription = subscribe(ONE);
    Selection selection =
        new Selection(subscription.endpoint(), null, Set.of(Ending.DELIVERED), null, null, false);
    crank.holdLoads = true;
    Answer started = crank.ask(new Request.Replay("default", selection), ANN);
    long id = ((Answer.ReplayIs) started).replay().id();
    crank.ask(new Request.CancelReplay("default", id), BOB);
    assertThat(kinds()).containsExactly(Deed.Replayed.class, Deed.Cancelled.class);
    assertThat(crank.store.deeds.stream().map(Deed::by)).containsExactly(ANN, BOB);
  }

  @Test
  void whoever_ends_a_replay_while_a_step_of_it_is_written_is_named() {
    Subscription subscription = subscribe(ONE);
    Selection selection =
        new Selection(subscription.endpoint(), null, Set.of(Ending.DELIVERED), null, null, false);
    crank.holdLoads = true;
    Answer started = crank.ask(new Request.Replay("default", selection), ANN);
    long id = ((Answer.ReplayIs) started).replay().id();
    crank.holdCommits = true;
    crank.answerLoads();
    List<Answer> cancelled = crank.askLater(new Request.CancelReplay("default", id), BOB);
    assertThat(cancelled).isEmpty();
    crank.commit();
    assertThat(cancelled).hasSize(1);
    assertThat(crank.store.deeds.getLast().by()).isEqualTo(BOB);
    assertThat(kinds()).endsWith(Deed.Cancelled.class);
  }

  @Test
  void a_message_is_tried_by_hand_in_somebodys_name() {
    subscribe(ONE);
    crank.receiver = _ -> Crank.DOWN;
    crank.send("order", 1);
    crank.pass(Duration.ofSeconds(1));
    long message = crank.onlyOpen().id();
    crank.ask(new Request.RetryNow("default", message), BOB);
    assertThat(only()).isEqualTo(new Deed(BOB, crank.now, "default", new Deed.Retried(message)));
  }

  @Test
  void a_message_that_had_to_be_read_first_is_tried_in_the_name_of_who_asked() {
    subscribe(ONE);
    crank.receiver = _ -> Crank.DOWN;
    crank.send("order", 1);
    crank.pass(Duration.ofHours(30));
    crank.crash();
    crank.ask(new Request.RetryNow("default", crank.onlyOpen().id()), BOB);
    assertThat(only().by()).isEqualTo(BOB);
  }

  @Test
  void a_message_that_cannot_be_tried_now_is_no_deed() {
    subscribe(ONE);
    crank.receiver = _ -> null;
    crank.send("order", 1);
    crank.ask(new Request.RetryNow("default", crank.onlyOpen().id()), BOB);
    assertThat(crank.store.deeds).isEmpty();
  }

  @Test
  void an_import_that_had_to_wait_is_in_the_name_of_who_asked_for_it() {
    crank.holdCommits = true;
    crank.askLater(imported(wished(ONE, "order", Format.HOLDFAST, null)), ANN);
    crank.askLater(imported(wished(TWO, "order", Format.HOLDFAST, null)), BOB);
    crank.commit();
    assertThat(crank.store.deeds.stream().map(Deed::by)).containsExactly(ANN, BOB);
  }

  @Test
  void what_the_store_refuses_is_no_deed() {
    Subscription subscription = subscribe(ONE);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.ask(update(subscription, Patch.toPaused(true)), BOB);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.ask(wish(TWO, new RateLimit(4)), BOB);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.ask(imported(wished(ONE, "invoice", Format.HOLDFAST, new RateLimit(4))), BOB);
    crank.send("other", 1);
    assertThat(crank.store.deeds).isEmpty();
    assertThat(
            Objects.requireNonNull(crank.store.endpoints.get(subscription.endpoint())).rateLimit())
        .isNull();
  }

  @Test
  void what_an_endpoint_was_set_to_is_written_down_whatever_else_the_store_refuses() {
    Subscription subscription = subscribe(ONE);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    Patch patch =
        new Patch(
            null,
            Interest.Change.NOTHING,
            Form.Change.NOTHING,
            true,
            new NewRateLimit(new RateLimit(4)));
    crank.ask(update(subscription, patch), BOB);
    assertThat(kinds()).containsExactly(Deed.Configured.class);
    assertThat(crank.store.endpoints.values())
        .allMatch(endpoint -> new RateLimit(4).equals(endpoint.rateLimit()));
    assertThat(crank.store.subscriptions.values()).noneMatch(Subscription::paused);
  }

  @Test
  void an_endpoint_that_is_disabled_while_the_disk_is_full_is_written_down_later() {
    Subscription subscription = subscribe(ONE);
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.ask(new Request.Operate("default", subscription.endpoint(), Operation.DISABLE), BOB);
    assertThat(crank.store.deeds).isEmpty();
    crank.pass(Duration.ofMinutes(1));
    assertThat(only().what()).isInstanceOf(Deed.Operated.class);
  }

  @Test
  void a_deed_that_is_not_on_disk_when_the_process_dies_was_not_done() {
    Subscription subscription = subscribe(ONE);
    crank.holdCommits = true;
    crank.askLater(update(subscription, Patch.toPaused(true)), BOB);
    crank.crash();
    assertThat(crank.store.deeds).isEmpty();
    assertThat(crank.store.subscriptions.values()).noneMatch(Subscription::paused);
  }

  /** What is told of an endpoint's limit leads from one to the next, up to what is on disk. */
  private void assertLimitsAreTold(long endpoint, Actor... by) {
    RateLimit last = null;
    List<Actor> actors = new ArrayList<>();
    for (Deed deed : crank.store.deeds) {
      if (deed.what() instanceof Deed.Configured done) {
        assertThat(done.before().rateLimit()).isEqualTo(last);
        last = done.after().rateLimit();
        actors.add(deed.by());
      }
    }
    assertThat(Objects.requireNonNull(crank.store.endpoints.get(endpoint)).rateLimit())
        .isEqualTo(last);
    assertThat(actors).containsExactly(by);
  }

  private static Request limit(long endpoint, double perSecond) {
    return Request.Configure.limitRate("default", endpoint, new RateLimit(perSecond));
  }

  @Test
  void what_is_set_about_an_endpoint_that_is_being_written_is_told_whatever_becomes_of_the_rest() {
    crank.holdCommits = true;
    crank.askLater(wish(ONE, null), ANN);
    crank.askLater(wish(ONE, new RateLimit(4)), BOB);
    crank.commitOne();
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.commitOne();
    crank.commit();
    assertThat(crank.store.subscriptions).hasSize(1);
    assertLimitsAreTold(crank.store.endpoints.keySet().iterator().next(), BOB);
  }

  @Test
  void what_is_set_about_an_endpoint_that_never_comes_is_not_told() {
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.ask(wish(ONE, new RateLimit(4)), BOB);
    crank.pass(Duration.ofMinutes(1));
    assertThat(crank.store.deeds).isEmpty();
    assertThat(crank.store.endpoints).isEmpty();
  }

  @Test
  void an_import_in_vain_undoes_nothing_that_others_have_set_since() {
    long endpoint = subscribe(ONE).endpoint();
    crank.holdCommits = true;
    crank.askLater(imported(wished(ONE, "invoice", Format.HOLDFAST, new RateLimit(4))), ANN);
    crank.askLater(limit(endpoint, 9), BOB);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.commitOne();
    crank.commit();
    assertLimitsAreTold(endpoint, ANN, BOB);
    assertThat(crank.store.subscriptions).hasSize(1);
  }

  @Test
  void an_import_in_vain_leaves_what_the_same_one_has_set_before() {
    long endpoint = subscribe(ONE).endpoint();
    crank.holdCommits = true;
    crank.askLater(wish(TWO, null), ANN);
    crank.askLater(limit(endpoint, 5), ANN);
    crank.askLater(imported(wished(ONE, "invoice", Format.HOLDFAST, new RateLimit(7))), ANN);
    crank.commitOne();
    crank.refuses =
        batch -> batch.writes().stream().anyMatch(write -> write instanceof Write.Import);
    crank.commit();
    assertLimitsAreTold(endpoint, ANN, ANN, ANN);
    assertThat(Objects.requireNonNull(crank.store.endpoints.get(endpoint)).rateLimit())
        .isEqualTo(new RateLimit(5));
  }
}
