package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What replays and events for very many need of every store. */
abstract class ReplayStoreContract {
  private static final long E1 = 1_000_001;
  private static final long E2 = 2_000_001;
  private static final Instant LATER = NOW.plusSeconds(3_600);
  private static final Retention RETENTION = new Retention(Duration.ofDays(30), Retention.NO_LIMIT);

  /** Reads look at 10 rows here, and the index is written in chunks of 5. */
  static final StoreLimits LIMITS =
      new StoreLimits(20, Duration.ofSeconds(5), 1, 10, Duration.ofMillis(5), 1 << 20, 1 << 30);

  private final Sample sample = new Sample();

  @SuppressWarnings("NullAway.Init")
  private Database store;

  /** Opens the store that holds what was written before in this test, with {@link #LIMITS}. */
  abstract Database openStore() throws Exception;

  /** Does all upkeep that is due. */
  abstract void upkeep(Database opened, Retention retention, Instant now) throws Exception;

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

  private void upkeep(Retention retention, Instant now) throws Exception {
    upkeep(store, retention, now);
  }

  private Message delivered(long endpoint) throws Exception {
    AcceptedEvent event = sample.pending(endpoint);
    store.write(batch(accept(event)));
    Message message = event.messages().getFirst();
    store.write(batch(new Write.Deliver(message, Sample.success(message, 1), NOW)));
    return message;
  }

  private Message dropped(long endpoint) throws Exception {
    AcceptedEvent event = sample.pending(endpoint);
    store.write(batch(accept(event)));
    Message message = event.messages().getFirst();
    store.write(batch(new Write.Drop(message, Message.DropReason.EXPIRED, null, NOW)));
    return message;
  }

  private static Replay replay(@Nullable Long endpoint, Set<Ending> endings) {
    return Replay.of(
        Id.floor(LATER), TENANT, new Selection(endpoint, null, endings, null, null, false));
  }

  private List<Long> all(Replay replay, int limit) throws Exception {
    List<Long> found = new ArrayList<>();
    Replay at = replay;
    for (int reads = 0; reads < 100; reads++) {
      Originals originals = store.originals(at, limit);
      for (Original original : originals.originals()) {
        found.add(original.message());
      }
      if (originals.isEnd()) {
        return found;
      }
      at = at.after(0, 0, originals.through());
    }
    throw new AssertionError("it never ends: " + found);
  }

  private Message remade(Message original, Instant at) throws Exception {
    Message made =
        new RetrySchedule(Duration.ofSeconds(1), 3)
            .replayed(
                Message.pending(
                    sample.id(),
                    original.event(),
                    original.subscription(),
                    original.endpoint(),
                    original.size()),
                at);
    Replay replay =
        replay(original.endpoint(), Set.of(Ending.DELIVERED))
            .counted(1)
            .after(1, 0, original.id())
            .as(Replay.State.DONE);
    store.write(
        batch(new Write.Progress(null, replay, List.of(new Write.Remade(made, original.id())))));
    return made;
  }

  @Test
  void what_fits_is_found_once_oldest_first_however_it_is_indexed() throws Exception {
    List<Long> ofOne = new ArrayList<>();
    List<Long> droppedOnes = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      if (i % 7 == 3) {
        droppedOnes.add(dropped(E1).id());
      } else if (i % 2 == 0) {
        ofOne.add(delivered(E1).id());
      } else {
        delivered(E2);
      }
      if (i == 40) {
        upkeep(Retention.FOREVER, NOW);
      }
    }
    List<Long> both = new ArrayList<>(ofOne);
    both.addAll(droppedOnes);
    both.sort(Long::compare);
    for (int limit : new int[] {1, 3, Integer.MAX_VALUE}) {
      assertThat(all(replay(E1, Set.of(Ending.DELIVERED)), limit)).isEqualTo(ofOne);
      assertThat(all(replay(E1, Set.of(Ending.DROPPED)), limit)).isEqualTo(droppedOnes);
      assertThat(all(replay(E1, Set.of(Ending.DELIVERED, Ending.DROPPED)), limit)).isEqualTo(both);
      assertThat(all(replay(null, Set.of(Ending.DROPPED)), limit)).isEqualTo(droppedOnes);
    }
    Replay early =
        Replay.of(
            Id.floor(NOW),
            TENANT,
            new Selection(E1, null, Set.of(Ending.DROPPED), null, null, false));
    assertThat(all(early, 5)).as("nothing was finished before it").isEmpty();
  }

  @Test
  void a_replayed_message_is_shown_with_what_it_is_of() throws Exception {
    Message original = delivered(E1);
    Message made = remade(original, LATER);
    assertThat(store.message(TENANT, made.id()).orElseThrow().message().replayOf())
        .isEqualTo(original.id());
    EventKey event = new EventKey.Own(original.event());
    assertThat(store.event(TENANT, event).orElseThrow().messages())
        .extracting(MessageSummary::id)
        .containsExactly(original.id(), made.id());
    Query ofEvent = new Query(TENANT, Set.of(), null, null, event, null, null, Long.MAX_VALUE, 1);
    assertThat(store.messages(ofEvent).items())
        .extracting(MessageSummary::id)
        .containsExactly(made.id());
    Query next = new Query(TENANT, Set.of(), null, null, event, null, null, made.id(), 10);
    assertThat(store.messages(next).items())
        .extracting(MessageSummary::id)
        .containsExactly(original.id());
    assertThat(all(replay(E1, Set.of(Ending.DELIVERED)), 10)).containsExactly(original.id());
    assertThat(
            store
                .originals(replay(E1, Set.of(Ending.DELIVERED)), 10)
                .originals()
                .getFirst()
                .replayed())
        .isTrue();
  }

  @Test
  void an_event_stays_until_its_replayed_messages_have_finished_long_enough_ago() throws Exception {
    Message original = delivered(E1);
    Message made = remade(original, LATER);
    delivered(E2);
    EventKey event = new EventKey.Own(original.event());
    upkeep(RETENTION, NOW.plus(Duration.ofDays(90)));
    assertThat(store.event(TENANT, event)).as("a message is unfinished").isPresent();
    Instant end = NOW.plus(Duration.ofDays(90));
    store.write(batch(new Write.Deliver(made, Sample.success(made, 1), end)));
    upkeep(RETENTION, end.plus(Duration.ofDays(29)));
    assertThat(store.event(TENANT, event)).as("it finished lately").isPresent();
    upkeep(RETENTION, end.plus(Duration.ofDays(31)));
    assertThat(store.event(TENANT, event)).isEmpty();
    assertThat(store.message(TENANT, made.id())).isEmpty();
  }

  @Test
  void an_event_that_is_gone_cannot_be_replayed() throws Exception {
    Message original = delivered(E1);
    delivered(E2);
    upkeep(RETENTION, NOW.plus(Duration.ofDays(31)));
    upkeep(RETENTION, NOW.plus(Duration.ofDays(62)));
    assertThatThrownBy(() -> remade(original, LATER))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.REFUSED));
    assertThat(store.replays(TENANT, Long.MAX_VALUE, 10)).isEmpty();
  }

  @Test
  void an_original_has_the_version_that_it_kept() throws Exception {
    List<@Nullable Version> versions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      AcceptedEvent event = sample.versions(E1, null, Version.V1, Version.V2);
      store.write(batch(accept(event)));
      for (Message message : event.messages()) {
        versions.add(message.version());
        store.write(batch(new Write.Deliver(message, Sample.success(message, 1), NOW)));
      }
      if (i == 2) {
        upkeep(Retention.FOREVER, NOW);
      }
    }
    List<@Nullable Version> found = new ArrayList<>();
    Replay at = replay(E1, Set.of(Ending.DELIVERED));
    while (found.size() < versions.size()) {
      Originals originals = store.originals(at, 5);
      for (Original original : originals.originals()) {
        found.add(original.version());
      }
      at = at.after(0, 0, originals.through());
    }
    assertThat(found).isEqualTo(versions);
  }

  @Test
  void steps_of_an_event_are_kept_until_their_messages_are_made() throws Exception {
    AcceptedEvent plain = sample.pending();
    List<FanOut> steps =
        List.of(
            new FanOut(plain.event().id(), plain.event().size(), 0, targets(3)),
            new FanOut(
                plain.event().id(),
                plain.event().size(),
                3,
                List.of(
                    new FanOut.Target(E1 + 1, E1, Version.V1),
                    new FanOut.Target(E2 + 1, E2, null),
                    new FanOut.Target(E1 + 1, E1, Version.V2))));
    store.write(batch(accept(new AcceptedEvent(plain.event(), List.of(), steps))));
    store.close();
    open();
    assertThat(store.snapshot().fanOuts()).isEqualTo(steps);
    assertThat(store.snapshot().highestId()).isEqualTo(steps.getLast().lastMessage());
    EventKey event = new EventKey.Own(plain.event().id());
    assertThat(store.event(TENANT, event).orElseThrow().messages()).isEmpty();
    FanOut first = steps.getFirst();
    Write made = new Write.Spread(first, messages(first));
    store.write(batch(made));
    assertThat(store.event(TENANT, event).orElseThrow().messages()).hasSize(3);
    assertThat(store.snapshot().fanOuts()).containsExactly(steps.getLast());
    assertThatThrownBy(() -> store.write(batch(made))).isInstanceOf(StoreException.class);
    upkeep(RETENTION, NOW.plus(Duration.ofDays(90)));
    assertThat(store.event(TENANT, event)).as("not all of it is made").isPresent();
    store.write(batch(new Write.Spread(steps.getLast(), messages(steps.getLast()))));
    assertThat(store.event(TENANT, event).orElseThrow().messages())
        .extracting(MessageSummary::version)
        .containsExactly(null, null, null, Version.V1, null, Version.V2);
  }

  private static List<FanOut.Target> targets(int count) {
    List<FanOut.Target> targets = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      targets.add(new FanOut.Target(E1 + 1, E1, null));
    }
    return targets;
  }

  private static List<Message> messages(FanOut step) {
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < step.targets().size(); i++) {
      FanOut.Target target = step.targets().get(i);
      messages.add(
          Message.pending(
              step.message(i),
              step.event(),
              target.subscription(),
              target.endpoint(),
              step.eventSize(),
              target.version()));
    }
    return messages;
  }
}
