package dev.holdfast.proof.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ShrinkerTest {
  private final World world = WorldMaker.make(7);

  @Test
  void it_leaves_only_the_actions_without_which_the_world_does_not_fail() {
    Action one = world.script().get(2);
    Action other = world.script().get(world.script().size() - 2);
    World shortest =
        Shrinker.shrink(
            world, shorter -> shorter.script().contains(one) && shorter.script().contains(other));
    assertThat(shortest.script()).containsExactly(one, other);
  }

  @Test
  void a_world_that_fails_by_itself_needs_no_actions() {
    assertThat(Shrinker.shrink(world, _ -> true).script()).isEqualTo(List.of());
  }

  @Test
  void everything_but_the_actions_stays_as_it_is() {
    World shortest = Shrinker.shrink(world, _ -> true);
    assertThat(shortest.with(world.script())).isEqualTo(world);
  }
}
