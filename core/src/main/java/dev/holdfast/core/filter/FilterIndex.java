package dev.holdfast.core.filter;

import static java.util.Comparator.comparingLong;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Value.Scalar;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds those of many entries whose filters hold for a payload, without asking each.
 *
 * <p>An entry that cannot be wanted unless a field has a certain value stands under that value: it
 * has an {@code eq} with a scalar among filters joined by AND, or nothing else among filters joined
 * by OR, and then stands under each of them. Of several such it stands where the fewest others do.
 * A payload is looked up under its own fields, so the entries that are asked are those that share a
 * value with it. Entries without such a filter are all asked.
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
  private final Map<String, Map<Object, Bucket<T>>> byNew = new HashMap<>(0);
  private final Map<String, Map<Object, Bucket<T>>> byOld = new HashMap<>(0);
  private boolean tellsApart;

  /** Something that has filters. */
  public interface Entry {

    /** What tells it from the others. */
    long id();

    Filters filters();
  }

  /** Where an entry can be found: under this value of this field. */
  private record Key(State state, String field, Object value) {}

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
      fieldsOf(key.state)
          .computeIfAbsent(key.field, _ -> new HashMap<>())
          .computeIfAbsent(key.value, _ -> new Bucket<>())
          .put(entry);
    }
  }

  /** One of these holds whenever the filters do; absent when no such keys are known. */
  private @Nullable List<Key> bestKeys(Connector connector, List<? extends Filter> filters) {
    return switch (connector) {
      case AND -> {
        List<Key> best = null;
        int fewest = Integer.MAX_VALUE;
        for (Filter filter : filters) {
          List<Key> keys = keysOf(filter);
          int others = keys == null ? Integer.MAX_VALUE : entriesAt(keys);
          if (others < fewest) {
            best = keys;
            fewest = others;
          }
        }
        yield best;
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
        Key key = keyOf(comparison);
        yield key == null ? null : List.of(key);
      }
      case Group group -> bestKeys(group.connector(), group.filters());
    };
  }

  private static @Nullable Key keyOf(Comparison comparison) {
    return comparison.operator() == Operator.EQ && comparison.fieldValue() instanceof Scalar scalar
        ? new Key(comparison.state(), comparison.fieldName(), scalar.key())
        : null;
  }

  private int entriesAt(List<Key> keys) {
    int entries = 0;
    for (Key key : keys) {
      Bucket<T> bucket = fieldsOf(key.state).getOrDefault(key.field, Map.of()).get(key.value);
      entries += bucket == null ? 0 : bucket.size();
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
      wasThere |= removeAt(key, entry);
    }
    return wasThere;
  }

  private static List<Key> allKeys(Filters filters) {
    List<Key> keys = new ArrayList<>();
    filters.forEachComparison(
        comparison -> {
          Key key = keyOf(comparison);
          if (key != null) {
            keys.add(key);
          }
        });
    return keys;
  }

  private boolean removeAt(Key key, T entry) {
    Map<Object, Bucket<T>> values = fieldsOf(key.state).getOrDefault(key.field, Map.of());
    Bucket<T> bucket = values.get(key.value);
    if (bucket == null || !bucket.remove(entry)) {
      return false;
    }
    if (bucket.size() == 0) {
      values.remove(key.value);
    }
    if (values.isEmpty()) {
      fieldsOf(key.state).remove(key.field);
    }
    return true;
  }

  public boolean isEmpty() {
    return asked.size() == 0 && byNew.isEmpty() && byOld.isEmpty();
  }

  /** Adds the entries whose filters hold to a list, each once, in the order of their ids. */
  public void find(Payload payload, List<T> into) {
    List<T> found = new ArrayList<>();
    asked.find(payload, found);
    if (tellsApart) {
      look(State.NEW, payload, found);
      look(State.OLD, payload, found);
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

  private void look(State state, Payload payload, List<T> found) {
    Map<String, Map<Object, Bucket<T>>> fields = fieldsOf(state);
    if (fields.isEmpty()) {
      return;
    }
    payload
        .fields(state)
        .forEach(
            (name, value) -> {
              Map<Object, Bucket<T>> values = fields.get(name);
              if (values != null && value instanceof Scalar scalar) {
                Bucket<T> bucket = values.get(scalar.key());
                if (bucket != null) {
                  bucket.find(payload, found);
                }
              }
            });
  }

  private Map<String, Map<Object, Bucket<T>>> fieldsOf(State state) {
    return switch (state) {
      case NEW -> byNew;
      case OLD -> byOld;
    };
  }
}
