package dev.holdfast.proof.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.proof.simulation.MutantSuite.Finding;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MutantTest {
  /** Bugs of different kinds that few worlds are enough for. */
  private static final Set<String> QUICK =
      Set.of(
          "answer-before-commit",
          "deed-lost",
          "slot-too-early",
          "counts-not-reset",
          "stale-read-believed",
          "no-slow-start");

  static List<Mutant> mutants() {
    return Mutant.all();
  }

  @ParameterizedTest
  @MethodSource("mutants")
  void what_a_mutant_replaces_is_in_the_engine_once(Mutant mutant) {
    String source = MutantLoader.source(mutant.file());
    int first = source.indexOf(mutant.original());
    assertThat(first).as(mutant.name()).isNotNegative();
    assertThat(source.indexOf(mutant.original(), first + 1)).as(mutant.name()).isNegative();
    assertThat(mutant.broken()).isNotEqualTo(mutant.original());
  }

  @Test
  void each_mutant_has_a_name_of_its_own() {
    assertThat(Mutant.all().stream().map(Mutant::name)).doesNotHaveDuplicates();
  }

  @Test
  void the_simulation_finds_them() throws Exception {
    List<Mutant> quick =
        Mutant.all().stream().filter(mutant -> QUICK.contains(mutant.name())).toList();
    assertThat(quick).hasSameSizeAs(QUICK);
    assertThat(new MutantSuite(0, 50).run(quick, 2, _ -> {})).allMatch(Finding::isFound);
  }

  @Test
  void without_a_bug_it_finds_none() throws Exception {
    Mutant harmless =
        Mutant.parse(
                """
                harmless
                the same in other words
                rules/Pace.java
                -          yield slowStart(most);
                +          yield Pace.slowStart(most);
                """)
            .getFirst();
    assertThat(new MutantSuite(0, 20).run(List.of(harmless), 1, _ -> {}))
        .noneMatch(Finding::isFound);
  }
}
