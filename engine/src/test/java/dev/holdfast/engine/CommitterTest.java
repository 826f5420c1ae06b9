package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.engine.store.SqliteStore;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommitterTest {
  private static final Batch NOTHING = new Batch(List.of(), List.of());

  @TempDir private Path directory = Path.of("");

  @Test
  void what_comes_after_the_end_is_not_written_and_breaks_nothing() throws Exception {
    BlockingQueue<Input> results = new LinkedBlockingQueue<>();
    try (SqliteStore store = SqliteStore.open(directory)) {
      Committer committer =
          new Committer(
              store,
              () -> {
                throw new AssertionError("there is no upkeep");
              });
      committer.write(NOTHING, (_, result, _) -> results.add(result));
      assertThat(results.poll(10, TimeUnit.SECONDS)).isInstanceOf(Input.Committed.class);
      committer.close();
      committer.write(NOTHING, (_, result, _) -> results.add(result));
      assertThat(results).isEmpty();
    }
  }
}
