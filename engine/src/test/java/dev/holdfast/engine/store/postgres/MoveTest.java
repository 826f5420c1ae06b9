package dev.holdfast.engine.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.engine.Seeds;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.EveryRow;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreCheck;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.vault.KeyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An embedded store is moved into a database, whatever comes between. */
final class MoveTest {
  private static final int EVENTS = 12;
  private static final Retention RETENTION = new Retention(Duration.ofDays(30), Retention.NO_LIMIT);
  private static final Move.Limits SMALL = new Move.Limits(7, 20_000);

  /** What an embedded store has for itself: how far it is, its indexes, what it is removing. */
  private static final Set<String> ITS_OWN =
      Set.of(
          "progress",
          "parts",
          "indexed",
          "finished_by_tenant",
          "finished_by_endpoint",
          "finished_by_subscription",
          "removing");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private final String url = PostgresServer.freshDatabase();

  /** Is told of a move and does something at one moment of it. */
  private static class Watch implements Move.Observer {
    private long moments;

    /** Does nothing unless a test wants something. */
    void at(long unused) {}

    @Override
    public void checking() {
      at(moments++);
    }

    @Override
    public void moved(String table, long rows, long ofRows) {
      at(moments++);
    }

    @Override
    public void compared(long rows, long ofRows) {}
  }

  private static final class Interrupted extends RuntimeException {}

  private Move.Result move(Path from, Move.Observer observer) throws StoreRefused {
    return Move.run(from, new PostgresOptions(url), RETENTION, SMALL, observer);
  }

  private Move.Result move(Path from) throws StoreRefused {
    return move(from, new Watch());
  }

  @Test
  void everything_is_there_afterwards_and_the_store_is_as_it_was() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(1), EVENTS);
    Map<String, String> before = files();
    Move.Result result = move(directory);
    assertThat(result.isEqual()).isTrue();
    assertThat(result.before()).isNull();
    assertThat(result.masterKey()).matches("[0-9a-f]{8}");
    assertThat(result.tables()).hasSameSizeAs(MovedTable.ALL);
    assertThat(result.tables()).allMatch(table -> table.fromRows() > 0, "has rows");
    assertThat(result.tables()).allMatch(table -> table.fromRows() == table.toRows());
    assertThat(result.rows())
        .isEqualTo(result.tables().stream().mapToLong(Move.Compared::toRows).sum());
    assertThat(files()).isEqualTo(before);
    assertThat(text("SELECT finished_at IS NOT NULL FROM moves")).isEqualTo("t");
    assertThat(
            text(
                "SELECT count(*) FILTER (WHERE version = 1) = (SELECT count(DISTINCT tenant)"
                    + " FROM subscriptions) FROM known_of_tenants"))
        .isEqualTo("t");
    assertThat(text("SELECT highest >= (SELECT max(id) FROM messages) FROM batches"))
        .isEqualTo("t");
    assertThat(text("SELECT nextval(pg_get_serial_sequence('audit', 'id')) > max(id) FROM audit"))
        .isEqualTo("t");
    assertThat(
            text(
                "SELECT nextval(pg_get_serial_sequence('endpoint_changes', 'id')) > max(id)"
                    + " FROM endpoint_changes"))
        .isEqualTo("t");
  }

  @Test
  void both_stores_answer_alike() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(13), EVENTS);
    move(directory);
    try (SqliteStore from = SqliteStore.open(directory);
        PostgresStore to =
            PostgresStore.open(
                new PostgresOptions(url), KeyFile.in(directory), InstantSource.system())) {
      Snapshot before = from.snapshot();
      Snapshot after = to.snapshot();
      same(byId(after.endpoints(), Endpoint::id), byId(before.endpoints(), Endpoint::id));
      same(
          byId(after.subscriptions(), Subscription::id),
          byId(before.subscriptions(), Subscription::id));
      same(byId(after.ended(), Subscription::id), byId(before.ended(), Subscription::id));
      same(after.unfinished(), before.unfinished());
      same(after.fanOuts(), before.fanOuts());
      same(byId(after.replays(), Replay::id), byId(before.replays(), Replay::id));
      same(after.stored(), before.stored());
      assertThat(after.highestId()).isEqualTo(before.highestId());
      assertThat(after.version()).isEqualTo(MovedTable.VERSION);
      assertThat(to.latestTime()).isEqualTo(from.latestTime());
      assertThat(to.apiKeys().all()).isEqualTo(from.apiKeys().all());
      assertThat(to.sessions().all())
          .usingRecursiveFieldByFieldElementComparator()
          .containsExactlyInAnyOrderElementsOf(from.sessions().all());
      Audit.Query all = new Audit.Query(null, null, null, null, null, null, Long.MAX_VALUE, 1_000);
      same(to.audit().find(all).entries(), from.audit().find(all).entries());
      for (String tenant : before.stored().keySet()) {
        compareHistory(from, to, tenant);
      }
      for (Endpoint endpoint : before.endpoints()) {
        same(to.changes(endpoint.id(), 100), from.changes(endpoint.id(), 100));
      }
      assertThat(to.vault().shown().id()).isEqualTo(from.vault().shown().id());
    }
    StoreCheck.Result check = PostgresCheck.run(new PostgresOptions(url), KeyFile.in(directory));
    assertThat(check.problems()).isEmpty();
    assertThat(check.unopened()).isNull();
  }

  private static void compareHistory(SqliteStore from, PostgresStore to, String tenant)
      throws Exception {
    History.Query query =
        new History.Query(
            tenant,
            EnumSet.noneOf(History.Status.class),
            null,
            null,
            null,
            null,
            null,
            Long.MAX_VALUE,
            1_000);
    List<History.MessageSummary> messages = from.messages(query).items();
    assertThat(messages).isNotEmpty();
    same(to.messages(query).items(), messages);
    for (History.MessageSummary message : messages) {
      same(to.message(tenant, message.id()), from.message(tenant, message.id()));
      EventKey event = new EventKey.Own(Id.parse(Id.EVENT, message.event()).orElse(0));
      same(to.event(tenant, event), from.event(tenant, event));
    }
    same(to.replays(tenant, Long.MAX_VALUE, 1_000), from.replays(tenant, Long.MAX_VALUE, 1_000));
  }

  private static <T> List<T> byId(List<T> all, ToLongFunction<T> id) {
    return all.stream().sorted(Comparator.comparingLong(id)).toList();
  }

  private static void same(Object actual, Object expected) {
    assertThat(actual).usingRecursiveComparison().isEqualTo(expected);
  }

  @Test
  void tables_are_cut_as_if_they_had_always_been_there() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(14), 2);
    move(directory);
    assertThat(text("SELECT count(*) > 3 FROM parts")).isEqualTo("t");
    assertThat(text("SELECT count(*) FROM messages_rest")).isEqualTo("0");
    assertThat(
            text(
                "SELECT bool_and(until - first <= 24 * 3600 * 1000::bigint << 22)"
                    + " FROM parts WHERE first > 0"))
        .isEqualTo("t");
  }

  @Test
  void every_column_is_moved() throws Exception {
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      Schema.apply(connections);
    }
    for (MovedTable table : MovedTable.ALL) {
      String columns =
          text(
              "SELECT string_agg(column_name, ', ' ORDER BY column_name)"
                  + " FROM information_schema.columns WHERE table_schema = 'public'"
                  + " AND column_name <> 'forgotten' AND table_name = '"
                  + table.name()
                  + "'");
      assertThat(table.columns().stream().map(MovedTable.Column::name).sorted())
          .as(table.name())
          .containsExactly(columns.split(", ", -1));
    }
  }

  @Test
  void every_column_of_an_embedded_store_is_moved() throws Exception {
    SqliteStore.open(directory).close();
    Map<String, Set<String>> columns = new TreeMap<>();
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("holdfast.db"));
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
                    + " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'")) {
      while (row.next()) {
        if (!ITS_OWN.contains(row.getString(1))) {
          columns
              .computeIfAbsent(row.getString(1), _ -> new TreeSet<>())
              .add("t." + row.getString(2));
        }
      }
    }
    // There a tenant is counted in several rows, which many write and nobody sums.
    assertThat(Objects.requireNonNull(columns.get("tenants")).remove("t.sum")).isTrue();
    Map<String, Set<String>> moved = new TreeMap<>();
    for (MovedTable table : MovedTable.ALL) {
      moved.put(
          table.name(),
          table.columns().stream()
              .map(MovedTable.Column::source)
              .filter(source -> source.startsWith("t."))
              .collect(Collectors.toCollection(TreeSet::new)));
    }
    assertThat(moved).isEqualTo(columns);
  }

  @Test
  void what_is_interrupted_goes_on_when_it_is_repeated() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(2), EVENTS);
    Watch whole = new Watch();
    move(directory, whole);
    long moments = whole.moments;
    Seeds.each(
        8,
        random -> {
          MoveTest other = new MoveTest();
          other.directory = directory;
          int interruptions = 0;
          Move.Result result = null;
          while (result == null) {
            long when = random.nextLong(moments / 3);
            boolean byServer = random.nextBoolean();
            Watch watch =
                new Watch() {
                  @Override
                  void at(long moment) {
                    if (moment == when && byServer) {
                      other.endSessions();
                    } else if (moment == when) {
                      throw new Interrupted();
                    }
                  }
                };
            try {
              result = other.move(directory, watch);
            } catch (Interrupted e) {
              interruptions++;
            } catch (StoreRefused e) {
              assertThat(e).hasMessageContaining("repeat the command");
              interruptions++;
            }
          }
          assertThat(interruptions).isPositive();
          assertThat(result.isEqual()).isTrue();
        });
  }

  private void endSessions() {
    try {
      text(
          "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
              + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void a_finished_move_that_is_repeated_says_so() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(3), 1);
    move(directory);
    Move.Result again = move(directory);
    assertThat(again.before()).isNotNull();
    assertThat(again.rows()).isZero();
    assertThat(again.isEqual()).isTrue();
  }

  @Test
  void no_node_starts_while_a_move_is_unfinished() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(4), 1);
    interrupt();
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      assertThatThrownBy(() -> Schema.apply(connections))
          .isInstanceOf(StoreRefused.class)
          .hasMessageContaining(directory.toString())
          .hasMessageContaining("./holdfast migrate")
          .hasMessageNotContaining("password");
      assertThatThrownBy(() -> PostgresTools.problems(url, directory))
          .isInstanceOf(StoreRefused.class)
          .hasMessageContaining("./holdfast migrate");
      move(directory);
      Schema.apply(connections);
    }
  }

  private void interrupt() {
    assertThatThrownBy(
            () ->
                move(
                    directory,
                    new Watch() {
                      @Override
                      void at(long moment) {
                        if (moment == 2) {
                          throw new Interrupted();
                        }
                      }
                    }))
        .isInstanceOf(Interrupted.class);
  }

  @Test
  void a_database_that_has_something_else_is_refused(@TempDir Path another) throws Exception {
    EveryRow.fill(directory, new SplittableRandom(5), 1);
    EveryRow.fill(another, new SplittableRandom(6), 1);
    interrupt();
    assertRefused(another, "Another store, from " + directory, "Make an empty database");
    move(directory);
    assertRefused(another, "This database has another store already", directory.toString());
  }

  @Test
  void a_database_with_rows_that_were_not_moved_is_refused() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(7), 1);
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      Schema.apply(connections);
    }
    execute("INSERT INTO tenants (tenant, slot, events, bytes) VALUES ('t', 0, 1, 1)");
    assertRefused(directory, "not empty: it has rows in the table tenants");
    execute("DELETE FROM tenants");
    execute(
        "INSERT INTO nodes (slot, name, version, started_at, expires_at)"
            + " VALUES (0, 'n', '1', now(), now())");
    assertRefused(directory, "Nodes are running on this database");
    execute("DELETE FROM nodes");
    assertThat(move(directory).isEqual()).isTrue();
  }

  @Test
  void a_store_that_was_used_since_is_refused() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(8), 1);
    interrupt();
    use();
    assertRefused(directory, "has been used since its move into this database began");
  }

  @Test
  void a_store_that_was_used_since_it_was_moved_is_refused() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(9), 1);
    move(directory);
    use();
    assertRefused(directory, "has been used since it was moved into this database at");
  }

  private void use() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.apiKeys().used(Map.of(1L, Instant.EPOCH));
    }
  }

  @Test
  void a_store_that_a_server_uses_is_refused() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(10), 1);
    try (SqliteStore _ = SqliteStore.open(directory)) {
      assertRefused(directory, "is in use by another running Holdfast. Stop that one first");
    }
  }

  @Test
  void a_store_that_is_not_there_is_refused_and_not_made(@TempDir Path empty) {
    assertRefused(empty, "There is no store in " + empty);
    assertThat(empty).isEmptyDirectory();
  }

  @Test
  void a_damaged_store_is_refused() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(11), 1);
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("holdfast.db"));
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("UPDATE events SET type = 'changed'");
    }
    assertRefused(directory, "is damaged", "Restore it from a backup first");
    assertThat(text("SELECT count(*) FROM moves")).isEqualTo("0");
  }

  @Test
  void one_value_that_differs_is_found_and_nothing_is_finished() throws Exception {
    EveryRow.fill(directory, new SplittableRandom(12), 2);
    for (String change :
        new String[] {
          "UPDATE messages SET response = coalesce(response, '') || '\\\\x00'",
          "UPDATE open SET due = coalesce(due, 0) + 1",
          "DELETE FROM audit WHERE id = 1",
          "UPDATE endpoints SET shard = (shard + 1) % 256"
        }) {
      MoveTest other = new MoveTest();
      Move.Result result =
          other.move(
              directory,
              new Watch() {
                @Override
                public void compared(long rows, long ofRows) {}

                @Override
                public void moved(String table, long rows, long ofRows) {
                  if (rows == ofRows && table.equals("audit")) {
                    other.changeBehind(change);
                  }
                }
              });
      String table = change.split(" ", -1)[change.startsWith("DELETE") ? 2 : 1];
      assertThat(result.isEqual()).as(change).isFalse();
      assertThat(result.tables().stream().filter(one -> !one.isEqual()).map(Move.Compared::table))
          .containsExactly(table);
      assertThat(other.text("SELECT finished_at IS NULL FROM moves")).isEqualTo("t");
      assertThat(other.move(directory).isEqual()).as("again").isFalse();
    }
  }

  /** The last chunk is not committed yet, so what is changed stands in those before. */
  private void changeBehind(String change) {
    try {
      execute(change);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void assertRefused(Path from, String... words) {
    assertThatThrownBy(() -> move(from))
        .isInstanceOf(StoreRefused.class)
        .hasMessageContainingAll(words)
        .hasMessageNotContaining("password");
  }

  private Map<String, String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.collect(
          Collectors.toMap(
              file -> file.getFileName().toString(), MoveTest::content, (a, _) -> a, TreeMap::new));
    }
  }

  private static String content(Path file) {
    try {
      return String.valueOf(Arrays.hashCode(Files.readAllBytes(file)));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private String text(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return String.valueOf(row.getString(1));
    }
  }
}
