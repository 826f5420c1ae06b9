package dev.holdfast.core.filter;

import static java.util.Comparator.comparingLong;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Scalar;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds those of many entries whose filters hold for a payload, without asking each.
 *
 * <p>An entry that cannot be wanted unless a field, at the top or nested, has a certain value
 * stands under that value: it has an {@code eq} with a scalar among filters joined by AND, or
 * nothing else among filters joined by OR, and then stands under each of them. Of several such it
 * stands where the fewest others do. A payload is looked up under its own fields, so the entries
 * that are asked are those that share a value with it. Entries without such a filter are all asked.
 *
 * <p>Where an entry stands is not remembered, as that would take more memory than looking for it
 * when it goes.
 *
 * @param <T> what has filters
 */
public final class FilterIndex<T extends FilterIndex.Entry> {

  /** As many are asked one by one before they are told apart by their values. */
  static final int FEW = 16;

  private final Bucket<T> asked = new Bucket<>();
  private final Branch<T> byNew = new Branch<>();
  private final Branch<T> byOld = new Branch<>();
  private boolean tellsApart;

  /** Something that has filters. */
  public interface Entry {

    /** What tells it from the others. */
    long id();

    Filters filters();
  }

  /**
   * Where an entry can be found: under this value of this field.
   *
   * @param path the field's name, after those of the fields that it is in
   */
  private record Key(State state, List<String> path, Object value) {}

  /** The entries under the values of a field, and of the fields that are in it. */
  private static final class Branch<T extends Entry> {
    final Map<String, Branch<T>> fields = new HashMap<>(0);
    final Map<Object, Bucket<T>> values = new HashMap<>(0);

    boolean isEmpty() {
      return fields.isEmpty() && values.isEmpty();
    }

    void put(List<String> path, Object value, T entry) {
      if (path.isEmpty()) {
        values.computeIfAbsent(value, _ -> new Bucket<>()).put(entry);
      } else {
        fields.computeIfAbsent(path.getFirst(), _ -> new Branch<>()).put(rest(path), value, entry);
      }
    }

    boolean remove(List<String> path, Object value, T entry) {
      if (path.isEmpty()) {
        Bucket<T> bucket = values.get(value);
        boolean wasThere = bucket != null && bucket.remove(entry);
        if (bucket != null && bucket.size() == 0) {
          values.remove(value);
        }
        return wasThere;
      }
      Branch<T> branch = fields.get(path.getFirst());
      if (branch == null) {
        return false;
      }
      boolean wasThere = branch.remove(rest(path), value, entry);
      if (branch.isEmpty()) {
        fields.remove(path.getFirst());
      }
      return wasThere;
    }

    int entriesAt(List<String> path, Object value) {
      if (path.isEmpty()) {
        Bucket<T> bucket = values.get(value);
        return bucket == null ? 0 : bucket.size();
      }
      Branch<T> branch = fields.get(path.getFirst());
      return branch == null ? 0 : branch.entriesAt(rest(path), value);
    }

    /** Adds the entries whose filters hold, of those under these fields' values. */
    void find(
        Map<String, Value> present, Payload payload, List<T> found, @Nullable Set<Long> before) {
      if (fields.isEmpty()) {
        return;
      }
      present.forEach(
          (name, value) -> {
            Branch<T> branch = fields.get(name);
            if (branch == null) {
              return;
            }
            switch (value) {
              case Scalar scalar -> {
                Bucket<T> bucket = branch.values.get(scalar.key());
                if (bucket != null) {
                  bucket.find(payload, found, before);
                }
              }
              case Fields nested -> branch.find(nested.values(), payload, found, before);
              case Items _ -> {}
            }
          });
    }

    private static List<String> rest(List<String> path) {
      return path.subList(1, path.size());
    }
  }

  public void add(T entry) {
    if (tellsApart) {
      place(entry);
      return;
    }
    asked.put(entry);
    if (asked.size() > FEW) {
      tellsApart = true;
      List<T> all = asked.takeAll();
      all.forEach(this::place);
    }
  }

  private void place(T entry) {
    List<Key> keys = bestKeys(entry.filters().connector(), entry.filters().filters());
    if (keys == null) {
      asked.put(entry);
      return;
    }
    for (Key key : keys) {
      of(key.state).put(key.path, key.value, entry);
    }
  }

  /** One of these holds whenever the filters do; absent when no such keys are known. */
  private @Nullable List<Key> bestKeys(Connector connector, List<? extends Filter> filters) {
    return switch (connector) {
      case AND -> {
        List<List<Key>> choices = new ArrayList<>();
        for (Filter filter : filters) {
          List<Key> keys = keysOf(filter);
          if (keys != null) {
            choices.add(keys);
          }
        }
        yield withFewest(choices);
      }
      case OR -> {
        List<Key> all = new ArrayList<>();
        for (Filter filter : filters) {
          List<Key> keys = keysOf(filter);
          if (keys == null) {
            yield null;
          }
          all.addAll(keys);
        }
        yield all.isEmpty() ? null : all;
      }
    };
  }

  private @Nullable List<Key> keysOf(Filter filter) {
    return switch (filter) {
      case Comparison comparison -> {
        List<List<Key>> choices = new ArrayList<>();
        forEachKey(comparison, key -> choices.add(List.of(key)));
        yield withFewest(choices);
      }
      case Group group -> bestKeys(group.connector(), group.filters());
    };
  }

  /** Each of these holds whenever the comparison does. */
  private static void forEachKey(Comparison comparison, Consumer<Key> into) {
    if (comparison.operator() == Operator.EQ && comparison.fieldValue() != null) {
      forEachKey(
          comparison.state(), List.of(comparison.fieldName()), comparison.fieldValue(), into);
    }
  }

  private static void forEachKey(State state, List<String> path, Value value, Consumer<Key> into) {
    switch (value) {
      case Scalar scalar -> into.accept(new Key(state, path, scalar.key()));
      case Fields fields ->
          fields
              .values()
              .forEach(
                  (name, nested) -> {
                    List<String> longer = new ArrayList<>(path);
                    longer.add(name);
                    forEachKey(state, longer, nested, into);
                  });
      case Items _ -> {}
    }
  }

  private @Nullable List<Key> withFewest(List<List<Key>> choices) {
    List<Key> best = null;
    int fewest = Integer.MAX_VALUE;
    for (List<Key> keys : choices) {
      int others = entriesAt(keys);
      if (others < fewest) {
        best = keys;
        fewest = others;
      }
    }
    return best;
  }

  private int entriesAt(List<Key> keys) {
    int entries = 0;
    for (Key key : keys) {
      entries += of(key.state).entriesAt(key.path, key.value);
    }
    return entries;
  }

  /**
   * Takes out an entry, which must have the filters that it was added with.
   *
   * @return whether it was there
   */
  public boolean remove(T entry) {
    boolean wasThere = asked.remove(entry);
    for (Key key : allKeys(entry.filters())) {
      wasThere |= of(key.state).remove(key.path, key.value, entry);
    }
    return wasThere;
  }

  private static List<Key> allKeys(Filters filters) {
    List<Key> keys = new ArrayList<>();
    filters.forEachComparison(comparison -> forEachKey(comparison, keys::add));
    return keys;
  }

  public boolean isEmpty() {
    return asked.size() == 0 && byNew.isEmpty() && byOld.isEmpty();
  }

  /**
   * Adds the entries whose filters hold to a list, each once, in the order of their ids, those
   * aside that were asked before.
   *
   * @param before their ids, to which those that are asked now are added; absent when nobody wants
   *     to know
   */
  public void find(Payload payload, List<T> into, @Nullable Set<Long> before) {
    List<T> found = new ArrayList<>();
    asked.find(payload, found, before);
    if (tellsApart) {
      look(State.NEW, payload, found, before);
      look(State.OLD, payload, found, before);
      found.sort(comparingLong(Entry::id));
    }
    long last = Long.MIN_VALUE;
    for (T entry : found) {
      if (entry.id() != last) {
        into.add(entry);
        last = entry.id();
      }
    }
  }

  private void look(State state, Payload payload, List<T> found, @Nullable Set<Long> before) {
    Branch<T> branch = of(state);
    if (!branch.isEmpty()) {
      branch.find(payload.fields(state), payload, found, before);
    }
  }

  private Branch<T> of(State state) {
    return switch (state) {
      case NEW -> byNew;
      case OLD -> byOld;
    };
  }
}
