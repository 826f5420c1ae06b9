package dev.holdfast.core.filter;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Entries in the order of their ids. Most buckets have one, so they begin small. */
public final class Bucket<T extends FilterIndex.Entry> {
  private final List<T> entries = new ArrayList<>(1);

  int size() {
    return entries.size();
  }

  /** All of them, as they are at any time. */
  public List<T> entries() {
    return Collections.unmodifiableList(entries);
  }

  /** Puts in an entry, in place of one with the same id. */
  public void put(T entry) {
    int at = lowest(entry.id());
    if (isAt(at, entry.id())) {
      entries.set(at, entry);
    } else {
      entries.add(at, entry);
    }
  }

  /** Takes out an entry, if it is there. */
  public boolean remove(T entry) {
    int at = lowest(entry.id());
    boolean isThere = isAt(at, entry.id());
    if (isThere) {
      entries.remove(at);
    }
    return isThere;
  }

  /** Empties it. */
  List<T> takeAll() {
    List<T> all = List.copyOf(entries);
    entries.clear();
    return all;
  }

  /** Adds the entries whose filters hold to a list, those aside that were asked before. */
  void find(Payload payload, List<T> into, @Nullable Set<Long> before) {
    for (T entry : entries) {
      if ((before == null || before.add(entry.id())) && entry.filters().hold(payload)) {
        into.add(entry);
      }
    }
  }

  private boolean isAt(int at, long id) {
    return at < entries.size() && entries.get(at).id() == id;
  }

  /** Where the first entry stands whose id is not less. */
  private int lowest(long id) {
    int low = 0;
    int high = entries.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (entries.get(middle).id() < id) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
