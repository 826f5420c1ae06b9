package dev.holdfast.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.proof.stage.Comparison;
import dev.holdfast.proof.stage.Report;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class PairsTest {
  private final Pairs pairs = new Pairs();

  @Test
  void figures_of_the_same_name_are_paired_round_by_round() {
    pairs.add(report("rate", 10, "/s"), report("rate", 11, "/s"));
    pairs.add(report("rate", 20, "/s"), report("rate", 22, "/s"));

    List<Comparison> comparisons = pairs.compare();

    assertThat(comparisons).hasSize(1);
    assertThat(comparisons.getFirst().base()).containsExactly(10.0, 20.0);
    assertThat(comparisons.getFirst().current()).containsExactly(11.0, 22.0);
  }

  @Test
  void a_round_that_failed_for_one_build_counts_for_neither() {
    pairs.add(report("rate", 10, "/s"), report("rate", 11, "/s"));
    pairs.add(report("rate", 1_000, "/s"), report("other", 1, "/s"));
    pairs.add(report("rate", 30, "/s"), report("rate", 33, "/s"));

    Comparison comparison = pairs.compare().getFirst();

    assertThat(pairs.compare()).hasSize(1);
    assertThat(comparison.base()).containsExactly(10.0, 30.0);
    assertThat(comparison.current()).containsExactly(11.0, 33.0);
  }

  @Test
  void counts_and_shares_are_not_compared_and_neither_is_what_has_no_ratio() {
    pairs.add(report("accepted", 10, ""), report("accepted", 11, ""));
    pairs.add(report("machine busy", 10, "%"), report("machine busy", 11, "%"));
    pairs.add(report("p50", 0, "ms"), report("p50", 1, "ms"));
    pairs.add(report("p99", 1, "ms"), report("p99", Double.NaN, "ms"));

    assertThat(pairs.compare()).isEmpty();
  }

  private static Report report(String name, double value, String unit) {
    Report report = new Report(Instant.EPOCH, "machine");
    report.add("batch", name, value, unit);
    return report;
  }
}
