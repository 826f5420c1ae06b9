package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.ApiKey.Role;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One bit of the files flips, or their end is cut off, while nobody uses them. Then the store is
 * refused, or whoever reads what is damaged is told so, or everything still reads as it was written
 * (the bit was in a place that means nothing). Nothing is left out or changed.
 *
 * <p>One thing cannot be told from an answer: that something in the history, or a caller's id, was
 * not found because the key that it is found by was damaged. A check finds that.
 *
 * <p>More flips with {@code -Dholdfast.flips=100000}.
 */
final class DamageTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Instant FAR = NOW.plusSeconds(1_000_000);
  private static final String TENANT = "acme";
  private static final int FLIPS = Integer.getInteger("holdfast.flips", 100);
  private static final int ENDPOINTS = 3;
  private static final int EVENTS = 60;

  /** One for each endpoint. */
  private static final List<Form> FORMS =
      List.of(
          Form.PLAIN,
          workfront(new Edition(Version.V1, null)),
          workfront(new Edition(Version.V2, NOW.minusSeconds(9))));

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path pristine;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path pristineWithLog;

  private final List<Endpoint> endpoints = new ArrayList<>();
  private final List<Subscription> subscriptions = new ArrayList<>();
  private final List<Long> events = new ArrayList<>();
  private final List<Long> messages = new ArrayList<>();
  private String writtenPath = "";
  private String writtenHistory = "";

  @BeforeEach
  void writeAStore() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory);
        Connection looking = Sqlite.reader(StoreFile.path(directory))) {
      // While somebody looks, the log is not begun anew, so that no part of it is out of date.
      Sqlite.execute(looking, "BEGIN");
      try (var statement = looking.createStatement();
          var row = statement.executeQuery("SELECT count(*) FROM events")) {
        assertThat(row.next()).isTrue();
      }
      fill(store);
      writtenPath = pathOf(store);
      writtenHistory = historyOf(store);
      copy(directory, pristineWithLog);
    }
    copy(directory, pristine);
  }

  @Test
  void no_bit_of_the_file_flips_unnoticed() throws Exception {
    flip(pristine, "holdfast.db", 5);
  }

  @Test
  void no_bit_of_the_log_flips_unnoticed() throws Exception {
    flip(pristineWithLog, "holdfast.db-wal", 30);
  }

  @Test
  void a_file_with_a_log_is_refused_when_its_end_is_missing() throws Exception {
    moveLogIntoFile();
    long length = Files.size(pristineWithLog.resolve("holdfast.db"));
    for (long end = Sqlite.PAGE_BYTES; end < length; end += Sqlite.PAGE_BYTES) {
      cut("holdfast.db", end);
      assertThat(outcome()).as("cut at %d", end).startsWith("refused");
    }
  }

  @Test
  void a_log_is_refused_when_its_end_is_missing() throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    long length = Files.size(pristineWithLog.resolve("holdfast.db-wal"));
    for (int i = 0; i < 30; i++) {
      long end = random.nextLong(length - Sqlite.PAGE_BYTES);
      cut("holdfast.db-wal", end);
      assertThat(outcome()).as("cut at %d", end).startsWith("refused");
    }
  }

  @Test
  void a_log_that_is_gone_is_missed_unless_the_file_has_it_all() throws Exception {
    copy(pristineWithLog, directory);
    Files.delete(directory.resolve("holdfast.db-wal"));
    assertThat(outcome()).matches("intact|refused .*");
  }

  @Test
  void an_older_state_is_taken_when_the_mark_is_removed() throws Exception {
    copy(pristineWithLog, directory);
    Files.delete(directory.resolve("holdfast.db-wal"));
    Files.delete(directory.resolve("holdfast.lock"));
    try (SqliteStore store = SqliteStore.open(directory)) {
      assertThat(store.snapshot().endpoints()).hasSizeLessThanOrEqualTo(ENDPOINTS);
    }
  }

  @Test
  void a_check_names_what_is_damaged() throws Exception {
    copy(pristine, directory);
    StoreCheck.Result intact = StoreCheck.run(directory);
    assertThat(intact.problems()).isEmpty();
    assertThat(intact.rows()).isGreaterThan(2 * EVENTS);

    byte[] needle = "\"number\":17,".getBytes(StandardCharsets.US_ASCII);
    byte[] bytes = Files.readAllBytes(directory.resolve("holdfast.db"));
    for (int i = 0; i < bytes.length - needle.length; i++) {
      if (ByteBuffer.wrap(bytes, i, needle.length).equals(ByteBuffer.wrap(needle))) {
        bytes[i + 3] ^= 4;
      }
    }
    Files.write(directory.resolve("holdfast.db"), bytes);
    assertThat(StoreCheck.run(directory).problems())
        .singleElement()
        .asString()
        .contains("row " + events.get(17) + " of events");
  }

  /** Flips one bit after the other, each in files as they were. */
  private void flip(Path from, String file, int leastNoticedPercent) throws Exception {
    SplittableRandom random = new SplittableRandom(4711);
    long length = Files.size(from.resolve(file));
    int noticed = 0;
    for (int i = 0; i < FLIPS; i++) {
      copy(from, directory);
      long at = random.nextLong(length);
      int bit = random.nextInt(8);
      try (FileChannel channel =
          FileChannel.open(
              directory.resolve(file), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        ByteBuffer one = ByteBuffer.allocate(1);
        channel.read(one, at);
        one.put(0, (byte) (one.get(0) ^ (1 << bit)));
        channel.write(one.flip(), at);
      }
      String outcome = outcome();
      assertThat(outcome)
          .as("bit %d of byte %d of %s has flipped", bit, at, file)
          .isNotEqualTo("changed");
      if (outcome.equals("not found")) {
        assertThat(StoreCheck.run(directory).problems()).isNotEmpty();
      }
      noticed += outcome.equals("intact") ? 0 : 1;
    }
    assertThat(noticed * 100 / FLIPS).as("percent noticed").isGreaterThan(leastNoticedPercent);
  }

  private void cut(String file, long length) throws IOException {
    copy(pristineWithLog, directory);
    try (FileChannel channel =
        FileChannel.open(directory.resolve(file), StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  /** Leaves a log that has only the end of what the file has too. */
  private void moveLogIntoFile() throws Exception {
    copy(pristine, directory);
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.apiKeys().put("third", Role.VIEWER, TENANT, new byte[32], NOW);
      for (String name : List.of("holdfast.db", "holdfast.db-wal", "holdfast.lock")) {
        Files.write(pristineWithLog.resolve(name), Files.readAllBytes(directory.resolve(name)));
      }
    }
  }

  private String outcome() {
    try (SqliteStore store = SqliteStore.open(directory)) {
      String path = pathOf(store);
      if (path.startsWith("broken")) {
        return path;
      }
      if (!path.equals(writtenPath)) {
        return "changed";
      }
      return historyOf(store).equals(writtenHistory) ? "intact" : "not found";
    } catch (StoreRefused e) {
      assertThat(e).hasMessageContaining("backup");
      return "refused " + e.getMessage();
    } catch (StoreException e) {
      assertThat(e.kind()).isEqualTo(StoreException.Kind.BROKEN);
      return "broken " + e.getMessage();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> old = Files.list(to)) {
      for (Path file : old.toList()) {
        Files.delete(file);
      }
    }
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        if (!file.toString().endsWith("-shm")) {
          Files.write(to.resolve(file.getFileName()), Files.readAllBytes(file));
        }
      }
    }
  }

  private void fill(SqliteStore store) throws StoreException {
    long id = Id.floor(NOW);
    store
        .apiKeys()
        .put("first", Role.ADMIN, null, filled(32, 1), NOW, NOW.plusSeconds(60), Actor.PROGRAM);
    for (int i = 0; i < ENDPOINTS; i++) {
      id += Id.STRIDE;
      Endpoint endpoint =
          new Endpoint(id, TENANT, "https://" + i + ".example/hook", Health.created(NOW));
      endpoints.add(endpoint);
      id += Id.STRIDE;
      Subscription subscription =
          new Subscription(
              id,
              TENANT,
              endpoint.id(),
              i % 2 == 0 ? null : "https://" + i + ".EXAMPLE/hook",
              new Interest(List.of(new TypePattern("t." + i)), null, Filters.NONE),
              FORMS.get(i),
              NOW,
              NOW.plusSeconds(i),
              false,
              Set.of());
      subscriptions.add(subscription);
      store.write(batch(new Write.Subscribe(subscription, endpoint)));
      store.write(batch(new Write.ChangeState(endpoint)));
    }
    for (int i = 0; i < EVENTS; i++) {
      id = writeEvent(store, i, id);
    }
    writeWideEvent(store, id);
  }

  /** An event whose messages are still to be made, in both versions and in neither. */
  private void writeWideEvent(SqliteStore store, long after) throws StoreException {
    Event event =
        new Event(after + Id.STRIDE, TENANT, "t.1", null, null, filled(9, 1), null, null, null);
    List<FanOut.Target> targets = new ArrayList<>();
    for (Subscription subscription : subscriptions) {
      targets.add(new FanOut.Target(subscription.id(), subscription.endpoint(), Version.V1));
      targets.add(new FanOut.Target(subscription.id(), subscription.endpoint(), Version.V2));
      targets.add(new FanOut.Target(subscription.id(), subscription.endpoint(), null));
    }
    List<FanOut> steps = List.of(new FanOut(event.id(), event.size(), 0, targets));
    store.write(batch(new Write.Accept(List.of(new AcceptedEvent(event, List.of(), steps)))));
  }

  private static Form workfront(Edition edition) {
    return new Form(Format.WORKFRONT, edition, true, "token", new TreeMap<>(), List.of());
  }

  private static @Nullable Version version(int number) {
    return switch (number % 4) {
      case 0 -> Version.V1;
      case 1 -> Version.V2;
      default -> null;
    };
  }

  /** An event with two messages: one for each third ends, waits or stays pending. */
  private long writeEvent(SqliteStore store, int number, long after) throws StoreException {
    long id = after + Id.STRIDE;
    Event event =
        new Event(
            id,
            TENANT,
            "t." + number % ENDPOINTS,
            number % 2 == 0 ? "subject " + number : null,
            number % 5 == 0 ? NOW.plusNanos(number) : null,
            ("{\"number\":" + number + ",\"x\":\"" + "x".repeat(number * 7) + "\"}")
                .getBytes(StandardCharsets.US_ASCII),
            number % 7 == 0 ? filled(20, number) : null,
            number % 3 == 0 ? "own-" + number : null,
            null);
    List<Message> made = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      id += Id.STRIDE;
      Subscription subscription = subscriptions.get((number + i) % ENDPOINTS);
      made.add(
          Message.pending(
              id,
              event.id(),
              subscription.id(),
              subscription.endpoint(),
              event.size(),
              version(number)));
      messages.add(id);
    }
    events.add(event.id());
    store.write(batch(new Write.Accept(List.of(new AcceptedEvent(event, made)))));
    Message first = made.getFirst();
    switch (number % 3) {
      case 0 ->
          store.write(
              batch(
                  new Write.Deliver(
                      first,
                      new Attempt(
                          first.id(),
                          1,
                          NOW,
                          12,
                          true,
                          new Outcome.Success(200, filled(9, number))),
                      NOW.plusSeconds(number))));
      case 1 ->
          store.write(
              batch(
                  new Write.Retry(
                      new Message(
                          first.id(),
                          first.event(),
                          first.subscription(),
                          first.endpoint(),
                          Message.Status.WAITING,
                          1,
                          1,
                          NOW,
                          NOW.plusSeconds(60 + number),
                          null,
                          NOW,
                          first.size(),
                          first.version()),
                      new Attempt(
                          first.id(),
                          1,
                          NOW,
                          12,
                          true,
                          new Outcome.Failure(
                              Outcome.Failure.Kind.STATUS, 503, filled(30, number), "7")))));
      default -> {}
    }
    return id;
  }

  private static byte[] filled(int length, int with) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (with * 31 + i);
    }
    return bytes;
  }

  /** All that an engine reads to find work and to do it, as text. */
  private String pathOf(SqliteStore store) throws StoreException {
    StringBuilder text = new StringBuilder();
    text.append(store.snapshot()).append('\n');
    text.append(store.due(DueCursor.START, FAR, 10_000)).append('\n');
    for (Endpoint endpoint : endpoints) {
      text.append(store.pending(endpoint.id(), 10_000)).append('\n');
      text.append(store.backlog(endpoint.id(), FAR, BacklogCursor.START, FAR, 10_000)).append('\n');
      text.append(store.probe(endpoint.id(), FAR)).append('\n');
    }
    for (Subscription subscription : subscriptions) {
      text.append(
          store.ofSubscription(subscription.endpoint(), subscription.id(), Which.ALL, 10_000));
    }
    List<Event> found = store.events(events);
    if (found.size() < events.size()) {
      // The engine stops for that: an event of an unfinished message is never missing.
      return "broken: events are missing";
    }
    found.forEach(event -> describe(event, text));
    for (long message : messages) {
      text.append(store.unfinished(message)).append('\n');
    }
    return text.append(store.apiKeys().find(filled(32, 1))).toString();
  }

  /** What people can look up, as text. */
  private String historyOf(SqliteStore store) throws StoreException {
    StringBuilder text = new StringBuilder();
    for (Endpoint endpoint : endpoints) {
      text.append(store.changes(endpoint.id(), 100)).append('\n');
    }
    for (long message : messages) {
      store.message(TENANT, message).ifPresent(detail -> describe(detail, text));
    }
    for (long event : events) {
      text.append(
          store.event(TENANT, new History.EventKey.Own(event)).map(History.EventDetail::messages));
    }
    for (int i = 0; i < EVENTS; i += 3) {
      text.append(
          store
              .event(TENANT, new History.EventKey.Callers("own-" + i))
              .map(detail -> detail.event().id()));
    }
    return text.toString();
  }

  private static void describe(Event event, StringBuilder text) {
    text.append(event.id()).append(event.tenant()).append(event.type()).append(event.subject());
    text.append(event.occurredAt()).append(event.callerId()).append(event.traceparent());
    text.append(new String(event.data(), StandardCharsets.ISO_8859_1));
    byte[] previous = event.previous();
    text.append(previous == null ? "" : new String(previous, StandardCharsets.ISO_8859_1));
    text.append('\n');
  }

  private static void describe(History.MessageDetail detail, StringBuilder text) {
    text.append(detail.message());
    for (Attempt attempt : detail.attempts()) {
      text.append(attempt.number()).append(attempt.at()).append(attempt.durationMillis());
      text.append(attempt.scheduled());
      text.append(new String(attempt.outcome().response(), StandardCharsets.ISO_8859_1));
      switch (attempt.outcome()) {
        case Outcome.Success success -> text.append(success.status());
        case Outcome.Failure failure ->
            text.append(failure.kind()).append(failure.status()).append(failure.retryAfter());
      }
    }
    text.append('\n');
  }
}
