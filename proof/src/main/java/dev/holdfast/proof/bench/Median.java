package dev.holdfast.proof.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Values of the same thing, of which one that is off does not count. */
final class Median {
  private final List<Double> values = new ArrayList<>();

  void add(double value) {
    values.add(value);
  }

  /** The one in the middle; 0 when there is none. */
  double value() {
    if (values.isEmpty()) {
      return 0;
    }
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int size = sorted.size();
    return (sorted.get(size / 2) + sorted.get((size - 1) / 2)) / 2;
  }

  /** The largest; 0 when there is none. */
  double largest() {
    return values.isEmpty() ? 0 : Collections.max(values);
  }

  /** This one's value per the other's; 0 when that is 0. */
  double per(Median other) {
    return other.value() == 0 ? 0 : value() / other.value();
  }
}
