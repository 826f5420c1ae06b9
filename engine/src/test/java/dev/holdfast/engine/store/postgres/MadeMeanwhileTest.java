package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.engine.store.Sample;
import dev.holdfast.engine.store.StoreLimits;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is accepted while a part is made for it is not refused: it goes into that part. */
@Timeout(60)
final class MadeMeanwhileTest {
  private final String url = PostgresServer.freshDatabase();
  private final Event event =
      new Event(
          new IdSource(7, 0).next(NOW),
          TENANT,
          "t",
          null,
          null,
          Sample.bytes("{}"),
          null,
          null,
          null);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Test
  void an_event_is_accepted_into_a_part_that_was_not_there_when_its_write_began() throws Exception {
    try (ExecutorService threads = Executors.newSingleThreadExecutor();
        PostgresStore store = PostgresTools.open(url, directory, StoreLimits.DEFAULT);
        Connections connections = new Connections(new PostgresOptions(url));
        Connection making = connections.own()) {
      making.setAutoCommit(false);
      Connections.execute(making, "CREATE TABLE events_new (LIKE events INCLUDING ALL)");
      Connections.execute(
          making,
          "ALTER TABLE events ATTACH PARTITION events_new FOR VALUES FROM (%d) TO (%d)"
              .formatted(event.id(), event.id() + 1));

      Future<?> writing =
          threads.submit(() -> store.write(batch(accept(new AcceptedEvent(event, List.of())))));
      PostgresTools.awaitSomebodyWaiting(connections);
      making.commit();

      writing.get();
      List<String> where =
          connections.read(
              "looking where it is",
              c ->
                  Select.list(
                      c, "SELECT tableoid::regclass::text FROM events", row -> row.getString(1)));
      assertThat(where).containsExactly("events_new");
    }
  }
}
