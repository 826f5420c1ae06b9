package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.State;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HistoryForNewcomersTest {
  private static final String URL = "http://one.example/";
  private static final Duration A_WHILE = Duration.ofMinutes(1);

  private final Crank crank = new Crank();

  private static Request.Subscribe newcomer(Instant since) {
    Interest interest = new Interest(List.of(new TypePattern("order")), null, Filters.NONE);
    return new Request.Subscribe("default", new Wish(URL, interest, Form.PLAIN, null), since);
  }

  private Answer.Subscribed subscribe(Instant since) {
    return (Answer.Subscribed) crank.ask(newcomer(since));
  }

  private Replay replay(Answer.Subscribed subscribed) {
    return Objects.requireNonNull(
        crank.store.replays.get(Objects.requireNonNull(subscribed.history()).id()));
  }

  private List<Long> eventsSent() {
    return crank.sent.stream().map(delivery -> delivery.event().id()).toList();
  }

  private List<Long> storedEvents() {
    return List.copyOf(crank.store.events.keySet());
  }

  @Test
  void a_new_subscription_gets_what_was_accepted_before_it_in_that_order() {
    crank.send("order", 5);
    crank.send("invoice", 2);
    crank.pass(A_WHILE);
    List<Long> orders = storedEvents().subList(0, 5);
    Answer.Subscribed subscribed = subscribe(Crank.START);
    crank.pass(A_WHILE);
    assertThat(eventsSent()).containsExactlyElementsOf(orders);
    Replay replay = replay(subscribed);
    assertThat(replay.state()).isEqualTo(State.DONE);
    assertThat(List.of(replay.total(), replay.done(), replay.skipped()))
        .containsExactly(5L, 5L, 0L);
  }

  @Test
  void it_gets_nothing_from_before_the_moment_that_it_names() {
    crank.send("order", 3);
    crank.pass(A_WHILE);
    Instant since = crank.now;
    crank.send("order", 2);
    crank.pass(A_WHILE);
    subscribe(since);
    crank.pass(A_WHILE);
    assertThat(eventsSent()).containsExactlyElementsOf(storedEvents().subList(3, 5));
  }

  @Test
  void without_a_moment_it_gets_nothing_from_before() {
    crank.send("order", 3);
    assertThat(crank.subscribe(URL, "order")).isNotNull();
    crank.pass(A_WHILE);
    assertThat(crank.sent).isEmpty();
  }

  @Test
  void another_tenants_events_do_not_come() {
    crank.send("other", "order", 3);
    subscribe(Crank.START);
    crank.pass(A_WHILE);
    assertThat(crank.sent).isEmpty();
  }

  @Test
  void what_is_accepted_while_the_subscription_is_being_written_comes_once() {
    crank.send("order", 1);
    crank.holdCommits = true;
    crank.askLater(newcomer(Crank.START));
    crank.askLater(Crank.submit("default", "order", 2));
    crank.commitOne();
    crank.askLater(Crank.submit("default", "order", 3));
    crank.holdCommits = false;
    crank.commit();
    crank.pass(A_WHILE);
    assertThat(storedEvents()).hasSize(6);
    Replay replay = crank.store.replays.values().iterator().next();
    assertThat(List.of(replay.total(), replay.done())).containsExactly(3L, 3L);
    assertThat(eventsSent()).containsExactlyInAnyOrderElementsOf(storedEvents());
  }

  @Test
  void what_came_by_itself_before_a_crash_is_not_brought_again() {
    crank.send("order", 2);
    crank.holdLoads = true;
    subscribe(Crank.START);
    crank.send("order", 3);
    crank.crash();
    crank.holdLoads = false;
    crank.crash();
    crank.pass(A_WHILE);
    assertThat(eventsSent()).containsExactlyInAnyOrderElementsOf(storedEvents());
  }

  @Test
  void history_goes_behind_what_is_new() {
    crank.send("order", 100);
    crank.receiver = _ -> null;
    subscribe(Crank.START);
    crank.pass(Duration.ofSeconds(3));
    crank.send("order", 20);
    crank.receiver = _ -> Crank.OK;
    crank.sent.clear();
    crank.endAll(Crank.OK);
    long fresh =
        crank.sent.stream()
            .limit(20)
            .map(Delivery::message)
            .filter(message -> message.base() == null)
            .count();
    assertThat(fresh).isGreaterThanOrEqualTo(14);
  }

  @Test
  void it_ends_with_its_subscription() {
    crank.send("order", 2_500);
    crank.holdCommits = true;
    List<Answer> answers = crank.askLater(newcomer(Crank.START));
    crank.commitOne();
    Answer.Subscribed subscribed = (Answer.Subscribed) answers.getFirst();
    crank.askLater(new Request.Unsubscribe("default", subscribed.subscription().id()));
    crank.holdCommits = false;
    crank.commit();
    crank.pass(A_WHILE);
    assertThat(replay(subscribed).state()).isEqualTo(State.CANCELLED);
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.store.ended).isEmpty();
  }

  @Test
  void only_so_many_newcomers_of_a_tenant_are_served_at_once() {
    crank.send("order", 1);
    crank.holdLoads = true;
    for (int i = 0; i < Limits.HISTORIES; i++) {
      subscribe(Crank.START);
    }
    assertThat(crank.ask(newcomer(Crank.START)))
        .isEqualTo(new Answer.TooManyHistories(Limits.HISTORIES));
    crank.holdLoads = false;
    crank.answerLoads();
    crank.pass(A_WHILE);
    assertThat(crank.ask(newcomer(Crank.START))).isInstanceOf(Answer.Subscribed.class);
  }

  @Test
  void what_its_filters_refused_before_a_crash_stays_refused() {
    crank.send("order", 1);
    crank.holdLoads = true;
    long id = subscribe(Crank.START).subscription().id();
    crank.send("invoice", 2);
    crank.ask(
        new Request.Update("default", id, Request.Patch.toTypes(List.of(new TypePattern("*")))));
    crank.crash();
    crank.holdLoads = false;
    crank.crash();
    crank.pass(A_WHILE);
    assertThat(eventsSent()).containsExactly(storedEvents().getFirst());
  }

  @Test
  void a_full_disk_only_makes_it_late() {
    crank.send("order", 5);
    subscribe(Crank.START);
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.pass(A_WHILE);
    assertThat(eventsSent()).containsExactlyInAnyOrderElementsOf(storedEvents());
  }

  static Stream<Long> seeds() {
    return new SplittableRandom(20_261_115).longs(200).boxed();
  }

  /** Whatever happens between its steps: each event comes to the newcomer, and none twice. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void crashes_and_full_disks_lose_nothing_and_double_nothing(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    crank.send("order", random.nextInt(3_000));
    crank.holdCommits = true;
    List<Answer> subscribed = new ArrayList<>(crank.askLater(newcomer(Crank.START)));
    for (int i = 0; i < 12; i++) {
      switch (random.nextInt(6)) {
        case 0 -> crank.askLater(Crank.submit("default", "order", random.nextInt(1, 5)));
        case 1 -> crank.failNextCommit = StoreException.Kind.FULL;
        case 2 -> crank.crash();
        case 3 -> {
          crank.holdLoads = !crank.holdLoads;
          crank.answerLoads();
        }
        default -> {
          crank.holdCommits = false;
          crank.commit();
          crank.pass(Duration.ofMillis(random.nextInt(1, 2_000)));
          crank.holdCommits = true;
        }
      }
    }
    crank.holdCommits = false;
    crank.holdLoads = false;
    crank.answerLoads();
    crank.commit();
    crank.pass(Duration.ofHours(1));
    if (crank.store.subscriptions.isEmpty()) {
      // It was never written, and nobody was told that it was.
      assertThat(subscribed).noneMatch(Answer.Subscribed.class::isInstance);
      return;
    }
    List<Long> ofMessages =
        crank.store.messages.values().stream().map(Message::event).sorted().toList();
    assertThat(ofMessages).doesNotHaveDuplicates();
    assertThat(new TreeSet<>(ofMessages)).isEqualTo(new TreeSet<>(storedEvents()));
    assertThat(new HashSet<>(eventsSent())).isEqualTo(new HashSet<>(storedEvents()));
  }
}
