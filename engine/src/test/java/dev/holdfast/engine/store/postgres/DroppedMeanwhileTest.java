package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Sample;
import dev.holdfast.engine.store.StoreLimits;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is read while a part is dropped is no damage. A part is gone for everybody at once, whatever
 * moment a transaction sees, so each read chooses its moment when no part can go any more.
 */
@Timeout(60)
final class DroppedMeanwhileTest {
  private static final Retention DAY = new Retention(Duration.ofDays(1), Retention.NO_LIMIT);
  private static final Instant LATER = NOW.plus(Duration.ofHours(2));
  private static final long ENDPOINT = 1_000_000;

  private final String url = PostgresServer.freshDatabase();
  private final IdSource ids = new IdSource(7, 0);
  private final ExecutorService threads = Executors.newSingleThreadExecutor();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  private PostgresStore store;

  @BeforeEach
  void open() throws Exception {
    store = PostgresTools.open(url, directory, StoreLimits.DEFAULT);
    PostgresTools.upkeep(url, DAY, NOW);
  }

  @AfterEach
  void close() {
    threads.close();
    store.close();
  }

  /** An event with a message that has been delivered. */
  private AcceptedEvent delivered(Instant at) throws Exception {
    Event event =
        new Event(ids.next(at), TENANT, "t", null, null, Sample.bytes("{}"), null, null, null);
    AcceptedEvent accepted = new AcceptedEvent(event, List.of(pending(event, at)));
    store.write(batch(accept(accepted)));
    deliver(accepted.messages().getFirst(), at);
    return accepted;
  }

  /** Has a replay make another message of the event, which is in a later part, and delivers it. */
  private void replay(AcceptedEvent event) throws Exception {
    Message again = pending(event.event(), LATER);
    Write.Remade remade = new Write.Remade(again, event.messages().getFirst().id());
    store.write(batch(new Write.Progress(null, replayAt(LATER), List.of(remade))));
    deliver(again, LATER);
  }

  private Message pending(Event event, Instant at) {
    return Message.pending(ids.next(at), event.id(), ENDPOINT + 1, ENDPOINT, event.size());
  }

  private void deliver(Message message, Instant at) throws Exception {
    store.write(batch(new Write.Deliver(message, Sample.success(message, 1), at)));
  }

  private Replay replayAt(Instant at) {
    return Replay.of(
        ids.next(at),
        TENANT,
        new Selection(ENDPOINT, null, Set.of(Ending.DELIVERED), null, null, false));
  }

  /**
   * Begins a read that has to wait for the tables, and drops the oldest part before it can go on.
   */
  private <T> T whileDropping(long oldest, Callable<T> read) throws Exception {
    try (Connections connections = new Connections(new PostgresOptions(url));
        Connection dropping = connections.own()) {
      dropping.setAutoCommit(false);
      Connections.execute(
          dropping, "LOCK TABLE " + String.join(", ", Parts.TABLES) + " IN ACCESS EXCLUSIVE MODE");
      Future<T> reading = threads.submit(read);
      PostgresTools.awaitSomebodyWaiting(connections);
      drop(dropping, oldest);
      dropping.commit();
      return reading.get();
    }
  }

  private static void drop(Connection connection, long event) throws SQLException {
    String part =
        Select.list(
                connection,
                "SELECT tableoid::regclass::text FROM events WHERE id = ?",
                row -> row.getString(1),
                event)
            .getFirst();
    for (String table : Parts.TABLES) {
      Connections.execute(connection, "DROP TABLE " + part.replace("events", table));
    }
    Connections.execute(
        connection,
        "DELETE FROM parts WHERE first <= "
            + event
            + "; UPDATE tenants SET events = 1, bytes = bytes / 2");
  }

  @Test
  void a_check_finds_no_damage() throws Exception {
    AcceptedEvent old = delivered(NOW);
    delivered(LATER);
    assertThat(whileDropping(old.event().id(), () -> PostgresTools.problems(url, directory)))
        .isEmpty();
  }

  @Test
  void a_list_leaves_out_messages_whose_event_went() throws Exception {
    AcceptedEvent old = delivered(NOW);
    replay(old);
    AcceptedEvent late = delivered(LATER);
    Query all = new Query(TENANT, Set.of(), null, null, null, null, null, Long.MAX_VALUE, 10);
    assertThat(whileDropping(old.event().id(), () -> store.messages(all).items()))
        .extracting(MessageSummary::id)
        .containsExactly(late.messages().getFirst().id());
  }

  @Test
  void a_replay_leaves_out_messages_whose_event_went() throws Exception {
    AcceptedEvent old = delivered(NOW);
    replay(old);
    AcceptedEvent late = delivered(LATER);
    Replay replay = replayAt(LATER.plusSeconds(60));
    assertThat(whileDropping(old.event().id(), () -> store.originals(replay, 10).originals()))
        .extracting(Original::message)
        .containsExactly(late.messages().getFirst().id());
  }
}
