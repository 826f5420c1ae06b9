package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Answer.Imported.Result;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.Recovery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Subscriptions in the format that has versions: how they change it, and what they get then. */
class VersionsTest {
  private static final String URL = "http://one.example/";
  private static final String TYPE = "PROJ.UPDATE";

  private final Crank crank = new Crank();

  private static Wish wish(String url, String type, Version version) {
    return new Wish(
        url,
        new Interest(List.of(new TypePattern(type)), null, Filters.NONE),
        new Form(
            Format.WORKFRONT,
            new Edition(version, null),
            false,
            "token",
            Collections.emptyNavigableMap(),
            List.of()),
        null);
  }

  private static Request.Subscribe unlessThere(Wish wish) {
    return new Request.Subscribe("default", wish, null, true);
  }

  private Subscription subscribe(String url, Version version) {
    Answer answer = crank.ask(new Request.Subscribe("default", wish(url, TYPE, version), null));
    return ((Answer.Subscribed) answer).subscription();
  }

  private Answer change(Subscription subscription, Version version) {
    return crank.ask(
        new Request.Update("default", subscription.id(), Patch.of(Form.Change.to(version))));
  }

  private Answer changeMany(@Nullable List<Long> ids, Version version) {
    return crank.ask(new Request.ChangeVersion("default", ids, version));
  }

  private Subscription now(Subscription subscription) {
    return Objects.requireNonNull(crank.store.subscriptions.get(subscription.id()));
  }

  private List<@Nullable Version> versionsSent() {
    List<@Nullable Version> versions = new ArrayList<>();
    crank.sent.forEach(delivery -> versions.add(delivery.message().version()));
    return versions;
  }

  // ---- both versions

  @Test
  void for_five_minutes_after_a_change_each_event_is_sent_in_both_versions() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.pass(Duration.ofMinutes(5).minusMillis(1));
    Receipt receipt = ((Answer.Accepted) crank.send(TYPE, 1)).receipts().getFirst();
    assertThat(receipt.messages()).isEqualTo(2);
    assertThat(versionsSent()).containsExactly(Version.V2, Version.V1);
    assertThat(crank.taken).hasSize(2);

    crank.sent.clear();
    crank.pass(Duration.ofMillis(1));
    crank.send(TYPE, 1);
    assertThat(versionsSent()).containsExactly((Version) null);
  }

  @Test
  void before_a_change_nothing_is_sent_twice() {
    subscribe(URL, Version.V1);
    crank.send(TYPE, 3);
    assertThat(versionsSent()).containsOnlyNulls().hasSize(3);
  }

  @Test
  void to_give_a_subscription_the_version_that_it_has_changes_nothing() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V1);
    assertThat(now(subscription).form().edition()).isEqualTo(new Edition(Version.V1, null));
    crank.send(TYPE, 1);
    assertThat(crank.sent).hasSize(1);
  }

  @Test
  void a_change_back_begins_five_new_minutes() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.pass(Duration.ofMinutes(4));
    change(subscription, Version.V1);
    crank.pass(Duration.ofMinutes(4));
    crank.send(TYPE, 1);
    assertThat(versionsSent()).containsExactly(Version.V1, Version.V2);
    assertThat(now(subscription).form().edition())
        .isEqualTo(new Edition(Version.V1, Crank.START.plus(Duration.ofMinutes(4))));
  }

  @Test
  void each_of_the_two_keeps_its_version_through_retries_crashes_and_further_changes() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.receiver = _ -> Crank.DOWN;
    crank.send(TYPE, 1);
    crank.crash();
    change(subscription, Version.V1);
    crank.pass(Duration.ofMinutes(10));
    crank.receiver = _ -> Crank.OK;
    crank.sent.clear();
    crank.pass(Duration.ofHours(1));
    assertThat(versionsSent()).containsExactlyInAnyOrder(Version.V1, Version.V2);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void the_two_stand_alone_one_can_be_taken_and_the_other_not() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.receiver = delivery -> delivery.message().version() == Version.V1 ? Crank.DOWN : Crank.OK;
    crank.send(TYPE, 1);
    assertThat(crank.onlyOpen().version()).isEqualTo(Version.V1);
    assertThat(crank.taken).hasSize(1);
  }

  @Test
  void what_was_accepted_before_a_change_is_sent_in_the_version_that_its_subscription_has_then() {
    Subscription subscription = subscribe(URL, Version.V1);
    crank.receiver = _ -> Crank.DOWN;
    crank.send(TYPE, 1);
    change(subscription, Version.V2);
    crank.receiver = _ -> Crank.OK;
    crank.sent.clear();
    crank.pass(Duration.ofMinutes(2));
    Delivery retry = crank.sent.getFirst();
    assertThat(retry.message().version()).isNull();
    assertThat(retry.subscription().form().version()).isEqualTo(Version.V2);
    assertThat(crank.sent).hasSize(1);
  }

  @Test
  void messages_that_are_parked_or_paused_when_made_keep_their_version() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.operate(subscription, Operation.FREEZE);
    crank.send(TYPE, 1);
    crank.ask(new Request.Update("default", subscription.id(), Patch.toPaused(true)));
    crank.send(TYPE, 1);
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.store.open.values())
        .extracting(Message::version)
        .containsExactly(Version.V2, Version.V1, Version.V2, Version.V1);
    crank.ask(new Request.Update("default", subscription.id(), Patch.toPaused(false)));
    crank.operate(subscription, Operation.ENABLE);
    crank.pass(Duration.ofMinutes(5));
    assertThat(versionsSent()).hasSize(4).containsOnly(Version.V1, Version.V2);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void an_event_for_very_many_is_sent_in_both_versions_to_those_that_changed() {
    Crank small = new Crank(SpreadTest.limits(7, 1_000), Recovery.DRAIN);
    List<Subscription> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Answer answer =
          small.ask(
              new Request.Subscribe(
                  "default", wish("http://e" + i + ".example/", TYPE, Version.V1), null));
      all.add(((Answer.Subscribed) answer).subscription());
    }
    List<Long> changed = all.stream().limit(9).map(Subscription::id).toList();
    small.ask(new Request.ChangeVersion("default", changed, Version.V2));
    small.holdCommits = true;
    List<Answer> answers = small.askLater(Crank.submit("default", TYPE, 1));
    small.commitOne();
    assertThat(((Answer.Accepted) answers.getFirst()).receipts().getFirst().messages())
        .isEqualTo(29);
    small.holdCommits = false;
    small.crash();
    small.pass(Duration.ofSeconds(5));
    assertThat(small.taken).hasSize(29);
    for (Subscription subscription : all) {
      List<@Nullable Version> versions = new ArrayList<>();
      for (Delivery delivery : small.sent) {
        if (delivery.subscription().id() == subscription.id()) {
          versions.add(delivery.message().version());
        }
      }
      if (changed.contains(subscription.id())) {
        assertThat(versions).containsExactlyInAnyOrder(Version.V1, Version.V2);
      } else {
        assertThat(versions).containsExactly((Version) null);
      }
    }
  }

  @Test
  void a_replay_of_the_two_sends_both_again_each_in_its_version() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.send(TYPE, 1);
    crank.pass(Duration.ofHours(1));
    crank.sent.clear();
    Selection all =
        new Selection(null, subscription.id(), Set.of(Replay.Ending.DELIVERED), null, null, false);
    crank.ask(new Request.Replay("default", all));
    crank.pass(Duration.ofMinutes(1));
    assertThat(versionsSent()).containsExactlyInAnyOrder(Version.V1, Version.V2);
  }

  @Test
  void another_format_ends_it() {
    Subscription subscription = subscribe(URL, Version.V1);
    change(subscription, Version.V2);
    crank.ask(
        new Request.Update(
            "default",
            subscription.id(),
            Patch.of(new Form.Change(Format.HOLDFAST, null, null, null, null, null))));
    crank.send(TYPE, 1);
    assertThat(crank.sent).hasSize(1);
    assertThat(now(subscription).form().edition()).isEqualTo(Edition.NEWEST);
  }

  @Test
  void only_the_format_that_has_versions_can_be_given_one() {
    Subscription plain = crank.subscribe(URL, TYPE);
    assertThat(change(plain, Version.V1)).isInstanceOf(Answer.Unfit.class);
    assertThat(now(plain)).isEqualTo(plain);
  }

  @Test
  void a_change_is_remembered_as_such_and_pausing_is_one() {
    Subscription subscription = subscribe(URL, Version.V1);
    assertThat(now(subscription).changedAt()).isEqualTo(Crank.START);
    crank.pass(Duration.ofMinutes(1));
    change(subscription, Version.V2);
    assertThat(now(subscription).changedAt()).isEqualTo(Crank.START.plusSeconds(60));
    crank.pass(Duration.ofMinutes(1));
    crank.ask(new Request.Update("default", subscription.id(), Patch.toPaused(true)));
    crank.pass(Duration.ofMinutes(1));
    assertThat(now(subscription).changedAt()).isEqualTo(Crank.START.plusSeconds(120));
    assertThat(now(subscription).createdAt()).isEqualTo(Crank.START);
  }

  @Test
  void what_changes_nothing_is_no_change() {
    Subscription subscription = subscribe(URL, Version.V1);
    crank.pass(Duration.ofMinutes(1));
    for (Patch nothing :
        List.of(
            Patch.of(Form.Change.to(Version.V1)),
            Patch.of(Form.Change.NOTHING),
            Patch.toPaused(false),
            Patch.toUrl(URL),
            Patch.toTypes(subscription.types()))) {
      assertThat(crank.ask(new Request.Update("default", subscription.id(), nothing)))
          .isInstanceOf(Answer.Updated.class);
      assertThat(now(subscription)).isEqualTo(subscription);
    }
  }

  // ---- many at once

  @Test
  void the_version_of_some_or_of_all_is_changed_at_once() {
    Subscription one = subscribe(URL, Version.V1);
    Subscription two = subscribe("http://two.example/", Version.V2);
    Subscription three = subscribe("http://three.example/", Version.V1);
    crank.subscribe(URL, TYPE);
    Answer some = changeMany(List.of(one.id(), two.id(), one.id()), Version.V2);
    assertThat(((Answer.Imported) some).items())
        .extracting(Item::result)
        .containsExactly(Result.CHANGED, Result.UNCHANGED);
    assertThat(now(two)).isEqualTo(two);
    assertThat(now(three)).isEqualTo(three);
    Answer all = changeMany(null, Version.V1);
    assertThat(((Answer.Imported) all).items())
        .extracting(Item::result)
        .containsExactly(Result.CHANGED, Result.CHANGED, Result.UNCHANGED);
    assertThat(crank.store.subscriptions.values())
        .filteredOn(found -> found.form().format() == Format.WORKFRONT)
        .allMatch(found -> found.form().version() == Version.V1)
        .hasSize(3);
  }

  @Test
  void one_that_is_not_there_refuses_all() {
    Subscription one = subscribe(URL, Version.V1);
    Subscription plain = crank.subscribe(URL, TYPE);
    Answer.Subscribed others =
        (Answer.Subscribed)
            crank.ask(new Request.Subscribe("other", wish(URL, TYPE, Version.V1), null));
    for (long stranger : List.of(42L, plain.id(), others.subscription().id())) {
      Answer answer = changeMany(List.of(one.id(), stranger), Version.V2);
      assertThat(answer).isInstanceOf(Answer.Unfit.class);
      assertThat(((Answer.Unfit) answer).field()).isEqualTo("subscriptionIds[1]");
    }
    assertThat(now(one)).isEqualTo(one);
  }

  @Test
  void a_change_of_many_that_cannot_be_written_changes_none() {
    Subscription one = subscribe(URL, Version.V1);
    Subscription two = subscribe("http://two.example/", Version.V1);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    assertThat(changeMany(null, Version.V2)).isInstanceOf(Answer.Refused.class);
    assertThat(crank.store.subscriptions.values()).containsExactly(one, two);
    crank.send(TYPE, 1);
    assertThat(versionsSent()).containsOnlyNulls().hasSize(2);
  }

  @Test
  void changes_of_many_that_come_while_one_is_written_are_all_answered() {
    subscribe(URL, Version.V1);
    crank.holdCommits = true;
    List<List<Answer>> answers = new ArrayList<>();
    for (Version version :
        List.of(Version.V2, Version.V2, Version.V2, Version.V1, Version.V1, Version.V2)) {
      answers.add(crank.askLater(new Request.ChangeVersion("default", null, version)));
    }
    crank.commit();
    assertThat(answers).allMatch(answer -> answer.size() == 1);
    assertThat(answers.getLast().getFirst()).isInstanceOf(Answer.Imported.class);
  }

  @Test
  void one_that_has_the_version_already_is_on_disk_with_it_when_that_is_said() {
    Subscription subscription = subscribe(URL, Version.V1);
    crank.holdCommits = true;
    Patch toV2 = Patch.of(Form.Change.to(Version.V2));
    crank.askLater(new Request.Update("default", subscription.id(), toV2));
    List<Answer> answer = crank.askLater(new Request.ChangeVersion("default", null, Version.V2));
    assertThat(answer).isEmpty();
    crank.commit();
    Item item = ((Answer.Imported) answer.getFirst()).items().getFirst();
    assertThat(item.result()).isEqualTo(Result.UNCHANGED);
    assertThat(item.subscription()).isEqualTo(now(subscription));
  }

  @Test
  void what_waits_for_a_change_on_a_full_disk_is_refused_with_it() {
    Subscription subscription = subscribe(URL, Version.V1);
    crank.holdCommits = true;
    List<List<Answer>> answers = new ArrayList<>();
    answers.add(crank.askLater(new Request.ChangeVersion("default", null, Version.V2)));
    answers.add(
        crank.askLater(new Request.Update("default", subscription.id(), Patch.toPaused(true))));
    answers.add(crank.askLater(new Request.ChangeVersion("default", null, Version.V1)));
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.commitOne();
    assertThat(answers)
        .allMatch(answer -> answer.size() == 1 && answer.getFirst() instanceof Answer.Refused);
    crank.holdCommits = false;
    crank.commit();
    crank.pass(Duration.ofSeconds(10));
    assertThat(now(subscription)).isEqualTo(subscription);
    assertThat(changeMany(null, Version.V2)).isInstanceOf(Answer.Imported.class);
  }

  @Test
  void of_too_many_at_once_none_is_changed() {
    List<Long> ids =
        Collections.nCopies(Limits.VERSION_CHANGES + 1, subscribe(URL, Version.V1).id());
    Answer answer = changeMany(ids, Version.V2);
    assertThat(((Answer.Unfit) answer).field()).isEqualTo("subscriptionIds");
  }

  // ---- none is made twice

  @Test
  void one_with_all_the_same_is_not_made_again() {
    Subscription first = subscribe(URL, Version.V2);
    assertThat(crank.ask(unlessThere(wish(URL, TYPE, Version.V2))))
        .isEqualTo(new Answer.AlreadyThere(first.id()));
    assertThat(crank.store.subscriptions).hasSize(1);
    for (Wish other :
        List.of(
            wish(URL, TYPE, Version.V1),
            wish(URL, "PROJ.CREATE", Version.V2),
            wish("http://two.example/", TYPE, Version.V2))) {
      assertThat(crank.ask(unlessThere(other))).isInstanceOf(Answer.Subscribed.class);
      assertThat(crank.ask(unlessThere(other))).isInstanceOf(Answer.AlreadyThere.class);
    }
  }

  @Test
  void of_two_that_come_at_the_same_time_one_is_made() {
    crank.holdCommits = true;
    subscribeLater("http://other.example/");
    List<Answer> first = subscribeLater(URL);
    List<Answer> second = subscribeLater(URL);
    crank.commit();
    assertThat(first.getFirst()).isInstanceOf(Answer.Subscribed.class);
    assertThat(second.getFirst()).isInstanceOf(Answer.AlreadyThere.class);
    assertThat(crank.store.subscriptions).hasSize(2);
  }

  @Test
  void nobody_is_told_of_one_that_does_not_come_to_be() {
    crank.holdCommits = true;
    subscribeLater("http://other.example/");
    List<Answer> first = subscribeLater(URL);
    List<Answer> second = subscribeLater(URL);
    crank.commitOne();
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.commit();
    assertThat(first.getFirst()).isInstanceOf(Answer.Refused.class);
    assertThat(second.getFirst()).isInstanceOf(Answer.Subscribed.class);
    assertThat(crank.store.subscriptions).hasSize(2);
  }

  @Test
  void on_a_full_disk_or_at_the_end_who_waits_is_refused_with_the_others() {
    for (Input end : List.of(new Input.StopRequested(), new Input.SpaceLeft(1))) {
      Crank other = new Crank();
      other.holdCommits = true;
      other.askLater(Crank.submit("default", "order", 1));
      List<Answer> first = other.askLater(unlessThere(wish(URL, TYPE, Version.V2)));
      List<Answer> second = other.askLater(unlessThere(wish(URL, TYPE, Version.V2)));
      other.commitOne();
      other.put(end);
      other.failNextCommit = StoreException.Kind.FULL;
      other.commitOne();
      assertThat(first.getFirst()).isInstanceOf(Answer.Refused.class);
      assertThat(second.getFirst()).isInstanceOf(Answer.Refused.class);
    }
  }

  @Test
  void one_that_is_being_deleted_or_changed_decides_when_that_is_on_disk() {
    Subscription first = subscribe(URL, Version.V2);
    crank.holdCommits = true;
    crank.askLater(new Request.Unsubscribe("default", first.id()));
    List<Answer> again = subscribeLater(URL);
    assertThat(again).isEmpty();
    crank.commit();
    Subscription second = ((Answer.Subscribed) again.getFirst()).subscription();

    crank.askLater(
        new Request.Update("default", second.id(), Patch.of(Form.Change.to(Version.V1))));
    List<Answer> third = subscribeLater(URL);
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.commit();
    assertThat(third).containsExactly(new Answer.AlreadyThere(second.id()));
  }

  private List<Answer> subscribeLater(String url) {
    return crank.askLater(unlessThere(wish(url, TYPE, Version.V2)));
  }

  @Test
  void one_that_could_not_be_written_is_not_in_the_way() {
    crank.failNextCommit = StoreException.Kind.REFUSED;
    assertThat(crank.ask(unlessThere(wish(URL, TYPE, Version.V2))))
        .isInstanceOf(Answer.Refused.class);
    assertThat(crank.ask(unlessThere(wish(URL, TYPE, Version.V2))))
        .isInstanceOf(Answer.Subscribed.class);
  }

  @Test
  void one_that_was_deleted_or_changed_is_not_in_the_way() {
    Subscription first = subscribe(URL, Version.V2);
    crank.ask(new Request.Unsubscribe("default", first.id()));
    Answer again = crank.ask(unlessThere(wish(URL, TYPE, Version.V2)));
    Subscription second = ((Answer.Subscribed) again).subscription();
    change(second, Version.V1);
    assertThat(crank.ask(unlessThere(wish(URL, TYPE, Version.V2))))
        .isInstanceOf(Answer.Subscribed.class);
    assertThat(crank.ask(unlessThere(wish(URL, TYPE, Version.V1))))
        .isEqualTo(new Answer.AlreadyThere(second.id()));
  }

  @Test
  void after_a_restart_it_is_still_known() {
    Subscription first = subscribe(URL, Version.V2);
    crank.crash();
    assertThat(crank.ask(unlessThere(wish(URL, TYPE, Version.V2))))
        .isEqualTo(new Answer.AlreadyThere(first.id()));
  }
}
