package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Replay.State;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReplaysTest {
  private static final String URL = "http://one.example/";
  private static final Duration FOR_EVER = Duration.ofHours(60);

  private final Crank crank = new Crank();
  private final Subscription subscription = crank.subscribe(URL, "order");

  private Replay replay(Ending ending, boolean again) {
    Answer answer = crank.ask(request(ending, again));
    crank.pass(Duration.ofSeconds(3));
    long id = ((Answer.ReplayIs) answer).replay().id();
    return Objects.requireNonNull(crank.store.replays.get(id));
  }

  private Request.Replay request(Ending ending, boolean again) {
    return new Request.Replay(
        "default", new Selection(subscription.endpoint(), null, Set.of(ending), null, null, again));
  }

  private void dropSome(int count) {
    crank.operate(subscription, Operation.FREEZE);
    crank.send("order", count);
    crank.pass(FOR_EVER);
    crank.operate(subscription, Operation.ENABLE);
    assertThat(crank.store.finished.values()).containsOnly("expired").hasSize(count);
  }

  @Test
  void dropped_messages_are_made_anew_and_delivered() {
    dropSome(3);
    Replay replay = replay(Ending.DROPPED, false);
    assertThat(replay.state()).isEqualTo(State.DONE);
    assertThat(List.of(replay.total(), replay.done(), replay.skipped()))
        .containsExactly(3L, 3L, 0L);
    assertThat(crank.taken).hasSize(3);
    assertThat(crank.store.remade).hasSize(3);
    assertThat(crank.taken.keySet()).doesNotContainAnyElementsOf(crank.store.remade.keySet());
  }

  @Test
  void what_was_replayed_is_skipped_unless_it_is_wanted_again() {
    dropSome(2);
    replay(Ending.DROPPED, false);
    assertThat(replay(Ending.DROPPED, false).skipped()).isEqualTo(2);
    assertThat(replay(Ending.DROPPED, true).done()).isEqualTo(2);
    assertThat(crank.taken).hasSize(4);
  }

  @Test
  void delivered_messages_can_be_replayed_too() {
    crank.send("order", 2);
    crank.pass(Duration.ofMinutes(1));
    assertThat(replay(Ending.DROPPED, false).total()).isZero();
    assertThat(replay(Ending.DELIVERED, false).done()).isEqualTo(2);
    assertThat(crank.taken).hasSize(4);
  }

  @Test
  void a_replay_goes_behind_what_is_new() {
    dropSome(100);
    crank.receiver = _ -> null;
    crank.ask(request(Ending.DROPPED, false));
    crank.pass(Duration.ofSeconds(3));
    int busy = crank.inFlight.size();
    crank.send("order", 20);
    crank.receiver = _ -> Crank.OK;
    crank.sent.clear();
    crank.endAll(Crank.OK);
    assertThat(busy).isLessThanOrEqualTo(32);
    List<Boolean> firstOnes =
        crank.sent.stream()
            .limit(20)
            .map(delivery -> delivery.message().slot() == 0 && delivery.message().base() == null)
            .toList();
    assertThat(firstOnes.stream().filter(isNew -> isNew).count()).isGreaterThanOrEqualTo(14);
  }

  @Test
  void a_replay_uses_the_subscription_as_it_is_now() {
    dropSome(2);
    String elsewhere = "http://two.example/";
    crank.ask(new Request.Update("default", subscription.id(), Request.Patch.toUrl(elsewhere)));
    replay(Ending.DROPPED, false);
    assertThat(crank.sent).allMatch(delivery -> delivery.url().equals(elsewhere)).hasSize(2);
  }

  @Test
  void messages_of_a_subscription_that_is_gone_are_skipped() {
    dropSome(2);
    crank.ask(new Request.Unsubscribe("default", subscription.id()));
    Replay replay = replay(Ending.DROPPED, false);
    assertThat(replay.skipped()).isEqualTo(2);
    assertThat(crank.sent).isEmpty();
  }

  @Test
  void only_a_tenants_own_subscription_can_be_replayed_by() {
    dropSome(2);
    assertThat(crank.ask(ofSubscription("other"))).isInstanceOf(Answer.NotFound.class);
    assertThat(crank.ask(ofSubscription("default"))).isInstanceOf(Answer.ReplayIs.class);
    crank.ask(new Request.Unsubscribe("default", subscription.id()));
    assertThat(crank.ask(ofSubscription("default"))).isInstanceOf(Answer.NotFound.class);
  }

  private Request.Replay ofSubscription(String tenant) {
    return new Request.Replay(
        tenant, new Selection(null, subscription.id(), Set.of(Ending.DROPPED), null, null, false));
  }

  @Test
  void a_crash_in_the_middle_makes_none_twice_and_forgets_none() {
    dropSome(2_500);
    crank.holdCommits = true;
    crank.askLater(request(Ending.DROPPED, false));
    crank.commitOne();
    crank.commitOne();
    crank.commitOne();
    crank.holdCommits = false;
    crank.crash();
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.store.remade).hasSize(2_500);
    assertThat(crank.store.remade.values()).allMatch(made -> made.size() == 1);
    assertThat(crank.taken.keySet()).hasSize(2_500);
  }

  @Test
  void a_replay_can_be_cancelled_and_what_it_has_made_stays() {
    dropSome(2_500);
    crank.holdCommits = true;
    List<Answer> answers = crank.askLater(request(Ending.DROPPED, false));
    crank.commitOne();
    long id = ((Answer.ReplayIs) answers.getFirst()).replay().id();
    crank.commitOne();
    crank.commitOne();
    List<Answer> cancelled = crank.askLater(new Request.CancelReplay("default", id));
    crank.holdCommits = false;
    crank.commit();
    crank.pass(Duration.ofSeconds(10));
    assertThat(cancelled).hasSize(1);
    Replay replay = Objects.requireNonNull(crank.store.replays.get(id));
    assertThat(replay.state()).isEqualTo(State.CANCELLED);
    assertThat(replay.done()).isEqualTo(crank.store.remade.size()).isLessThan(2_500);
    assertThat(crank.ask(new Request.CancelReplay("default", id)))
        .isInstanceOf(Answer.NotFound.class);
  }

  @Test
  void a_full_disk_only_makes_it_late() {
    dropSome(5);
    crank.ask(request(Ending.DROPPED, false));
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.taken).hasSize(5);
  }

  @Test
  void a_replayed_message_that_fails_has_its_own_schedule() {
    dropSome(1);
    crank.receiver = _ -> Crank.DOWN;
    crank.ask(request(Ending.DROPPED, false));
    crank.pass(Duration.ofSeconds(3));
    Message message = crank.onlyOpen();
    assertThat(message.slot()).isEqualTo(1);
    assertThat(message.base()).isAfterOrEqualTo(Crank.START.plus(FOR_EVER));
  }

  @Test
  void another_tenants_endpoint_cannot_be_replayed() {
    assertThat(
            crank.ask(
                new Request.Replay(
                    "other",
                    new Selection(
                        subscription.endpoint(), null, Set.of(Ending.DROPPED), null, null, false))))
        .isInstanceOf(Answer.NotFound.class);
  }
}
