package dev.holdfast.core.path;

import dev.holdfast.core.path.Commit.Entry;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written. What tenants ask for takes turns, by tenant, and with what became of
 * messages: one tenant's flood makes nobody else wait longer than for the batch under way.
 *
 * <p>What one tenant asks for stays in its order.
 */
final class WriteQueue {
  /** How much of one line is taken in a turn: so many rows, or so many kilobytes. */
  private static final long TURN = 100;

  private static final long BYTES_PER_ROW = 1_024;

  /** The line of what nobody asked for. */
  private final Deque<Entry> outcomes = new ArrayDeque<>();

  private final Map<String, Deque<Entry>> byTenant = new HashMap<>();

  /** The lines that are not empty, in the order of their turns. */
  private final Deque<Deque<Entry>> turns = new ArrayDeque<>();

  private int size;
  private long takenInTurn;

  void add(Entry entry) {
    Deque<Entry> line =
        entry.replyTo() == null
            ? outcomes
            : byTenant.computeIfAbsent(entry.tenant(), _ -> new ArrayDeque<>());
    if (line.isEmpty()) {
      turns.add(line);
    }
    line.add(entry);
    size++;
  }

  /** Takes the entry whose turn it is. */
  @Nullable Entry poll() {
    Deque<Entry> line = turns.peek();
    if (line == null) {
      return null;
    }
    Entry entry = line.remove();
    size--;
    takenInTurn += entry.weight() + entry.bytes() / BYTES_PER_ROW;
    if (line.isEmpty()) {
      turns.remove();
      takenInTurn = 0;
      if (entry.replyTo() != null) {
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

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }
}
