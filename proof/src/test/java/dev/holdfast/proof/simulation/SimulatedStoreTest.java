package dev.holdfast.proof.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the simulation takes for a store answers as the real one does. */
class SimulatedStoreTest {
  private static final int MOST_BATCHES = 400;
  private static final int BETWEEN_LOOKS = 20;
  private static final int ALL = 100_000;

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      longs = {
        1,
        5,
        7,
        17,
        23,
        29,
        31,
        41,
        1099511627776L,
        1099511627777L,
        1099511627778L,
        1099511627779L,
        1099511627780L,
        1099511627781L,
        1099511627782L,
        1099511627783L,
        1099511627784L,
        1099511627785L,
        3000000000000001L,
        3000000000000002L,
        3000000000000004L
      })
  void it_answers_as_the_real_store_does(long seed) throws Exception {
    List<Batch> batches = new ArrayList<>();
    Simulation.run(WorldMaker.make(seed), Trace.off(), batches::add);
    Instant now = World.START;
    try (SqliteStore real = SqliteStore.open(directory);
        SimulatedStore simulated = new SimulatedStore(7)) {
      simulated.remembers = true;
      Map<Long, Replay> replays = new TreeMap<>();
      for (int i = 0; i < Math.min(MOST_BATCHES, batches.size()); i++) {
        assertThat(simulated.write(batches.get(i))).isEqualTo(real.write(batches.get(i)));
        note(batches.get(i), replays);
        if (i % BETWEEN_LOOKS == 0) {
          now = now.plus(Duration.ofMinutes(i));
          compare(real, simulated, now);
          compare(real, simulated, replays.values());
        }
      }
      compare(real, simulated, now);
      compare(real, simulated, replays.values());
    }
  }

  private static void compare(Store real, Store simulated, Instant now) throws StoreException {
    Snapshot snapshot = real.snapshot();
    compare(snapshot, simulated.snapshot());
    assertThat(simulated.due(DueCursor.START, now, ALL))
        .isEqualTo(real.due(DueCursor.START, now, ALL));
    for (Endpoint endpoint : snapshot.endpoints()) {
      compare(real, simulated, endpoint, now);
    }
    for (Subscription subscription : snapshot.subscriptions()) {
      for (Endpoint endpoint : snapshot.endpoints()) {
        compare(real, simulated, endpoint.id(), subscription.id());
      }
    }
    for (Subscription subscription : snapshot.ended()) {
      compare(real, simulated, subscription.endpoint(), subscription.id());
    }
  }

  private static void compare(Store real, Store simulated, long endpoint, long subscription)
      throws StoreException {
    for (Which which : Which.values()) {
      assertThat(byId(simulated.ofSubscription(endpoint, subscription, which, ALL)))
          .isEqualTo(byId(real.ofSubscription(endpoint, subscription, which, ALL)));
    }
  }

  private static void note(Batch batch, Map<Long, Replay> replays) {
    for (Write write : batch.writes()) {
      if (write instanceof Write.Progress progress && !progress.replay().selection().isHistory()) {
        replays.put(progress.replay().id(), progress.replay());
      }
    }
  }

  /** What each replay is of, from its start and from where it is. */
  private static void compare(Store real, Store simulated, Collection<Replay> replays)
      throws StoreException {
    for (Replay replay : replays) {
      Replay anew = Replay.of(replay.id(), replay.tenant(), replay.selection());
      assertThat(originals(simulated, anew)).isEqualTo(originals(real, anew));
      assertThat(originals(simulated, replay)).isEqualTo(originals(real, replay));
    }
  }

  /** All of it, part by part: the stores may cut it differently. */
  private static List<Original> originals(Store store, Replay replay) throws StoreException {
    List<Original> all = new ArrayList<>();
    Replay from = replay;
    while (true) {
      Originals part = store.originals(from, 3);
      all.addAll(part.originals());
      if (part.isEnd()) {
        return all;
      }
      from = from.after(0, 0, part.through());
    }
  }

  private static void compare(Store real, Store simulated, Endpoint endpoint, Instant now)
      throws StoreException {
    long id = endpoint.id();
    assertThat(simulated.pending(id, ALL)).isEqualTo(real.pending(id, ALL));
    assertThat(simulated.probe(id, now)).isEqualTo(real.probe(id, now));
    Instant since = endpoint.health().since();
    List<Message> backlog = backlog(real, id, since, now);
    assertThat(backlog(simulated, id, since, now)).isEqualTo(backlog);
    assertThat(backlog(simulated, id, Instant.EPOCH, now))
        .isEqualTo(backlog(real, id, Instant.EPOCH, now));
    for (Message message : backlog) {
      assertThat(simulated.unfinished(message.id())).isEqualTo(real.unfinished(message.id()));
    }
    List<Long> events = backlog.stream().map(Message::event).distinct().sorted().toList();
    assertThat(ids(simulated.events(events))).isEqualTo(ids(real.events(events)));
  }

  /** All of it, part by part: the stores may cut it differently. */
  private static List<Message> backlog(Store store, long endpoint, Instant triedBefore, Instant now)
      throws StoreException {
    List<Message> all = new ArrayList<>();
    for (BacklogCursor after = BacklogCursor.START; after != null; ) {
      Store.Backlog part = store.backlog(endpoint, triedBefore, after, now, 3);
      all.addAll(part.messages());
      after = part.next();
    }
    return all;
  }

  private static void compare(Snapshot real, Snapshot simulated) {
    assertThat(simulated.endpoints()).containsExactlyInAnyOrderElementsOf(real.endpoints());
    assertThat(simulated.subscriptions()).containsExactlyInAnyOrderElementsOf(real.subscriptions());
    assertThat(simulated.ended()).containsExactlyInAnyOrderElementsOf(real.ended());
    assertThat(simulated.unfinished()).isEqualTo(real.unfinished());
    assertThat(simulated.fanOuts()).containsExactlyInAnyOrderElementsOf(real.fanOuts());
    assertThat(simulated.replays()).containsExactlyInAnyOrderElementsOf(real.replays());
    assertThat(simulated.highestId()).isGreaterThanOrEqualTo(real.highestId());
  }

  private static List<Message> byId(List<Message> messages) {
    return messages.stream().sorted(Comparator.comparingLong(Message::id)).toList();
  }

  private static List<Long> ids(List<Event> events) {
    return events.stream().map(Event::id).toList();
  }
}
