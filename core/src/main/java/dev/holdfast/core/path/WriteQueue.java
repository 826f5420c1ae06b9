package dev.holdfast.core.path;

import dev.holdfast.core.path.Commit.Entry;
import dev.holdfast.core.port.Write;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written. Tenants' events take turns, by tenant, and with everything else: one
 * tenant's flood makes nobody else wait longer than for the batch under way.
 *
 * <p>One tenant's events stay in their order, and so does everything else.
 */
final class WriteQueue {
  /** How much of one line is taken in a turn: so many rows, or so many kilobytes. */
  private static final long TURN = 100;

  private static final long BYTES_PER_ROW = 1_024;

  /** The line of what is not a tenant's events. */
  private final Deque<Entry> others = new ArrayDeque<>();

  private final Map<String, Deque<Entry>> byTenant = new HashMap<>();

  /** The lines that are not empty, in the order of their turns. */
  private final Deque<Deque<Entry>> turns = new ArrayDeque<>();

  private int size;

  /** Of these, those that somebody waits for. */
  private int awaited;

  private long takenInTurn;

  void add(Entry entry) {
    Deque<Entry> line =
        isEvents(entry)
            ? byTenant.computeIfAbsent(entry.tenant(), _ -> new ArrayDeque<>())
            : others;
    if (line.isEmpty()) {
      turns.add(line);
    }
    line.add(entry);
    size++;
    awaited += awaited(entry);
  }

  private static boolean isEvents(Entry entry) {
    return entry.write() instanceof Write.Accept;
  }

  /** Takes the entry whose turn it is. */
  @Nullable Entry poll() {
    Deque<Entry> line = turns.peek();
    if (line == null) {
      return null;
    }
    Entry entry = line.remove();
    size--;
    awaited -= awaited(entry);
    takenInTurn += entry.weight() + entry.bytes() / BYTES_PER_ROW;
    if (line.isEmpty()) {
      turns.remove();
      takenInTurn = 0;
      if (isEvents(entry)) {
        byTenant.remove(entry.tenant());
      }
    } else if (takenInTurn >= TURN) {
      turns.add(turns.remove());
      takenInTurn = 0;
    }
    return entry;
  }

  void removeIf(Predicate<Entry> condition) {
    Deque<Entry> all = new ArrayDeque<>(size);
    for (Entry entry = poll(); entry != null; entry = poll()) {
      if (!condition.test(entry)) {
        all.add(entry);
      }
    }
    all.forEach(this::add);
  }

  private static int awaited(Entry entry) {
    return entry.replyTo() == null ? 0 : 1;
  }

  int size() {
    return size;
  }

  int awaited() {
    return awaited;
  }

  boolean isEmpty() {
    return size == 0;
  }
}
