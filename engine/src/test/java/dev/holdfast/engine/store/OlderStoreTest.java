package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.after;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.vault.KeyFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store of the fifth version of the tables is read as it was written.
 *
 * <p>Its rows, with their sums, are in {@code store-0005.sql}: what a program of that version made
 * of these batches, one key of the API and the upkeep of history.
 */
final class OlderStoreTest {
  private static final int VERSION = 5;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path crashed;

  private final Writes writes = new Writes();
  private final ModelStore model = new ModelStore();

  /** Something of everything that there was. */
  static final class Writes {
    private final Sample sample = new Sample();

    final Endpoint endpoint =
        new Endpoint(
            sample.id(),
            TENANT,
            "https://one.example/",
            Health.created(NOW),
            new RateLimit(2.5),
            null,
            after(5));

    final Endpoint other = sample.endpoint("https://two.example/");
    final Subscription plain = sample.subscription(endpoint, "order.*", "b");

    final Subscription full =
        new Subscription(
            sample.id(),
            TENANT,
            other.id(),
            null,
            new Interest(
                List.of(new TypePattern("TASK.UPDATE")),
                "task-1",
                Filters.parse(
                    Connector.OR,
                    "[{\"fieldName\":\"status\",\"fieldValue\":\"done\",\"comparison\":\"eq\"}]")),
            new Form(
                Format.WORKFRONT,
                true,
                "token",
                new TreeMap<>(Map.of("X-One", "1", "X-Two", "2")),
                List.of(new Secret("whsec_new", after(2), null), new Secret("old", NOW, after(3)))),
            NOW,
            NOW,
            true,
            Set.of(endpoint.id()));

    final Subscription ended = sample.subscription(other, "c");

    final AcceptedEvent event =
        sample.pending(
            sample.event(TENANT, "id-1", "{}"),
            endpoint.id(),
            endpoint.id(),
            other.id(),
            other.id(),
            endpoint.id());

    final AcceptedEvent wide = sample.pending();

    final FanOut step =
        new FanOut(
            wide.event().id(),
            wide.event().size(),
            0,
            List.of(
                new FanOut.Target(plain.id(), endpoint.id(), null),
                new FanOut.Target(full.id(), other.id(), null)));

    /** Its id is behind those of the messages that are still to be made. */
    final Sample later = new Sample(step.lastMessage());

    final Replay replay =
        Replay.of(
                later.id(),
                TENANT,
                new Selection(other.id(), null, Set.of(Ending.DELIVERED), null, null, true))
            .counted(1);

    final Message remade =
        Message.pending(later.id(), event.event().id(), full.id(), other.id(), 100);

    Message message(int index) {
      return event.messages().get(index);
    }

    List<Batch> batches() {
      return List.of(
          batch(
              new Write.Subscribe(plain, endpoint),
              new Write.Subscribe(full, other),
              new Write.Subscribe(ended, null),
              new Write.ChangeState(endpoint)),
          batch(new Write.Unsubscribe(ended, after(1))),
          batch(accept(event)),
          batch(accept(new AcceptedEvent(wide.event(), List.of(), List.of(step)))),
          batch(
              Sample.retry(message(1), 1, after(60)),
              Sample.deliver(message(2)),
              new Write.Drop(
                  message(3), DropReason.EXHAUSTED, Sample.failure(message(3), 1), after(2)),
              new Write.Park(Sample.parked(message(4), 0, after(3_600)))),
          batch(
              new Write.Progress(
                  null, replay, List.of(new Write.Remade(remade, message(2).id())))));
    }

    /** Behind everything that was written. */
    Sample next() {
      return new Sample(remade.id());
    }
  }

  @BeforeEach
  void makeTheStore() throws Exception {
    writes.batches().forEach(model::write);
    try (Connection connection =
        DriverManager.getConnection("jdbc:sqlite:" + StoreFile.path(directory))) {
      Sqlite.execute(
          connection,
          "PRAGMA page_size = " + Sqlite.PAGE_BYTES,
          "PRAGMA auto_vacuum = INCREMENTAL",
          "PRAGMA journal_mode = WAL",
          "PRAGMA application_id = " + Migrations.APPLICATION_ID);
      try (Statement statement = connection.createStatement()) {
        for (int version = 1; version <= VERSION; version++) {
          statement.executeUpdate(script("sqlite-000" + version + ".sql"));
        }
        statement.executeUpdate(script("store-0005.sql"));
      }
      Sqlite.execute(
          connection,
          "INSERT INTO subscriptions (id, tenant, endpoint, types, created_at, sum, secrets)"
              + " VALUES (1, 'default', 2, '', 0, 0, 'deleted-secret')",
          "DELETE FROM subscriptions WHERE id = 1",
          "PRAGMA user_version = " + VERSION);
    }
  }

  private static String script(String name) throws IOException {
    try (InputStream in = OlderStoreTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void it_is_read_as_it_was_written() throws Exception {
    assertThatThrownBy(() -> StoreCheck.run(directory)).hasMessageContaining("earlier Holdfast");
    try (SqliteStore store = SqliteStore.open(directory)) {
      compare(store);
      assertThat(store.apiKeys().all()).hasSize(1);
      Replay again =
          Replay.of(
              new Sample(writes.remade.id()).id(),
              TENANT,
              new Selection(
                  null, null, Set.of(Ending.DELIVERED, Ending.DROPPED), null, null, true));
      assertThat(store.originals(again, 10).originals())
          .isEqualTo(model.originals(again, 10).originals());
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  @Test
  void it_goes_on_as_any_other() throws Exception {
    Sample sample = writes.next();
    AcceptedEvent accepted = sample.pending(writes.endpoint.id());
    Message delivered = writes.message(0);
    List<Batch> more =
        List.of(
            batch(accept(accepted)),
            batch(Sample.deliver(delivered)),
            batch(new Write.Update(writes.plain.settledAt(1), null)),
            batch(new Write.Unsubscribe(writes.full, after(9))));
    try (SqliteStore store = SqliteStore.open(directory)) {
      for (Batch batch : more) {
        assertThat(store.write(batch)).isEqualTo(model.write(batch));
      }
      compare(store);
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  /** All but the last are in {@code store-0005.sql}. */
  private static final List<String> SECRETS =
      List.of("one.example", "two.example", "whsec_new", "X-One", "deleted-secret");

  @Test
  void what_was_in_plain_text_is_found_nowhere_any_more() throws Exception {
    for (String secret : SECRETS) {
      assertThat(isFound(secret)).as(secret).isTrue();
    }
    try (SqliteStore store = SqliteStore.open(directory)) {
      for (String secret : SECRETS) {
        assertThat(isFound(secret)).as(secret).isFalse();
      }
      compare(store);
    }
    for (String secret : SECRETS) {
      assertThat(isFound(secret)).as(secret).isFalse();
    }
  }

  private Sealing sealing(Connection connection, long rewrittenBytes) throws Exception {
    Migrations.apply(connection);
    Seals seals = Seals.closed();
    Mark mark = new Mark(new RandomAccessFile(directory.resolve("mark").toFile(), "rw"));
    Writer writer =
        new Writer(
            connection, mark, new HistoryIndex(connection, HistoryIndex.Limits.DEFAULT), seals);
    try (Reader reader = new Reader(StoreFile.path(directory))) {
      StoreVault.open(
          connection,
          new EmbeddedTransactions(writer, reader),
          seals,
          KeyFile.in(directory),
          StoreFile.path(directory),
          NOW);
    }
    return new Sealing(connection, writer, seals, rewrittenBytes);
  }

  @Test
  void a_file_that_is_too_large_to_be_rewritten_is_when_it_no_longer_is() throws Exception {
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sqlite.execute(
          connection,
          "INSERT INTO subscriptions (id, tenant, endpoint, types, created_at, sum, secrets)"
              + " VALUES (1, 'default', 2, '', 0, 0, '%s')"
                  .formatted("freed-secret".repeat(50_000)),
          "DELETE FROM subscriptions WHERE id = 1");
    }
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      sealing(connection, 0).run();
    }
    assertThat(isFound("freed-secret")).as("what was deleted long ago").isTrue();
    Files.delete(directory.resolve("mark"));
    Path backup = crashed.resolve("backup.db");
    StoreBackup.backup(directory, backup, false, new Unobserved());
    assertThat(isFound(crashed, "freed-secret")).isFalse();
    try (Connection connection = Sqlite.frozenReader(backup)) {
      assertThat(isUnwiped(connection)).as("a backup has nothing to wipe").isFalse();
    }
    try (SqliteStore store = SqliteStore.open(directory)) {
      compare(store);
      assertThat(isFound("freed-secret")).isFalse();
    }
    try (Connection connection = Sqlite.reader(StoreFile.path(directory))) {
      assertThat(isUnwiped(connection)).isFalse();
    }
  }

  private static boolean isUnwiped(Connection connection) throws SQLException {
    return Sqlite.number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'unwiped'")
        != 0;
  }

  @Test
  void a_wiping_that_fails_is_postponed() throws Exception {
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0);
        Connection other = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sealing sealing = sealing(connection, Long.MAX_VALUE);
      sealing.sealRows();
      Sqlite.execute(connection, "PRAGMA busy_timeout = 0");
      Sqlite.execute(other, "BEGIN IMMEDIATE");
      sealing.wipe();
      assertThat(isUnwiped(connection)).isTrue();
      assertThat(Sqlite.number(connection, "PRAGMA temp_store")).as("in memory").isEqualTo(2);
      Sqlite.execute(other, "ROLLBACK");
      Sqlite.execute(connection, "BEGIN");
      sealing.wipe();
      Sqlite.execute(connection, "ROLLBACK");
      assertThat(isUnwiped(connection)).as("whatever the reason is").isTrue();
      sealing.wipe();
      assertThat(isUnwiped(connection)).isFalse();
    }
    assertThat(isFound("deleted-secret")).isFalse();
  }

  @Test
  void a_sealing_that_ended_before_the_wiping_goes_on() throws Exception {
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      sealing(connection, Long.MAX_VALUE).sealRows();
      copyTo(crashed);
    }
    assertThat(isFound(crashed, "whsec_new")).as("there is something to wipe").isTrue();
    try (SqliteStore store = SqliteStore.open(crashed)) {
      compare(store);
      for (String secret : SECRETS) {
        assertThat(isFound(crashed, secret)).as(secret).isFalse();
      }
    }
    assertThat(StoreCheck.run(crashed).problems()).isEmpty();
  }

  @Test
  void without_a_master_key_it_stays_what_it_was() throws Exception {
    KeyFile impossible = new KeyFile(directory.resolve("absent").resolve("key"));
    assertThatThrownBy(
            () -> SqliteStore.open(directory, impossible, InstantSource.fixed(NOW)).close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContainingAll("cannot be written", "secrets.key-file");
    try (Connection connection = Sqlite.reader(StoreFile.path(directory))) {
      assertThat(Migrations.version(connection)).isEqualTo(VERSION);
    }
    try (SqliteStore store = SqliteStore.open(directory)) {
      compare(store);
    }
  }

  @Test
  void a_sealing_that_ended_before_its_commit_begins_again() throws Exception {
    KeyFile.in(directory).readOrMake();
    SqliteStore.openSealed(directory).close();
    assertThat(isFound("whsec_new")).isTrue();
    try (SqliteStore store = SqliteStore.open(directory)) {
      compare(store);
      assertThat(isFound("whsec_new")).isFalse();
    }
  }

  private static final class Unobserved implements StoreBackup.Observer {
    @Override
    public void copied(long bytes, long ofAbout) {}

    @Override
    public void checking() {}
  }

  private boolean isFound(String text) throws IOException {
    return isFound(directory, text);
  }

  private static boolean isFound(Path directory, String text) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (Files.readString(file, StandardCharsets.ISO_8859_1).contains(text)) {
          return true;
        }
      }
    }
    return false;
  }

  private void copyTo(Path target) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.copy(file, target.resolve(file.getFileName()));
      }
    }
  }

  private void compare(SqliteStore store) throws Exception {
    Snapshot snapshot = store.snapshot();
    Snapshot expected = model.snapshot();
    same(snapshot.endpoints(), expected.endpoints());
    same(snapshot.subscriptions(), expected.subscriptions());
    same(snapshot.ended(), expected.ended());
    same(snapshot.fanOuts(), expected.fanOuts());
    same(snapshot.replays(), expected.replays());
    assertThat(snapshot.unfinished()).isEqualTo(expected.unfinished());
    assertThat(snapshot.stored()).isEqualTo(expected.stored());
    List<Message> messages = new ArrayList<>(writes.event.messages());
    messages.add(writes.remade);
    for (Message message : messages) {
      assertThat(store.unfinished(message.id())).isEqualTo(model.unfinished(message.id()));
    }
    for (Message message : writes.event.messages()) {
      assertThat(store.message(TENANT, message.id()))
          .usingRecursiveComparison()
          .isEqualTo(model.message(TENANT, message.id()));
    }
    assertThat(store.message(TENANT, writes.remade.id()).orElseThrow().message().replayOf())
        .isEqualTo(writes.message(2).id());
    EventKey key = new EventKey.Callers("id-1");
    assertThat(store.event(TENANT, key).orElseThrow().event())
        .usingRecursiveComparison()
        .isEqualTo(writes.event.event());
    assertThat(store.changes(writes.endpoint.id(), 10))
        .isEqualTo(model.changes(writes.endpoint.id(), 10));
  }

  private static <T> void same(List<T> actual, List<T> expected) {
    assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
  }
}
