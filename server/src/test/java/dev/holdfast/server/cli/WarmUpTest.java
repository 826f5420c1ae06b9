package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WarmUpTest {

  @Test
  void it_goes_from_the_start_to_a_delivery_and_ends() {
    Typed typed = new Typed();
    assertThat(typed.run("warm-up")).as(typed.err).isZero();
    assertThat(typed.run("--help")).isZero();
    assertThat(typed.out).doesNotContain("warm-up");
  }
}
