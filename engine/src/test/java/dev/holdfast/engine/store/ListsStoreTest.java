package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.port.History.About;
import dev.holdfast.core.port.History.EventQuery;
import dev.holdfast.core.port.History.EventSummary;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists of events and attempts in the embedded store. */
final class ListsStoreTest extends ListsStoreContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Database openStore(StoreLimits limits) throws Exception {
    return SqliteStore.open(directory, limits);
  }

  @Test
  void a_damaged_event_of_another_tenant_keeps_nobody_from_a_list() throws Exception {
    Sample sample = new Sample();
    AcceptedEvent own = sample.pending();
    AcceptedEvent others = sample.pending(sample.event("other", null, "{}"));
    try (SqliteStore store = SqliteStore.open(directory)) {
      store.write(Sample.batch(Sample.accept(own, others)));
    }
    execute("UPDATE events SET type = 'x' || type WHERE tenant = 'other'");
    try (SqliteStore store = SqliteStore.open(directory)) {
      EventQuery query =
          new EventQuery(Sample.TENANT, About.ANYTHING, null, null, Long.MAX_VALUE, 10);
      assertThat(store.events(query).items())
          .extracting(EventSummary::id)
          .containsExactly(own.event().id());
    }
    execute("UPDATE events SET type = substr(type, 2) WHERE tenant = 'other'");
  }

  private void execute(String sql) throws Exception {
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sqlite.execute(connection, sql);
    }
  }

  @Override
  List<String> problems() throws Exception {
    return StoreCheck.run(directory).problems();
  }
}
