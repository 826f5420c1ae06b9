package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Answer.Refused.Why;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.Recovery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Events that very many subscriptions want. */
class SpreadTest {
  private static final int WANTING = 25;

  private final Crank crank = new Crank(limits(10, 1_000), Recovery.DRAIN);
  private final List<Subscription> subscriptions = new ArrayList<>();

  static Limits limits(int matchesAtOnce, int spreading) {
    Limits usual = Limits.forHeap(512L << 20, 32);
    return new Limits(
        usual.inFlight(),
        usual.inFlightUnproven(),
        usual.laneInFlight(),
        usual.laneWindow(),
        usual.held(),
        usual.laneMinimum(),
        usual.bodyBytes(),
        usual.sendingBytes(),
        usual.startsInAStep(),
        usual.answersInAStep(),
        usual.batchWrites(),
        usual.batchBytes(),
        usual.batchEvery(),
        usual.acceptingBytes(),
        usual.unwritten(),
        usual.timers(),
        usual.horizon(),
        usual.loads(),
        usual.sweep(),
        matchesAtOnce,
        spreading,
        usual.retryStoreAfter(),
        Limits.BOTH_VERSIONS);
  }

  private void subscribeMany(Crank to) {
    for (int i = 0; i < WANTING; i++) {
      subscriptions.add(to.subscribe("http://e" + i + ".example/", "order"));
    }
  }

  private static Receipt receipt(Answer answer) {
    return ((Answer.Accepted) answer).receipts().getFirst();
  }

  @Test
  void an_event_that_more_want_than_fit_into_one_commit_reaches_them_all() {
    subscribeMany(crank);
    Receipt receipt = receipt(crank.send("order", 1));
    assertThat(receipt.messages()).isEqualTo(WANTING);
    assertThat(crank.taken).hasSize(WANTING);
    assertThat(crank.store.fanOuts).isEmpty();
    for (int i = 1; i <= WANTING; i++) {
      assertThat(crank.store.finished).containsKey(receipt.event() + i * Id.STRIDE);
    }
  }

  @Test
  void its_202_comes_when_the_plan_is_on_disk_and_a_crash_loses_nothing_of_it() {
    subscribeMany(crank);
    crank.holdCommits = true;
    List<Answer> answers = crank.askLater(Crank.submit("default", "order", 1));
    assertThat(answers).isEmpty();
    crank.commitOne();
    assertThat(answers).hasSize(1);
    assertThat(crank.store.fanOuts).hasSize(3);
    assertThat(crank.store.open).isEmpty();
    crank.holdCommits = false;
    crank.crash();
    assertThat(crank.taken).hasSize(WANTING);
    assertThat(crank.taken.values()).containsOnly(1);
  }

  @Test
  void a_step_that_cannot_be_written_is_tried_again() {
    subscribeMany(crank);
    crank.holdCommits = true;
    crank.askLater(Crank.submit("default", "order", 1));
    crank.commitOne();
    crank.failNextCommit = StoreException.Kind.REFUSED;
    crank.holdCommits = false;
    crank.commit();
    crank.pass(Duration.ofSeconds(2));
    assertThat(crank.taken).hasSize(WANTING);
  }

  @Test
  void others_are_accepted_and_served_between_the_steps() {
    subscribeMany(crank);
    Subscription other = crank.subscribe("http://other.example/", "invoice");
    crank.holdCommits = true;
    crank.askLater(Crank.submit("default", "order", 1));
    crank.commitOne();
    crank.askLater(Crank.submit("default", "invoice", 1));
    crank.commitOne();
    assertThat(crank.store.fanOuts).isNotEmpty();
    crank.commitOne();
    assertThat(crank.sent).anyMatch(d -> d.subscription().id() == other.id());
  }

  @Test
  void who_unsubscribes_between_the_steps_gets_nothing_and_a_trace_of_it_stays() {
    subscribeMany(crank);
    crank.holdCommits = true;
    crank.askLater(Crank.submit("default", "order", 1));
    crank.commitOne();
    Subscription last = subscriptions.getLast();
    crank.askLater(new Request.Unsubscribe("default", last.id()));
    crank.holdCommits = false;
    crank.commit();
    crank.pass(Duration.ofSeconds(5));
    assertThat(crank.taken).hasSize(WANTING - 1);
    assertThat(crank.store.finished.values()).containsOnlyOnce("unsubscribed");
    assertThat(crank.store.open.values()).extracting(Message::id).isEmpty();
  }

  @Test
  void too_much_that_waits_to_be_made_is_refused() {
    Crank small = new Crank(limits(10, 20), Recovery.DRAIN);
    subscribeMany(small);
    assertThat(small.send("order", 1)).isEqualTo(new Answer.Refused(Why.OVERLOADED));
    assertThat(small.store.events).isEmpty();
  }
}
