package dev.holdfast.engine.store;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes batches until the process is ended, and says of each that it is kept: a line with the ids
 * of its events. Each batch accepts events with one message each and delivers those of the batch
 * before.
 */
final class CrashWriter {
  static final int EVENTS = 20;
  static final long ENDPOINT = 1_000_001;

  private CrashWriter() {}

  public static void main(String[] args) throws Exception {
    StoreLimits limits =
        new StoreLimits(
            10, StoreLimits.DEFAULT.historyRead(), 1, 10, Duration.ofMillis(1), 1 << 18, 1 << 30);
    Upkeep.Limits often =
        new Upkeep.Limits(
            new HistoryIndex.Limits(30, 200, 30, 20),
            Removal.Limits.DEFAULT,
            Shrinking.Limits.DEFAULT);
    try (SqliteStore store = SqliteStore.open(Path.of(args[0]), limits, often)) {
      Sample sample = new Sample(store.snapshot().highestId());
      List<Message> before = List.of();
      while (true) {
        List<Write> writes = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        List<Message> accepted = new ArrayList<>();
        for (int i = 0; i < EVENTS; i++) {
          AcceptedEvent event =
              sample.pending(sample.event(Sample.TENANT, null, "x".repeat(i * 500)), ENDPOINT);
          accepted.addAll(event.messages());
          writes.add(new Write.Accept(List.of(event)));
          line.append(event.event().id()).append(' ');
        }
        before.forEach(message -> writes.add(Sample.deliver(message)));
        store.write(new Batch(writes, List.of()));
        store.upkeep(Retention.FOREVER, Sample.NOW);
        System.out.println(line.append("kept"));
        System.out.flush();
        before = accepted;
      }
    }
  }
}
