package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Comparison;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Figure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of two builds, round by round. */
final class Pairs {

  /** What makes two figures the same one. */
  private record Key(String scenario, String name, String unit) {}

  private static final class Values {
    private final List<Double> base = new ArrayList<>();
    private final List<Double> current = new ArrayList<>();
  }

  private final Map<Key, Values> values = new LinkedHashMap<>();

  /** Adds a round. What only one of the two has, or what is not above 0, is not a pair. */
  void add(Report base, Report current) {
    Map<Key, Double> before = comparable(base);
    comparable(current)
        .forEach(
            (key, value) -> {
              Double other = before.get(key);
              if (other != null) {
                Values both = values.computeIfAbsent(key, missing -> new Values());
                both.base.add(other);
                both.current.add(value);
              }
            });
  }

  private static Map<Key, Double> comparable(Report report) {
    Map<Key, Double> found = new LinkedHashMap<>();
    for (Figure figure : report.figures()) {
      double value = figure.value();
      if (Comparison.isFor(figure.unit()) && value > 0 && Double.isFinite(value)) {
        found.putIfAbsent(new Key(figure.scenario(), figure.name(), figure.unit()), value);
      }
    }
    return found;
  }

  /** What the rounds so far say about each figure. */
  List<Comparison> compare() {
    List<Comparison> comparisons = new ArrayList<>();
    values.forEach(
        (key, both) ->
            comparisons.add(
                Comparison.of(key.scenario(), key.name(), key.unit(), both.base, both.current)));
    return comparisons;
  }
}
