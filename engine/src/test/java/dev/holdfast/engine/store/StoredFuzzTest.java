package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever stands in the data directory: it is read, or refused with the store's own exceptions,
 * within a time limit. Nothing else may be thrown, since nobody would know what it means.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS, threadMode = ThreadMode.SEPARATE_THREAD)
final class StoredFuzzTest {
  private static final int ROUND_TRIPS = 10;
  private static final int CHANGED_VALUES = 80;
  private static final int DAMAGED_FILES = 120;

  private static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofMillis(84_800), 11);
  private static final EndpointHealth HEALTH =
      new EndpointHealth(
          100, 700_000, 1_000, 2_000, Duration.ofDays(3), 50_000, Duration.ofMinutes(10));

  private static final Instant FAR = Instant.parse("9999-12-31T00:00:00Z");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private int directories;

  /** What was put into a store, so that it can be asked for. */
  private record Filled(
      List<Endpoint> endpoints,
      List<Subscription> subscriptions,
      List<Event> events,
      List<Message> unfinished,
      List<Finished> finished,
      List<FanOut> later) {}

  private record Finished(Message message, List<Attempt> attempts) {}

  @Test
  void what_is_kept_comes_back_as_it_was() {
    Seeds.each(
        ROUND_TRIPS,
        random -> {
          Path data = newDirectory();
          try (SqliteStore store = SqliteStore.open(data)) {
            Filled filled = fill(store, random);
            same(store.snapshot().endpoints(), filled.endpoints());
            same(store.snapshot().subscriptions(), filled.subscriptions());
            same(store.snapshot().fanOuts(), filled.later());
            for (Event event : filled.events()) {
              same(store.events(List.of(event.id())), List.of(event));
              EventKey key =
                  event.callerId() == null
                      ? new EventKey.Own(event.id())
                      : new EventKey.Callers(event.callerId());
              same(store.event(event.tenant(), key).orElseThrow().event(), event);
            }
            for (Message message : filled.unfinished()) {
              same(store.unfinished(message.id()), Optional.of(message));
            }
            for (Finished finished : filled.finished()) {
              long id = finished.message().id();
              String tenant = store.events(List.of(finished.message().event())).getFirst().tenant();
              History.MessageDetail detail = store.message(tenant, id).orElseThrow();
              same(detail.attempts(), finished.attempts());
              assertThat(detail.message().version()).isEqualTo(finished.message().version());
              same(store.unfinished(id), Optional.empty());
            }
          }
        });
  }

  private static void same(Object actual, Object expected) {
    assertThat(actual).usingRecursiveComparison().isEqualTo(expected);
  }

  @Test
  void a_value_that_somebody_changed_is_read_or_refused() throws Exception {
    readAfter(CHANGED_VALUES, StoredFuzzTest::changeValues);
  }

  @Test
  void a_file_that_was_damaged_is_read_or_refused() throws Exception {
    readAfter(DAMAGED_FILES, StoredFuzzTest::damageFile);
  }

  /** Does something to a data directory, and says what. */
  private interface Damage {
    String to(Path data, SplittableRandom random) throws Exception;
  }

  private void readAfter(int cases, Damage damage) throws Exception {
    Path template = newDirectory();
    Filled filled = crashed(template);
    int[] refused = new int[1];
    Seeds.each(
        cases,
        random -> {
          Path data = copy(template);
          String what = damage.to(data, random);
          try {
            refused[0] += readAll(data, filled);
          } catch (RuntimeException | Error e) {
            throw new AssertionError(what, e);
          }
          delete(data);
        });
    if (Seeds.areAllRun()) {
      assertThat(refused[0]).as("some damage must be noticed").isPositive();
    }
  }

  // Filling

  private static Filled fill(SqliteStore store, SplittableRandom random) throws StoreException {
    RandomRecords records = new RandomRecords(random);
    Filled filled =
        new Filled(
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>());
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Endpoint endpoint = records.endpoint();
      Subscription subscription = records.subscription(endpoint);
      filled.endpoints().add(endpoint);
      filled.subscriptions().add(subscription);
      writes.add(new Write.Subscribe(subscription, endpoint));
      writes.add(new Write.ChangeState(endpoint));
    }
    List<Write> later = new ArrayList<>();
    for (int i = random.nextInt(2, 12); i > 0; i--) {
      Event event = records.event();
      filled.events().add(event);
      List<Message> messages = new ArrayList<>();
      for (Subscription subscription : filled.subscriptions()) {
        Message message = records.pending(event, subscription.id(), subscription.endpoint());
        messages.add(message);
        later.addAll(settled(message, filled, records, random));
      }
      writes.add(new Write.Accept(List.of(new AcceptedEvent(event, messages))));
    }
    Event wide = records.event();
    filled.events().add(wide);
    filled.later().addAll(records.later(wide, filled.subscriptions()));
    writes.add(
        new Write.Accept(List.of(new AcceptedEvent(wide, List.of(), List.copyOf(filled.later())))));
    store.write(new Batch(writes, List.of()));
    store.write(new Batch(later, List.of()));
    return filled;
  }

  private static List<Write> settled(
      Message message, Filled filled, RandomRecords records, SplittableRandom random) {
    Message waiting = records.changed(message, Status.WAITING);
    Attempt first = records.attempt(message, 1, records.failure());
    return switch (random.nextInt(5)) {
      case 0 -> {
        filled.unfinished().add(message);
        yield List.of();
      }
      case 1 -> {
        filled.unfinished().add(waiting);
        yield List.of(new Write.Retry(waiting, first));
      }
      case 2 -> {
        Message parked = records.changed(message, Status.PARKED);
        filled.unfinished().add(parked);
        yield List.of(new Write.Park(parked));
      }
      case 3 -> {
        Attempt last = records.attempt(message, 1, records.success());
        filled.finished().add(new Finished(message, List.of(last)));
        yield List.of(new Write.Deliver(message, last, records.time()));
      }
      default -> {
        DropReason reason = records.pick(DropReason.values());
        filled.finished().add(new Finished(message, List.of(first)));
        yield List.of(new Write.Drop(message, reason, first, records.time()));
      }
    };
  }

  /** A store with everything in it as a crash leaves it: a file, and a log with the newest. */
  private Filled crashed(Path template) throws Exception {
    Path data = newDirectory();
    Filled filled;
    try (SqliteStore store = SqliteStore.open(data)) {
      filled = fill(store, new SplittableRandom(1));
    }
    try (SqliteStore store = SqliteStore.open(data)) {
      store.apiKeys().put("n", ApiKey.Role.ADMIN, null, new byte[32], Sample.NOW);
      for (String file : List.of("holdfast.db", "holdfast.db-wal")) {
        Files.copy(data.resolve(file), template.resolve(file));
      }
    }
    return filled;
  }

  private Path newDirectory() throws IOException {
    return Files.createDirectory(directory.resolve("data-" + directories++));
  }

  private Path copy(Path template) throws IOException {
    Path data = newDirectory();
    try (Stream<Path> files = Files.list(template)) {
      for (Path file : files.toList()) {
        Files.copy(file, data.resolve(file.getFileName()));
      }
    }
    return data;
  }

  private static void delete(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(data);
  }

  // Damage

  private record Column(String table, String name, String type) {}

  /** Puts other values of the right type into one to three columns. */
  private static String changeValues(Path data, SplittableRandom random) throws SQLException {
    List<String> changes = new ArrayList<>();
    try (Connection connection = Sqlite.writer(data.resolve("holdfast.db"), 0)) {
      List<Column> columns = columns(connection);
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        Column column = columns.get(random.nextInt(columns.size()));
        String sql =
            "UPDATE OR IGNORE %s SET %s = CAST(? AS %s)"
                .formatted(column.table(), column.name(), column.type());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          Object value = value(column, random);
          if (value instanceof byte[] bytes) {
            statement.setBytes(1, bytes);
            changes.add(column.name() + " = " + Arrays.toString(bytes));
          } else {
            statement.setObject(1, value);
            changes.add(column.name() + " = " + value);
          }
          statement.execute();
        }
      }
    }
    return String.join(", ", changes);
  }

  private static List<Column> columns(Connection connection) throws SQLException {
    List<Column> columns = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c"
                    + " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
                    + " ORDER BY t.name, c.cid")) {
      while (rows.next()) {
        columns.add(new Column(rows.getString(1), rows.getString(2), rows.getString(3)));
      }
    }
    return columns;
  }

  private static Object value(Column column, SplittableRandom random) {
    if (column.type().equals("INTEGER")) {
      return switch (random.nextInt(4)) {
        case 0 -> random.nextLong();
        case 1 -> random.nextInt(-3, 4);
        case 2 -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
        default -> (long) random.nextInt();
      };
    }
    byte[] bytes = new byte[random.nextInt(20)];
    random.nextBytes(bytes);
    return switch (random.nextInt(4)) {
      case 0 -> new byte[0];
      case 1 -> new byte[] {'\n'};
      default -> bytes;
    };
  }

  /** Flips bits, cuts, or overwrites a part, in the file or in its log. */
  private static String damageFile(Path data, SplittableRandom random) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(data)) {
      files = all.filter(file -> !file.endsWith("holdfast.lock")).sorted().toList();
    }
    Path file = files.get(random.nextInt(files.size()));
    byte[] bytes = Files.readAllBytes(file);
    if (bytes.length == 0) {
      bytes = new byte[1];
    }
    String what =
        switch (random.nextInt(4)) {
          case 0 -> {
            for (int i = random.nextInt(1, 9); i > 0; i--) {
              bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            yield "flipped bits";
          }
          case 1 -> {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            yield "cut to " + bytes.length;
          }
          case 2 -> {
            byte[] garbage = new byte[random.nextInt(1, 4_096)];
            random.nextBytes(garbage);
            int at = random.nextInt(bytes.length);
            System.arraycopy(garbage, 0, bytes, at, Math.min(garbage.length, bytes.length - at));
            yield "garbage at " + at;
          }
          default -> {
            int from = random.nextInt(bytes.length);
            int to = random.nextInt(bytes.length);
            int length = Math.min(random.nextInt(1, 16_384), bytes.length - Math.max(from, to));
            System.arraycopy(bytes, from, bytes, to, length);
            yield "moved " + length + " bytes from " + from + " to " + to;
          }
        };
    Files.write(file, bytes);
    return file.getFileName() + ": " + what;
  }

  // Reading

  private interface Read {
    void run() throws StoreException;
  }

  /** Asks for everything that can be asked for; returns how often that was refused. */
  private static int readAll(Path data, Filled filled) {
    SqliteStore store;
    try {
      store = SqliteStore.open(data);
    } catch (StoreRefused e) {
      assertThat(e.getMessage()).isNotBlank();
      return 1;
    }
    int refused = 0;
    try {
      for (Read read : reads(store, filled)) {
        try {
          read.run();
        } catch (StoreException e) {
          assertThat(e.getMessage()).isNotBlank();
          refused++;
        }
      }
    } finally {
      store.close();
    }
    return refused;
  }

  /** What the engine does first. */
  private static void start(Snapshot snapshot) {
    new Loop(SCHEDULE, HEALTH, Recovery.DRAIN, Limits.forHeap(256L << 20, 32), 0, snapshot)
        .step(List.of(), Sample.NOW, effect -> {});
  }

  private static List<Read> reads(SqliteStore store, Filled filled) {
    List<Read> reads = new ArrayList<>();
    reads.add(store::snapshot);
    reads.add(() -> start(store.snapshot()));
    reads.add(() -> store.due(DueCursor.START, FAR, 100));
    reads.add(() -> store.apiKeys().all());
    reads.add(() -> store.apiKeys().find(new byte[32]));
    for (Endpoint endpoint : filled.endpoints()) {
      long id = endpoint.id();
      reads.add(() -> store.pending(id, 100));
      reads.add(() -> store.backlog(id, FAR, BacklogCursor.START, FAR, 100));
      reads.add(() -> store.probe(id, FAR));
      reads.add(() -> store.ofSubscription(id, id + 1, Which.ALL, 100));
      reads.add(() -> store.changes(id, 100));
    }
    for (Event event : filled.events()) {
      reads.add(() -> store.events(List.of(event.id())));
      reads.add(() -> store.event(event.tenant(), new EventKey.Own(event.id())));
      String callerId = event.callerId();
      if (callerId != null) {
        reads.add(() -> store.event(event.tenant(), new EventKey.Callers(callerId)));
      }
    }
    for (Message message : filled.unfinished()) {
      reads.add(() -> store.unfinished(message.id()));
      reads.add(() -> store.message(Sample.TENANT, message.id()));
    }
    for (Finished finished : filled.finished()) {
      reads.add(() -> store.message(Sample.TENANT, finished.message().id()));
      reads.add(() -> store.message("acme", finished.message().id()));
    }
    for (String tenant : List.of(Sample.TENANT, "acme")) {
      reads.add(
          () ->
              store.messages(
                  new History.Query(
                      tenant, Set.of(), null, null, null, null, null, Long.MAX_VALUE, 100)));
    }
    reads.add(
        () -> {
          Sample sample = new Sample(Long.MAX_VALUE / 2);
          store.write(Sample.batch(Sample.accept(sample.pending(1))));
        });
    return reads;
  }
}
