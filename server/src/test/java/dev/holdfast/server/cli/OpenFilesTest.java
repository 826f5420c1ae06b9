package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OpenFilesTest {

  @Test
  void the_limit_in_force_is_read() {
    assertThat(
            OpenFiles.mostIn(
                """
                Limit                     Soft Limit           Hard Limit           Units
                Max processes             94847                94847                processes
                Max open files            20000                1048576              files
                """))
        .hasValue(20_000);
  }

  @Test
  void no_limit_is_none() {
    assertThat(
            OpenFiles.mostIn(
                "Max open files            unlimited            unlimited            files\n"))
        .isEmpty();
    assertThat(OpenFiles.mostIn("")).isEmpty();
  }

  @Test
  void some_are_left_for_everything_else() {
    assertThat(OpenFiles.forAttempts(20_000)).isEqualTo(15_000);
    assertThat(OpenFiles.forAttempts(2)).isEqualTo(1);
  }
}
