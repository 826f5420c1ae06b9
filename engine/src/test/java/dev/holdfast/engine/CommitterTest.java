package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.Upkept.Left;
import java.nio.file.Path;
import java.time.Duration;
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

  @Test
  void upkeep_leaves_most_of_the_time_to_batches_that_need_it() {
    Duration took = Duration.ofMillis(5);
    Duration usual = Duration.ofMillis(50);
    assertThat(Committer.pauseAfter(Left.NOTHING, took, true, usual)).isEqualTo(usual);
    assertThat(Committer.pauseAfter(Left.SOME, took, true, usual)).isEqualTo(Duration.ofMillis(35));
    assertThat(Committer.pauseAfter(Left.SOME, took, false, usual))
        .isEqualTo(Duration.ofMillis(10));
  }

  @Test
  void upkeep_that_has_fallen_behind_takes_as_much_time_as_batches() {
    Duration usual = Duration.ofMillis(50);
    for (boolean isBusy : new boolean[] {true, false}) {
      assertThat(Committer.pauseAfter(Left.TOO_MUCH, Duration.ofMillis(5), isBusy, usual))
          .isEqualTo(Duration.ofMillis(5));
      assertThat(Committer.pauseAfter(Left.TOO_MUCH, Duration.ofMillis(30), isBusy, usual))
          .isEqualTo(Duration.ofMillis(10));
    }
  }
}
