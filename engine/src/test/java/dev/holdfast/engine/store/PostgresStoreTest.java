package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.PostgresServer;
import dev.holdfast.engine.store.postgres.PostgresStore;
import dev.holdfast.engine.vault.KeyFile;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store that several nodes share keeps the contract as well. */
final class PostgresStoreTest extends StoreContract {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  Opened open() throws Exception {
    PostgresStore store = store();
    return new Opened(store, store);
  }

  private PostgresStore store() throws StoreRefused {
    return PostgresStore.open(
        new PostgresOptions(url), KeyFile.in(directory), InstantSource.system());
  }

  /** The only one that PostgreSQL does not keep is the one with the number 0. */
  @Override
  String odd() {
    return "\u0001";
  }

  @Test
  void a_text_that_cannot_be_kept_is_refused() throws Exception {
    Sample sample = new Sample();
    try (PostgresStore store = store()) {
      assertThatThrownBy(
              () -> store.write(batch(accept(sample.pending(sample.event("\u0000", null, "1"))))))
          .isInstanceOfSatisfying(
              StoreException.class, refused -> assertThat(refused.kind()).isEqualTo(Kind.REFUSED));
    }
  }
}
