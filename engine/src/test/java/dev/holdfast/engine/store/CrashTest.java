package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.History;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed loses nothing that it said it keeps, and leaves no half batches. */
final class CrashTest {
  private static final int CRASHES = 3;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Test
  @Timeout(120)
  void what_was_kept_is_there_after_a_crash() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    List<List<Long>> kept = new ArrayList<>();
    for (int crash = 0; crash < CRASHES; crash++) {
      List<List<Long>> keptNow = writeUntilKilled(100 + random.nextInt(300));
      assertThat(keptNow).isNotEmpty();
      kept.addAll(keptNow);
      try (SqliteStore store = SqliteStore.open(directory)) {
        checkKept(store, kept, keptNow);
        checkWhole(store);
      }
      assertThat(StoreCheck.run(directory).problems()).isEmpty();
    }
  }

  private List<List<Long>> writeUntilKilled(int lines) throws Exception {
    List<List<Long>> kept = new ArrayList<>();
    Child child = Child.start(CrashWriter.class, directory);
    String line = "";
    for (int i = 0; i < lines && line != null; i++) {
      line = child.readLine();
      add(kept, line);
    }
    child.close();
    return kept;
  }

  private static void add(List<List<Long>> kept, @Nullable String line) {
    if (line != null && line.endsWith("kept")) {
      List<String> words = Arrays.asList(line.split(" "));
      kept.add(words.subList(0, words.size() - 1).stream().map(Long::valueOf).toList());
    }
  }

  private static void checkKept(SqliteStore store, List<List<Long>> kept, List<List<Long>> keptNow)
      throws Exception {
    for (List<Long> events : kept) {
      assertThat(store.events(events)).hasSize(CrashWriter.EVENTS);
    }
    for (List<Long> events : keptNow.subList(0, keptNow.size() - 1)) {
      for (long event : events) {
        assertThat(
                store.message(Sample.TENANT, Sample.nextTo(event)).orElseThrow().message().status())
            .isEqualTo(History.Status.DELIVERED);
      }
    }
  }

  /** What is unfinished are whole batches: the last of each run. */
  private static void checkWhole(SqliteStore store) throws Exception {
    List<Message> pending = store.pending(CrashWriter.ENDPOINT, 10_000);
    assertThat(pending.size()).isPositive();
    assertThat(pending.size() % CrashWriter.EVENTS).isZero();
    assertThat(store.events(pending.stream().map(Message::event).toList())).hasSameSizeAs(pending);
  }
}
