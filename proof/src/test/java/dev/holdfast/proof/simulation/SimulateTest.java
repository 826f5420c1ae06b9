package dev.holdfast.proof.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SimulateTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void worlds_that_keep_the_contract_end_with_0_and_what_happened_in_them() {
    assertThat(run("--seeds", "20", "--from", "0")).isZero();
    assertThat(out.toString())
        .contains("Seeds 0 to 19.")
        .contains("20 in ")
        .contains("0 failed")
        .contains("lost 0");
  }

  @Test
  void one_world_is_shown_with_its_trace() {
    assertThat(run("--seed", "5")).isZero();
    assertThat(out.toString()).contains("START 1").contains("Seed 5 keeps the contract.");
  }

  @Test
  void actions_can_be_left_out_of_a_world() {
    run("--seed", "5", "--keep", "0,1");
    assertThat(out.toString().lines().filter(line -> line.contains("  * "))).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({
    "--keep 1, give its --seed too",
    "--seeds 0, at least 1",
    "--threads 0, at least 1",
    "--seed 5 --keep 9999, numbers 0 to",
    "--mutants --only nothing, there is no such mutant",
  })
  void wrong_usage_says_what_to_do(String arguments, String help) {
    assertThat(run(arguments.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(help);
  }

  private int run(String... arguments) {
    return new CommandLine(new Simulate())
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments);
  }
}
