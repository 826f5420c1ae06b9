package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Sample;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.Upkept.Removed;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** How tables are cut by time, and what is old is dropped. */
final class PartsTest {
  private static final long E1 = 1_000_001;
  private static final Instant START = Instant.parse("2026-03-01T00:30:00Z");
  private static final Duration HOUR = Duration.ofHours(1);

  /** Parts are an hour wide for it. */
  private static final Retention DAY = new Retention(Duration.ofDays(1), Retention.NO_LIMIT);

  private final String url = PostgresServer.freshDatabase();
  private final Connections connections = new Connections(new PostgresOptions(url));
  private final IdSource ids = new IdSource(7, 0);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  private PostgresStore store;

  @BeforeEach
  void open() throws Exception {
    store = PostgresTools.open(url, directory, StoreLimits.DEFAULT);
  }

  @AfterEach
  void nothingIsDamaged() throws Exception {
    store.close();
    connections.close();
    assertThat(PostgresTools.problems(url, directory)).isEmpty();
  }

  private Removed upkeep(Retention retention, Instant now) throws Exception {
    return PostgresTools.upkeep(url, retention, now);
  }

  private AcceptedEvent accepted(Instant at, @Nullable String callerId) throws Exception {
    Event event =
        new Event(
            ids.next(at),
            TENANT,
            "order.paid",
            null,
            null,
            Sample.bytes("{}"),
            null,
            callerId,
            null);
    AcceptedEvent accepted =
        new AcceptedEvent(
            event, List.of(Message.pending(ids.next(at), event.id(), E1 + 1, E1, event.size())));
    store.write(batch(accept(accepted)));
    return accepted;
  }

  private Message deliver(AcceptedEvent event, Instant at) throws Exception {
    Message message = event.messages().getFirst();
    store.write(batch(new Write.Deliver(message, Sample.success(message, 1), at)));
    return message;
  }

  private boolean isThere(AcceptedEvent event) throws Exception {
    return store.event(TENANT, new EventKey.Own(event.event().id())).isPresent();
  }

  private long number(String sql) throws Exception {
    return connections.read(
        "asking", connection -> Select.list(connection, sql, row -> row.getLong(1)).getFirst());
  }

  @Test
  void parts_follow_on_each_other_from_the_lowest_id_to_some_time_ahead() throws Exception {
    upkeep(DAY, START);
    assertThat(number("SELECT min(first) FROM parts")).isZero();
    assertThat(number("SELECT max(until) FROM parts"))
        .isGreaterThanOrEqualTo(Id.floor(START.plus(Duration.ofHours(48))));
    assertThat(
            number(
                "SELECT count(*) FROM parts p WHERE first > 0"
                    + " AND NOT EXISTS (SELECT 1 FROM parts o WHERE o.until = p.first)"))
        .isZero();
    long parts = number("SELECT count(*) FROM parts");
    upkeep(DAY, START.plus(Duration.ofMinutes(5)));
    assertThat(number("SELECT count(*) FROM parts")).isEqualTo(parts);
    upkeep(DAY, START.plus(HOUR.multipliedBy(2)));
    assertThat(number("SELECT count(*) FROM parts")).isEqualTo(parts + 2);
    accepted(START, null);
    accepted(Instant.parse("2025-01-01T00:00:00Z"), null);
    assertThat(number("SELECT count(*) FROM events_rest")).isZero();
  }

  @Test
  void the_longer_something_is_kept_the_wider_are_the_parts() {
    assertThat(width(Duration.ofDays(1))).isEqualTo(HOUR);
    assertThat(width(Duration.ofDays(7))).isEqualTo(Duration.ofHours(6));
    assertThat(width(Duration.ofDays(30))).isEqualTo(Duration.ofDays(1));
    assertThat(width(Duration.ofDays(365))).isEqualTo(Duration.ofDays(7));
    assertThat(Parts.width(Retention.FOREVER)).isEqualTo(Duration.ofDays(28));
    assertThat(Parts.width(new Retention(Duration.ofDays(1), 1))).isEqualTo(HOUR);
    assertThat(Parts.width(new Retention(Duration.ofDays(7), 1))).isEqualTo(HOUR.multipliedBy(3));
    assertThat(Parts.width(new Retention(Duration.ofDays(30), 1))).isEqualTo(Duration.ofHours(12));
  }

  @Test
  void there_are_about_a_hundred_parts_at_most_however_long_something_is_kept() {
    for (int days = 1; days <= 2_600; days++) {
      for (long bytes : new long[] {Retention.NO_LIMIT, 1}) {
        Duration age = Duration.ofDays(days);
        assertThat(age.plus(Parts.AHEAD).dividedBy(Parts.width(new Retention(age, bytes))))
            .as(age + " " + bytes)
            .isLessThanOrEqualTo(100);
      }
    }
  }

  private static Duration width(Duration age) {
    return Parts.width(new Retention(age, Retention.NO_LIMIT));
  }

  @Test
  void what_is_older_than_the_store_gets_parts_that_can_go_in_time() throws Exception {
    Instant oldest = START.minus(Duration.ofHours(20));
    assertThat(store.makeRoom(DAY, oldest, START)).isTrue();
    AcceptedEvent old = accepted(oldest, null);
    AcceptedEvent young = accepted(START, null);
    deliver(old, oldest);
    deliver(young, START);
    upkeep(DAY, oldest.plus(HOUR.multipliedBy(26)));
    assertThat(isThere(old)).isFalse();
    assertThat(isThere(young)).isTrue();
  }

  @Test
  void what_came_before_there_was_a_part_for_it_is_taken_in() throws Exception {
    AcceptedEvent early = accepted(START, "one");
    upkeep(DAY, START);
    AcceptedEvent late = accepted(START.plus(Duration.ofDays(3)), "two");
    deliver(late, START);
    assertThat(number("SELECT count(*) FROM events_rest")).isEqualTo(1);
    assertThat(number("SELECT count(*) FROM messages_rest")).isEqualTo(1);
    assertThat(isThere(late)).isTrue();
    upkeep(DAY, START.plus(Duration.ofDays(3)));
    assertThat(number("SELECT count(*) FROM events_rest")).isZero();
    assertThat(number("SELECT count(*) FROM messages_rest")).isZero();
    assertThat(isThere(early)).isTrue();
    assertThat(isThere(late)).isTrue();
  }

  @Test
  void nodes_that_make_parts_at_the_same_time_make_each_once() throws Exception {
    CompletableFuture<?>[] nodes = new CompletableFuture<?>[4];
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] =
          CompletableFuture.runAsync(
              () -> {
                try {
                  upkeep(DAY, START);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
    }
    CompletableFuture.allOf(nodes).join();
    upkeep(DAY, START);
    assertThat(number("SELECT count(*) - count(DISTINCT until) FROM parts")).isZero();
    assertThat(number("SELECT count(*) FROM pg_inherits WHERE inhparent = 'events'::regclass"))
        .isEqualTo(number("SELECT count(*) + 1 FROM parts"));
  }

  @Test
  void a_part_goes_as_a_whole_when_all_in_it_has_finished_long_enough_ago() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent one = accepted(START, "one");
    AcceptedEvent two = accepted(START.plusSeconds(1), null);
    deliver(one, START.plusSeconds(10));
    Instant late = START.plus(Duration.ofHours(20));
    AcceptedEvent young = accepted(late, "young");
    upkeep(DAY, late);
    upkeep(DAY, START.plus(Duration.ofDays(9)));
    assertThat(isThere(one)).as("a message in it is unfinished").isTrue();
    deliver(two, late);
    upkeep(DAY, late.plus(Duration.ofDays(1)).minusSeconds(1));
    assertThat(isThere(one)).as("one finished lately").isTrue();
    deliver(young, late.plus(HOUR.multipliedBy(30)));
    Removed removed = upkeep(DAY, late.plus(Duration.ofDays(1)).plusSeconds(1));
    assertThat(isThere(one)).isFalse();
    assertThat(isThere(two)).isFalse();
    assertThat(isThere(young)).isTrue();
    assertThat(removed.events()).isEqualTo(2);
    assertThat(removed.messages()).isEqualTo(2);
    assertThat(removed.ofTenants())
        .containsEntry(TENANT, new Stored(2, one.event().size() + two.event().size()));
    assertThat(store.stored()).containsEntry(TENANT, new Stored(1, young.event().size()));
    assertThat(store.event(TENANT, new EventKey.Callers("one"))).isEmpty();
    assertThat(number("SELECT count(*) FROM keys")).isEqualTo(1);
  }

  @Test
  void a_part_that_a_replay_still_has_to_read_is_kept() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent event = accepted(START, null);
    Message message = deliver(event, START);
    Instant later = START.plus(Duration.ofDays(3));
    Replay replay =
        Replay.of(
            Id.floor(later),
            TENANT,
            new Selection(E1, null, Set.of(Ending.DELIVERED), null, null, false));
    store.write(batch(new Write.Progress(null, replay, List.of())));
    upkeep(DAY, later);
    assertThat(isThere(event)).isTrue();
    store.write(
        batch(
            new Write.Progress(
                replay, replay.counted(1).after(0, 1, message.id() + (1L << 60)), List.of())));
    upkeep(DAY, later.plus(HOUR));
    assertThat(isThere(event)).isFalse();
  }

  @Test
  void when_too_much_is_stored_the_oldest_finished_parts_go_before_their_time() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent old = accepted(START, null);
    deliver(old, START);
    Instant later = START.plus(HOUR.multipliedBy(5));
    upkeep(DAY, later);
    AcceptedEvent young = accepted(later, null);
    upkeep(new Retention(Duration.ofDays(1), 1), later.plusSeconds(60));
    assertThat(isThere(old)).isFalse();
    assertThat(isThere(young)).as("it is unfinished, and lately accepted").isTrue();
  }

  @Test
  void a_message_of_a_replay_is_gone_with_its_event() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent event = accepted(START, null);
    Message original = deliver(event, START);
    Instant later = START.plus(HOUR.multipliedBy(3));
    upkeep(DAY, later);
    Message made = Message.pending(ids.next(later), original.event(), E1 + 1, E1, original.size());
    Replay replay =
        Replay.of(
                ids.next(later),
                TENANT,
                new Selection(E1, null, Set.of(Ending.DELIVERED), null, null, false))
            .counted(1)
            .as(Replay.State.DONE);
    store.write(
        batch(new Write.Progress(null, replay, List.of(new Write.Remade(made, original.id())))));
    store.write(batch(new Write.Deliver(made, Sample.success(made, 1), later)));
    upkeep(DAY, START.plus(Duration.ofHours(26)));
    assertThat(isThere(event)).as("a message that was made of it finished lately").isTrue();
    // The part that has the new message is not old enough, that of its event is.
    upkeep(DAY, later.plus(Duration.ofDays(1)).plusSeconds(1));
    assertThat(isThere(event)).isFalse();
    assertThat(store.message(TENANT, made.id())).isEmpty();
    assertThat(number("SELECT count(*) FROM messages")).isEqualTo(1);
  }

  @Test
  void it_gives_way_to_whoever_is_at_work_and_comes_back() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent event = accepted(START, "one");
    deliver(event, START);
    Instant later = START.plus(Duration.ofDays(3));
    try (Connection other = DriverManager.getConnection(url);
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("SELECT * FROM messages");
      upkeep(DAY, later);
      assertThat(isThere(event)).isTrue();
      other.rollback();
    }
    assertThat(isRepeat(later, "one")).as("the event is there, and so is its id").isTrue();
    upkeep(DAY, later);
    assertThat(isThere(event)).isFalse();
    assertThat(isRepeat(later, "one")).isFalse();
  }

  private boolean isRepeat(Instant at, String callerId) throws Exception {
    Event event =
        new Event(
            ids.next(at),
            TENANT,
            "order.paid",
            null,
            null,
            Sample.bytes("{}"),
            null,
            callerId,
            null);
    AcceptResult result =
        store.write(batch(accept(new AcceptedEvent(event, List.of())))).accepts().getFirst();
    return ((AcceptResult.Kept) result).receipts().getFirst().repeat();
  }

  @Test
  void an_id_that_was_left_of_a_removed_event_is_anybodys() throws Exception {
    upkeep(DAY, START);
    deliver(accepted(START, "one"), START);
    deliver(accepted(START, "two"), START);
    try (Connection other = DriverManager.getConnection(url);
        Statement statement = other.createStatement()) {
      statement.execute("CREATE TABLE kept AS SELECT * FROM keys");
      upkeep(DAY, START.plus(Duration.ofDays(3)));
      assertThat(number("SELECT count(*) FROM keys")).isZero();
      // As if the node had died before it came to them.
      statement.execute("INSERT INTO keys SELECT * FROM kept");
    }
    Instant later = START.plus(Duration.ofDays(3));
    assertThat(isRepeat(later, "one")).isFalse();
    assertThat(isRepeat(later, "one")).isTrue();
    assertThat(number("SELECT count(*) FROM keys")).isEqualTo(2);
    upkeep(DAY, later.plusSeconds(60));
    assertThat(number("SELECT count(*) FROM keys")).isEqualTo(1);
  }

  @Test
  void nodes_that_drop_parts_at_the_same_time_drop_each_once() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent event = accepted(START, null);
    deliver(event, START);
    List<CompletableFuture<Removed>> nodes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      nodes.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return upkeep(DAY, START.plus(Duration.ofDays(3)));
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              }));
    }
    long removed = 0;
    for (CompletableFuture<Removed> node : nodes) {
      removed += node.join().events();
    }
    removed += upkeep(DAY, START.plus(Duration.ofDays(3))).events();
    assertThat(removed).isEqualTo(1);
    assertThat(isThere(event)).isFalse();
  }

  /** Another session with some locks, as people and copies have them. */
  private Connection holding(String locks) throws Exception {
    Connection other = DriverManager.getConnection(url);
    other.setAutoCommit(false);
    try (Statement statement = other.createStatement()) {
      statement.execute(locks);
    }
    return other;
  }

  /** As if the rest were too large to be looked through at once. */
  private void upkeepOfMuch(Instant now) throws Exception {
    try (PostgresUpkeep upkeep = new PostgresUpkeep(connections, new Parts(connections, 0))) {
      for (boolean isMore = true; isMore; ) {
        isMore = upkeep.step(DAY, now).isMore();
      }
    }
  }

  @Test
  void the_rest_is_looked_through_while_others_go_on_and_then_taken_in() throws Exception {
    upkeep(DAY, START);
    Instant later = START.plus(Duration.ofDays(3));
    AcceptedEvent one = accepted(later, "one");
    deliver(one, later);
    String proven =
        "SELECT count(*) FROM pg_constraint WHERE contype = 'c' AND convalidated"
            + " AND conrelid::regclass::text LIKE '%\\_rest'";
    try (Connection other = holding("LOCK TABLE ONLY messages IN ACCESS SHARE MODE")) {
      upkeepOfMuch(later);
      assertThat(number("SELECT count(*) FROM events_rest")).isEqualTo(1);
      assertThat(number(proven)).as("what is left to do takes no time").isEqualTo(4);
      deliver(accepted(later.plus(Duration.ofHours(30)), "two"), later);
      other.rollback();
    }
    upkeepOfMuch(later.plusSeconds(60));
    assertThat(number("SELECT count(*) FROM events_rest")).isZero();
    assertThat(number("SELECT count(*) FROM messages_rest")).isZero();
    assertThat(number(proven)).isZero();
    assertThat(isThere(one)).isTrue();
    assertThat(number("SELECT count(*) FROM events")).isEqualTo(2);
    assertThat(
            number(
                "SELECT count(*) FROM parts p WHERE first > 0"
                    + " AND NOT EXISTS (SELECT 1 FROM parts o WHERE o.until = p.first)"))
        .as("gaps, where empty parts have gone")
        .isLessThanOrEqualTo(1);
  }

  @Test
  void an_event_that_is_kept_keeps_no_other_parts() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent old = accepted(START, "old");
    AcceptedEvent young = accepted(START.plus(HOUR.multipliedBy(2)), "young");
    Message message = deliver(young, START.plus(HOUR.multipliedBy(2)));
    Instant later = START.plus(Duration.ofDays(3));
    upkeep(DAY, later);
    assertThat(isThere(old)).as("it is unfinished").isTrue();
    assertThat(isThere(young)).isFalse();
    assertThat(store.message(TENANT, message.id())).isEmpty();
    assertThat(store.stored()).containsEntry(TENANT, new Stored(1, old.event().size()));
    assertThat(number("SELECT count(*) FROM keys")).isEqualTo(1);
    assertThat(isRepeat(later, "young")).isFalse();
    assertThat(isRepeat(later, "old")).isTrue();
  }

  @Test
  void a_part_with_a_message_that_was_made_of_a_kept_event_is_kept_with_it() throws Exception {
    upkeep(DAY, START);
    Event event =
        new Event(ids.next(START), TENANT, "t", null, null, Sample.bytes("{}"), null, null, null);
    Message original = Message.pending(ids.next(START), event.id(), E1 + 1, E1, event.size());
    Message open = Message.pending(ids.next(START), event.id(), E1 + 2, E1, event.size());
    store.write(batch(accept(new AcceptedEvent(event, List.of(original, open)))));
    store.write(batch(new Write.Deliver(original, Sample.success(original, 1), START)));
    Instant later = START.plus(HOUR.multipliedBy(3));
    AcceptedEvent beside = accepted(later, null);
    deliver(beside, later);
    Message made = Message.pending(ids.next(later), event.id(), E1 + 1, E1, event.size());
    Replay replay =
        Replay.of(
                ids.next(later),
                TENANT,
                new Selection(E1, null, Set.of(Ending.DELIVERED), null, null, false))
            .counted(1)
            .as(Replay.State.DONE);
    store.write(
        batch(new Write.Progress(null, replay, List.of(new Write.Remade(made, original.id())))));
    store.write(batch(new Write.Deliver(made, Sample.success(made, 1), later)));
    upkeep(DAY, START.plus(Duration.ofDays(3)));
    assertThat(store.message(TENANT, made.id())).isPresent();
    assertThat(isThere(beside)).isTrue();
    assertThat(PostgresTools.problems(url, directory)).isEmpty();
    store.write(
        batch(new Write.Deliver(open, Sample.success(open, 1), START.plus(Duration.ofDays(2)))));
    upkeep(DAY, START.plus(Duration.ofDays(4)));
    assertThat(number("SELECT count(*) FROM messages")).isZero();
    assertThat(number("SELECT count(*) FROM events")).isZero();
  }

  @Test
  void what_is_left_in_the_rest_of_removed_events_goes_unless_it_is_unfinished() throws Exception {
    Instant later = START.plus(Duration.ofDays(3));
    upkeep(DAY, START);
    upkeep(DAY, later);
    // As if it had been on its way for days.
    AcceptedEvent stray = accepted(START, null);
    AcceptedEvent above = accepted(later.plus(Duration.ofDays(3)), null);
    assertThat(number("SELECT count(*) FROM events_rest")).isEqualTo(2);
    upkeep(DAY, later.plusSeconds(60));
    assertThat(isThere(above)).isTrue();
    assertThat(number("SELECT count(*) FROM events WHERE id = " + stray.event().id()))
        .as("it is unfinished")
        .isEqualTo(1);
    deliver(stray, later);
    upkeep(DAY, later.plusSeconds(120));
    assertThat(number("SELECT count(*) FROM events")).isEqualTo(1);
    assertThat(number("SELECT count(*) FROM messages")).isZero();
    assertThat(number("SELECT count(*) FROM events_rest")).isZero();
    assertThat(store.stored()).containsEntry(TENANT, new Stored(1, above.event().size()));
  }

  @Test
  void who_is_at_work_with_another_part_keeps_none_from_being_dropped() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent event = accepted(START, null);
    deliver(event, START);
    Instant later = START.plus(Duration.ofDays(3));
    upkeep(new Retention(Duration.ofDays(100), Retention.NO_LIMIT), later);
    // As a vacuum does it.
    try (Connection other =
        holding("LOCK TABLE messages_2026030102 IN SHARE UPDATE EXCLUSIVE MODE")) {
      upkeep(DAY, later);
      assertThat(isThere(event)).isFalse();
      other.rollback();
    }
  }

  @Test
  void a_part_is_tried_to_be_dropped_more_than_once_and_is_read_once() throws Exception {
    upkeep(DAY, START);
    AcceptedEvent event = accepted(START, null);
    deliver(event, START);
    CompletableFuture<Removed> upkeep;
    try (Connection other = holding("LOCK TABLE ONLY messages IN ACCESS SHARE MODE")) {
      upkeep =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return upkeep(DAY, START.plus(Duration.ofDays(3)));
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitWaiting(1, upkeep);
      awaitWaiting(0, upkeep);
      awaitWaiting(1, upkeep);
      other.rollback();
    }
    assertThat(upkeep.join().events()).isEqualTo(1);
    assertThat(isThere(event)).isFalse();
  }

  /** Until so many wait for a table that another has. */
  private void awaitWaiting(long wanted, CompletableFuture<?> upkeep) throws Exception {
    String waiting =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'messages'::regclass";
    while (number(waiting) != wanted) {
      assertThat(upkeep.isDone()).as("it is given up").isFalse();
    }
  }

  @Test
  void what_cannot_be_done_keeps_nothing_else_from_being_done() throws Exception {
    upkeep(DAY, START);
    deliver(accepted(START, null), START);
    Instant later = START.plus(Duration.ofDays(3));
    try (Connection other = DriverManager.getConnection(url);
        Statement statement = other.createStatement()) {
      statement.execute(
          "INSERT INTO calls (shard, asked_by, asked_at, request)"
              + " VALUES (0, 0, now() - interval '1 day', '')");
      statement.execute("ALTER TABLE replayed_2025010100 RENAME TO elsewhere");
      upkeep(DAY, later);
      assertThat(number("SELECT count(*) FROM calls")).isZero();
      assertThat(number("SELECT count(*) FROM events")).isEqualTo(1);
      statement.execute("ALTER TABLE elsewhere RENAME TO replayed_2025010100");
    }
    upkeep(DAY, later.plusSeconds(60));
    assertThat(number("SELECT count(*) FROM events")).isZero();
  }

  @Test
  void it_is_told_when_a_part_cannot_be_dropped_for_more_than_an_hour() throws Exception {
    upkeep(DAY, START);
    deliver(accepted(START, null), START);
    // The part before it goes, which is empty.
    upkeep(DAY, Instant.parse("2026-03-02T00:30:00Z"));
    Logger log = (Logger) LoggerFactory.getLogger(Parts.class);
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.start();
    log.addAppender(told);
    Instant due = Instant.parse("2026-03-02T01:00:00Z");
    try (Connection other = holding("LOCK TABLE ONLY messages IN ACCESS SHARE MODE")) {
      upkeep(DAY, due.plus(Duration.ofMinutes(50)));
      assertThat(told.list).noneMatch(PartsTest::isOverdue);
      upkeep(DAY, due.plus(Duration.ofMinutes(70)));
      assertThat(told.list)
          .filteredOn(PartsTest::isOverdue)
          .singleElement()
          .asString()
          .contains("dropping a part", due.toString(), "pg_stat_activity");
      other.rollback();
    } finally {
      log.detachAppender(told);
    }
  }

  private static boolean isOverdue(ILoggingEvent line) {
    return line.getLevel() == Level.WARN
        && line.getFormattedMessage().startsWith("store.parts-overdue");
  }
}
