package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.store.Upkept.Left;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the store does for itself: it indexes history, removes what is old, and shrinks. */
final class UpkeepTest {
  private static final long E1 = 1_000_001;
  private static final long E2 = 2_000_001;
  private static final Duration KEPT = Duration.ofDays(30);
  private static final Retention RETENTION = new Retention(KEPT, Retention.NO_LIMIT);

  /** Lists look at 40 rows here, and chunks are of 5. */
  private static final StoreLimits LIMITS =
      new StoreLimits(20, Duration.ofSeconds(5), 1, 40, Duration.ofMillis(5), 1 << 20, 1 << 30);

  private static final Upkeep.Limits UPKEEP =
      new Upkeep.Limits(
          new HistoryIndex.Limits(5, 20, 5, 3),
          new Removal.Limits(4, 10, 1 << 20, Duration.ofSeconds(5), Duration.ofHours(1)),
          new Shrinking.Limits(64, 4, 8));

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private final Sample sample = new Sample();

  @SuppressWarnings("NullAway.Init")
  private SqliteStore store;

  @BeforeEach
  void open() throws Exception {
    store = SqliteStore.open(directory, LIMITS, UPKEEP);
  }

  @AfterEach
  void nothingIsDamaged() throws Exception {
    store.close();
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  private void reopen() throws Exception {
    store.close();
    open();
  }

  private Upkept.Removed upkeep(Retention retention, Instant now) throws Exception {
    Upkept.Removed removed = Upkept.Removed.NOTHING;
    Upkept done;
    do {
      done = store.upkeep(retention, now);
      removed = removed.plus(done.removed());
    } while (done.isMore());
    return removed;
  }

  private AcceptedEvent accepted(AcceptedEvent event) throws Exception {
    store.write(batch(accept(event)));
    return event;
  }

  private void deliver(AcceptedEvent event, Instant at) throws Exception {
    List<Write> writes = new ArrayList<>();
    for (Message message : event.messages()) {
      writes.add(new Write.Deliver(message, Sample.success(message, 1), at));
    }
    store.write(new Batch(writes, List.of()));
  }

  private static Query query(
      Set<Status> statuses, @Nullable Long endpoint, @Nullable Long subscription) {
    return new Query(
        TENANT, statuses, endpoint, subscription, null, null, null, Long.MAX_VALUE, 100);
  }

  private boolean isThere(AcceptedEvent event) throws Exception {
    boolean there = store.event(TENANT, new EventKey.Own(event.event().id())).isPresent();
    assertThat(store.events(List.of(event.event().id()))).hasSize(there ? 1 : 0);
    for (Message message : event.messages()) {
      assertThat(store.message(TENANT, message.id()).isPresent()).isEqualTo(there);
    }
    return there;
  }

  @Test
  void a_list_of_one_endpoint_subscription_or_status_does_not_look_at_others() throws Exception {
    AcceptedEvent rare = accepted(sample.pending(E2));
    AcceptedEvent dropped = accepted(sample.pending(E1));
    deliver(rare, NOW);
    Message given = dropped.messages().getFirst();
    store.write(batch(new Write.Drop(given, Message.DropReason.EXPIRED, null, NOW)));
    for (int i = 0; i < 30; i++) {
      deliver(accepted(sample.pending(E1, E1, E1, E1, E1)), NOW);
    }
    upkeep(Retention.FOREVER, NOW);
    long rareId = rare.messages().getFirst().id();
    for (Query query :
        List.of(query(Set.of(), E2, null), query(Set.of(Status.DELIVERED), null, E2 + 1))) {
      History.Page page = store.messages(query);
      assertThat(page.items()).extracting(MessageSummary::id).containsExactly(rareId);
      assertThat(page.next()).isNull();
    }
    History.Page page = store.messages(query(Set.of(Status.DROPPED), null, null));
    assertThat(page.items()).extracting(MessageSummary::id).containsExactly(given.id());
    assertThat(page.next()).isNull();
  }

  @Test
  void unfinished_messages_of_one_endpoint_are_listed_without_looking_at_others() throws Exception {
    AcceptedEvent rare = accepted(sample.pending(E2, E2));
    Message waiting = rare.messages().getFirst();
    store.write(batch(Sample.retry(waiting, 3, NOW)));
    for (int i = 0; i < 30; i++) {
      accepted(sample.pending(E1, E1, E1, E1));
    }
    History.Page page = store.messages(query(Set.of(), E2, null));
    assertThat(page.items())
        .extracting(MessageSummary::id)
        .containsExactly(rare.messages().getLast().id(), waiting.id());
    assertThat(page.next()).isNull();
  }

  @Test
  void a_message_that_finishes_late_is_listed_at_its_place() throws Exception {
    AcceptedEvent late = accepted(sample.pending(E2, E2));
    for (int i = 0; i < 12; i++) {
      deliver(accepted(sample.pending(E1, E2, E1, E1, E1)), NOW);
    }
    upkeep(Retention.FOREVER, NOW);
    deliver(late, NOW);
    reopen();
    History.Page page = store.messages(query(Set.of(), E2, null));
    assertThat(page.items())
        .hasSize(14)
        .extracting(MessageSummary::id)
        .isSortedAccordingTo(Comparator.reverseOrder());
    assertThat(page.items().getLast().id()).isEqualTo(late.messages().getFirst().id());
  }

  @Test
  void an_event_goes_with_all_that_belongs_to_it_when_its_last_message_finished_long_ago()
      throws Exception {
    AcceptedEvent old = accepted(sample.pending(sample.event(TENANT, "mine", "{}"), E1, E2));
    Message tried = old.messages().getFirst();
    store.write(batch(Sample.retry(tried, 1, NOW), Sample.retry(tried, 2, NOW)));
    deliver(old, NOW.plusSeconds(60));
    AcceptedEvent none = accepted(sample.pending());
    AcceptedEvent newest = accepted(sample.pending());
    Instant end = NOW.plusSeconds(60).plus(KEPT);
    upkeep(RETENTION, end.minusMillis(1));
    assertThat(isThere(old)).isTrue();
    assertThat(isThere(none)).isFalse();
    reopen();
    Upkept.Removed removed = upkeep(RETENTION, end);
    assertThat(isThere(old)).isFalse();
    assertThat(removed)
        .isEqualTo(new Upkept.Removed(1, 2, 2, Map.of(TENANT, new Stored(1, old.event().size()))));
    assertThat(isThere(newest)).as("ids go on above the newest").isTrue();
    assertThat(store.messages(query(Set.of(), null, null)).items()).isEmpty();
    AcceptedEvent again = sample.pending(sample.event(TENANT, "mine", "{\"other\":1}"), E1);
    accepted(again);
    assertThat(isThere(again)).as("the caller's id is free again").isTrue();
  }

  @Test
  void an_event_with_an_unfinished_message_never_goes() throws Exception {
    AcceptedEvent unfinished = accepted(sample.pending(E1, E2));
    Message first = unfinished.messages().getFirst();
    store.write(batch(new Write.Deliver(first, Sample.success(first, 1), NOW)));
    AcceptedEvent finished = accepted(sample.pending(E1));
    deliver(finished, NOW);
    accepted(sample.pending());
    upkeep(new Retention(KEPT, 1), NOW.plus(Duration.ofDays(3_000)));
    assertThat(isThere(unfinished)).isTrue();
    assertThat(isThere(finished)).isFalse();
  }

  @Test
  void when_too_much_is_stored_the_oldest_go_first_and_no_more_than_needed() throws Exception {
    List<AcceptedEvent> events = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      Event event = sample.event(TENANT, null, "x".repeat(100_000));
      events.add(accepted(sample.pending(event, E1)));
      deliver(events.getLast(), NOW);
    }
    upkeep(new Retention(KEPT, 4 << 20), NOW);
    List<Boolean> there = new ArrayList<>();
    for (AcceptedEvent event : events) {
      there.add(isThere(event));
    }
    assertThat(there).isSorted();
    assertThat(there.indexOf(true)).isBetween(20, 30);
    // No room is needed any more, so nothing goes.
    assertThat(upkeep(new Retention(KEPT, 4 << 20), NOW)).isEqualTo(Upkept.Removed.NOTHING);
  }

  @Test
  void what_should_have_gone_long_ago_cannot_wait() throws Exception {
    Instant end = NOW.plus(KEPT);
    finishSome(NOW);
    assertThat(leftByRemoving(RETENTION, end.plus(KEPT.dividedBy(5)))).containsOnly(Left.SOME);
    finishSome(NOW);
    assertThat(leftByRemoving(RETENTION, end.plus(KEPT.dividedBy(3)))).contains(Left.TOO_MUCH);
  }

  @Test
  void what_was_finished_late_is_not_late_to_go() throws Exception {
    finishSome(NOW.plus(KEPT.dividedBy(5)));
    Instant now = NOW.plus(KEPT).plus(KEPT.dividedBy(3));
    assertThat(leftByRemoving(RETENTION, now)).containsOnly(Left.SOME);
  }

  @Test
  void what_takes_room_that_is_not_there_cannot_wait() throws Exception {
    finishSome(NOW);
    assertThat(leftByRemoving(new Retention(KEPT, 1), NOW)).contains(Left.TOO_MUCH);
  }

  @Test
  void neither_can_an_event_with_very_many_messages() throws Exception {
    for (boolean isTooLarge : new boolean[] {false, true}) {
      long[] endpoints = new long[33];
      Arrays.fill(endpoints, E1);
      deliver(accepted(sample.pending(endpoints)), NOW);
      accepted(sample.pending());
      Set<Left> left =
          isTooLarge
              ? leftByRemoving(new Retention(KEPT, 1), NOW)
              : leftByRemoving(RETENTION, NOW.plus(KEPT).plus(KEPT.dividedBy(3)));
      assertThat(left).contains(Left.TOO_MUCH);
    }
  }

  @Test
  void history_that_is_far_from_indexed_cannot_wait() throws Exception {
    for (int i = 0; i < 20; i++) {
      deliver(accepted(sample.pending(E1)), NOW);
    }
    List<Left> steps = new ArrayList<>();
    do {
      steps.add(store.upkeep(Retention.FOREVER, NOW).left());
    } while (steps.getLast() != Left.NOTHING);
    assertThat(steps).startsWith(Left.TOO_MUCH).contains(Left.SOME);
  }

  @Test
  void a_round_ends_although_ever_more_has_to_go() throws Exception {
    IdSource ids = new IdSource(1, 0);
    Instant accepted = acceptedFrom(NOW, ids);
    int steps = 0;
    while (store.upkeep(RETENTION, accepted.plus(KEPT)).isMore()) {
      accepted = acceptedFrom(accepted, ids);
      assertThat(++steps).isLessThan(20);
    }
    assertThat(steps).isGreaterThan(2);
  }

  /** As many as a step looks at, and some more: nobody wants them, so they may go by their age. */
  private Instant acceptedFrom(Instant time, IdSource ids) throws Exception {
    Instant at = time;
    for (int i = 0; i < 12; i++) {
      at = at.plusMillis(10);
      accepted(
          new AcceptedEvent(
              new Event(ids.next(at), TENANT, "a", null, null, new byte[0], null, null, null),
              List.of()));
    }
    return at;
  }

  @Test
  void an_event_that_only_a_later_subscription_gets_stays_until_that_message_has_finished()
      throws Exception {
    AcceptedEvent event = accepted(sample.pending());
    long subscription = sample.id();
    Message made =
        new RetrySchedule(Duration.ofSeconds(1), 3)
            .replayed(
                Message.pending(
                    sample.id(), event.event().id(), subscription, E1, event.event().size()),
                NOW);
    Replay history =
        Replay.of(sample.id(), TENANT, Selection.history(subscription, NOW.minusSeconds(1)))
            .bounded(sample.id())
            .counted(1)
            .after(1, 0, event.event().id());
    store.write(batch(new Write.Progress(null, history, List.of(new Write.Remade(made, 0)))));
    accepted(sample.pending());
    Instant end = NOW.plus(KEPT).plusSeconds(1);
    upkeep(RETENTION, end);
    assertThat(isThere(event)).isTrue();
    store.write(batch(new Write.Deliver(made, Sample.success(made, 1), NOW)));
    reopen();
    upkeep(RETENTION, end);
    assertThat(isThere(event)).isFalse();
    assertThat(store.message(TENANT, made.id())).isEmpty();
  }

  /** The last of them stays, as the newest event does. */
  private void finishSome(Instant at) throws Exception {
    for (int i = 0; i < 12; i++) {
      deliver(accepted(sample.pending(E1)), at);
    }
    accepted(sample.pending());
  }

  /** What the steps say that have removed something, when nothing else is left to be done. */
  private Set<Left> leftByRemoving(Retention retention, Instant now) throws Exception {
    upkeep(Retention.FOREVER, NOW);
    Set<Left> all = EnumSet.noneOf(Left.class);
    Upkept done;
    do {
      done = store.upkeep(retention, now);
      if (!done.removed().isNothing()) {
        all.add(done.left());
      }
    } while (done.isMore());
    assertThat(all).isNotEmpty();
    return all;
  }

  @Test
  void an_event_with_very_many_messages_is_hidden_first_and_removed_in_steps() throws Exception {
    long[] endpoints = new long[33];
    Arrays.fill(endpoints, E1);
    AcceptedEvent large = accepted(sample.pending(sample.event(TENANT, "big", "{}"), endpoints));
    deliver(large, NOW);
    accepted(sample.pending());
    Instant end = NOW.plus(KEPT).plusSeconds(1);
    EventKey key = new EventKey.Own(large.event().id());
    while (store.event(TENANT, key).isPresent()) {
      store.upkeep(RETENTION, end);
    }
    assertThat(store.message(TENANT, large.messages().getLast().id())).isEmpty();
    assertThat(store.messages(query(Set.of(), null, null)).items()).isEmpty();
    assertThat(store.messages(query(Set.of(), E1, null)).items()).isEmpty();
    assertThat(store.event(TENANT, new EventKey.Callers("big"))).isEmpty();
    reopen();
    assertThat(store.event(TENANT, key)).isEmpty();
    assertThat(upkeep(RETENTION, end).messages()).isPositive();
    assertThat(isThere(large)).isFalse();
  }

  @Test
  void the_last_change_of_each_endpoint_stays() throws Exception {
    Endpoint one = sample.endpoint("http://one/");
    Endpoint two = sample.endpoint("http://two/");
    store.write(
        batch(
            new Write.Subscribe(sample.subscription(one, "*"), one),
            new Write.Subscribe(sample.subscription(two, "*"), two),
            new Write.ChangeState(one),
            new Write.ChangeState(one),
            new Write.ChangeState(two)));
    upkeep(RETENTION, NOW.plus(KEPT));
    assertThat(store.changes(one.id(), 10)).hasSize(1);
    assertThat(store.changes(two.id(), 10)).hasSize(1);
  }

  @Test
  void the_file_shrinks_when_what_was_in_it_is_gone() throws Exception {
    for (int i = 0; i < 40; i++) {
      deliver(accepted(sample.pending(sample.event(TENANT, null, "x".repeat(100_000)), E1)), NOW);
    }
    accepted(sample.pending());
    reopen();
    Path file = directory.resolve("holdfast.db");
    long before = Files.size(file);
    upkeep(RETENTION, NOW.plus(KEPT).plusSeconds(1));
    store.close();
    assertThat(Files.size(file)).isLessThan(before / 10);
    open();
  }

  @Test
  void a_store_of_the_first_version_is_taken_over_indexed_and_can_shrink() throws Exception {
    Path old = Files.createDirectory(directory.resolve("old"));
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + old.resolve("holdfast.db"));
        InputStream script = UpkeepTest.class.getResourceAsStream("sqlite-0001.sql")) {
      Sqlite.execute(
          connection,
          "PRAGMA page_size = " + Sqlite.PAGE_BYTES,
          "PRAGMA journal_mode = WAL",
          "PRAGMA application_id = " + Migrations.APPLICATION_ID);
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate(
            new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8));
      }
      Sqlite.execute(connection, "PRAGMA user_version = 1");
      Progress.begin(connection);
      assertThat(Sqlite.number(connection, "PRAGMA auto_vacuum")).isZero();
    }
    try (SqliteStore taken = SqliteStore.open(old)) {
      taken.write(batch(accept(sample.pending(E1))));
    }
    try (Connection connection = Sqlite.reader(old.resolve("holdfast.db"))) {
      assertThat(Sqlite.number(connection, "PRAGMA auto_vacuum")).isEqualTo(2);
    }
    assertThat(StoreCheck.run(old).problems()).isEmpty();
  }
}
