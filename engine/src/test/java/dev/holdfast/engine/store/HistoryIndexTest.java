package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the index of history has when something goes wrong. */
final class HistoryIndexTest {
  private static final long ENDPOINT = 1_000_001;
  private static final Duration KEPT = Duration.ofDays(30);
  private static final Retention RETENTION = new Retention(KEPT, Retention.NO_LIMIT);

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
    store = SqliteStore.open(directory, StoreLimits.DEFAULT, UPKEEP);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Message accepted() throws Exception {
    AcceptedEvent event = sample.pending(ENDPOINT);
    store.write(batch(accept(event)));
    return event.messages().getFirst();
  }

  private static Write.Deliver delivery(Message message) {
    return new Write.Deliver(message, Sample.success(message, 1), NOW);
  }

  private List<Message> delivered(int count) throws Exception {
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Message message = accepted();
      store.write(batch(delivery(message)));
      messages.add(message);
    }
    return messages;
  }

  private long upkeep(Instant now) throws Exception {
    long removed = 0;
    Upkept done;
    do {
      done = store.upkeep(RETENTION, now);
      removed += done.removed().messages();
    } while (done.isMore());
    return removed;
  }

  private List<Long> listed() throws Exception {
    Query query =
        new Query(TENANT, Set.of(), ENDPOINT, null, null, null, null, Long.MAX_VALUE, 1_000);
    return store.messages(query).items().stream().map(MessageSummary::id).toList();
  }

  private void assertAllAreListed(List<Message> messages) throws Exception {
    assertThat(listed())
        .containsExactlyElementsOf(messages.reversed().stream().map(Message::id).toList());
    store.close();
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  @Test
  void a_batch_that_is_refused_leaves_nothing_to_be_indexed() throws Exception {
    List<Message> messages = new ArrayList<>(delivered(3));
    upkeep(NOW);
    Message twice = accepted();
    assertThatThrownBy(() -> store.write(batch(delivery(twice), delivery(twice))))
        .isInstanceOf(StoreException.class);
    store.write(batch(delivery(twice)));
    messages.add(twice);
    messages.addAll(delivered(20));
    upkeep(NOW);
    assertAllAreListed(messages);
  }

  @Test
  void more_than_is_remembered_is_indexed_all_the_same() throws Exception {
    List<Message> messages = new ArrayList<>(delivered(12));
    upkeep(NOW);
    messages.addAll(delivered(150));
    upkeep(NOW);
    assertAllAreListed(messages);
  }

  @Test
  void late_ones_are_put_where_they_belong_and_rows_that_get_long_are_split() throws Exception {
    List<Message> messages = new ArrayList<>();
    List<Message> late = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      messages.addAll(delivered(1));
      Message message = accepted();
      messages.add(message);
      late.add(message);
    }
    upkeep(NOW);
    for (Message message : late.reversed()) {
      store.write(batch(delivery(message)));
    }
    assertAllAreListed(messages);
  }

  @Test
  void damage_in_it_fails_lists_and_keeps_nothing_from_being_delivered_or_removed()
      throws Exception {
    Message late = accepted();
    List<Message> messages = delivered(30);
    upkeep(NOW);
    store.close();
    try (Connection connection = Sqlite.copyWriter(StoreFile.path(directory))) {
      Sqlite.execute(connection, "UPDATE finished_by_endpoint SET ids = x'ff'");
    }
    open();
    store.write(batch(delivery(late)));
    assertThat(store.message(TENANT, late.id())).isPresent();
    assertThatThrownBy(this::listed)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("index of history");

    // The newest event always stays.
    assertThat(upkeep(NOW.plus(KEPT).plusSeconds(1))).isEqualTo(messages.size());
  }
}
