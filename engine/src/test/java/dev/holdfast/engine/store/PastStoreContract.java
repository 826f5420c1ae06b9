package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a subscription that was not there needs of every store. */
abstract class PastStoreContract {
  private static final long NEWCOMER = 77;
  private static final Interest ALL =
      new Interest(List.of(new TypePattern("*")), null, Filters.NONE);

  /** Reads look at 10 rows here. */
  static final StoreLimits LIMITS =
      new StoreLimits(20, Duration.ofSeconds(5), 1, 10, Duration.ofMillis(5), 1 << 20, 1 << 30);

  private final Sample sample = new Sample();

  @SuppressWarnings("NullAway.Init")
  private Database store;

  /** Opens the store that holds what was written before in this test, with {@link #LIMITS}. */
  abstract Database openStore() throws Exception;

  /** What is damaged in the store, which is closed. */
  abstract List<String> problems() throws Exception;

  @BeforeEach
  void open() throws Exception {
    store = openStore();
  }

  @AfterEach
  void nothingIsDamaged() throws Exception {
    store.close();
    assertThat(problems()).isEmpty();
  }

  private Replay history(Instant since) {
    return Replay.of(sample.id(), TENANT, Selection.history(NEWCOMER, since)).bounded(sample.id());
  }

  private Event accepted(String tenant) throws Exception {
    Event event = sample.event(tenant, null, "{}");
    store.write(batch(accept(new AcceptedEvent(event, List.of()))));
    return event;
  }

  private List<Long> all(Replay replay, Interest interest, int limit) throws Exception {
    List<Long> found = new ArrayList<>();
    Replay at = replay;
    for (int reads = 0; reads < 100; reads++) {
      Originals originals = store.past(at, interest, limit);
      for (Original original : originals.originals()) {
        found.add(original.event());
        assertThat(original.message()).isZero();
        assertThat(original.subscription()).isEqualTo(NEWCOMER);
      }
      if (originals.isEnd()) {
        return found;
      }
      at = at.after(0, 0, originals.through());
    }
    throw new AssertionError("it never ends: " + found);
  }

  @Test
  void what_was_accepted_before_is_found_oldest_first_whatever_the_pages() throws Exception {
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < 35; i++) {
      if (i % 3 == 0) {
        accepted("other");
      } else {
        expected.add(accepted(TENANT).id());
      }
    }
    Replay replay = history(NOW.minusSeconds(1));
    accepted(TENANT);
    for (int limit : List.of(1, 3, 10, 1_000)) {
      assertThat(all(replay, ALL, limit)).isEqualTo(expected);
    }
  }

  @Test
  void only_what_is_of_interest_and_not_older_is_found() throws Exception {
    accepted(TENANT);
    Replay replay = history(NOW.minusSeconds(1));
    Interest other = new Interest(List.of(new TypePattern("other")), null, Filters.NONE);
    Interest otherSubject = new Interest(ALL.types(), "another", Filters.NONE);
    assertThat(all(replay, other, 10)).isEmpty();
    assertThat(all(replay, otherSubject, 10)).isEmpty();
    assertThat(all(history(NOW.plusSeconds(1)), ALL, 10)).isEmpty();
    assertThat(all(replay, ALL, 10)).hasSize(1);
  }

  @Test
  void an_event_that_it_has_a_message_of_is_left_out() throws Exception {
    AcceptedEvent unfinished = sample.pending(NEWCOMER - 1, 500);
    AcceptedEvent finished = sample.pending(500, NEWCOMER - 1);
    AcceptedEvent others = sample.pending(500, 600);
    store.write(batch(accept(unfinished), accept(finished), accept(others)));
    Message done = finished.messages().getLast();
    store.write(batch(new Write.Deliver(done, Sample.success(done, 1), NOW)));
    assertThat(all(history(NOW.minusSeconds(1)), ALL, 10)).containsExactly(others.event().id());
  }

  @Test
  void an_event_that_a_step_still_to_be_made_brings_is_left_out() throws Exception {
    AcceptedEvent plain = sample.pending(sample.event());
    FanOut step =
        new FanOut(
            plain.event().id(),
            plain.event().size(),
            0,
            List.of(
                new FanOut.Target(600, 599, null),
                new FanOut.Target(NEWCOMER, NEWCOMER - 1, null)));
    store.write(batch(accept(new AcceptedEvent(plain.event(), List.of(), List.of(step)))));
    sample.id();
    sample.id();
    AcceptedEvent others = sample.pending(500);
    store.write(batch(accept(others)));
    assertThat(all(history(NOW.minusSeconds(1)), ALL, 10)).containsExactly(others.event().id());
  }

  @Test
  void its_message_is_nobodys_replay_and_its_event_shows_it() throws Exception {
    Event event = accepted(TENANT);
    Replay replay = history(NOW.minusSeconds(1)).counted(1);
    Message made =
        new RetrySchedule(Duration.ofSeconds(1), 3)
            .replayed(Message.pending(sample.id(), event.id(), NEWCOMER, 76, event.size()), NOW);
    store.write(
        batch(
            new Write.Progress(
                null, replay.after(1, 0, event.id()), List.of(new Write.Remade(made, 0)))));
    MessageSummary shown = store.message(TENANT, made.id()).orElseThrow().message();
    assertThat(shown.replayOf()).isNull();
    assertThat(store.event(TENANT, new EventKey.Own(event.id())).orElseThrow().messages())
        .containsExactly(shown);
    assertThat(store.snapshot().replays()).containsExactly(replay.after(1, 0, event.id()));
  }

  @Test
  void a_subscription_is_kept_with_its_history_and_its_form() throws Exception {
    Endpoint endpoint = sample.endpoint("http://one.example/");
    RandomRecords records = new RandomRecords(new SplittableRandom(4));
    for (int i = 0; i < 20; i++) {
      Subscription subscription =
          new Subscription(sample.id(), TENANT, endpoint.id(), ALL, records.form(), NOW);
      Replay history = Replay.of(sample.id(), TENANT, Selection.history(subscription.id(), NOW));
      store.write(batch(new Write.Subscribe(subscription, endpoint, history)));
      Subscription changed =
          new Subscription(subscription.id(), TENANT, endpoint.id(), ALL, records.form(), NOW);
      store.write(batch(new Write.Import(List.of(), List.of(new Write.Update(changed, null)))));
      store.close();
      open();
      assertThat(store.snapshot().subscriptions()).contains(changed).doesNotContain(subscription);
      assertThat(store.snapshot().replays()).contains(history);
      assertThat(store.replay(TENANT, history.id())).contains(history);
    }
  }

  @Test
  void the_latest_events_of_a_tenant_come_newest_first() throws Exception {
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      if (i % 2 == 0) {
        accepted("other");
      } else {
        expected.addFirst(accepted(TENANT).id());
      }
    }
    assertThat(store.latestEvents(TENANT, 3))
        .extracting(Event::id)
        .isEqualTo(expected.subList(0, 3));
  }
}
