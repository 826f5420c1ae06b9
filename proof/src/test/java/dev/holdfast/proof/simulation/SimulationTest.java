package dev.holdfast.proof.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.proof.model.Model.Counts;
import dev.holdfast.proof.simulation.Simulation.Result;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimulationTest {
  private static final int LIMITED_SEEDS = 60;
  private static final int NEWCOMER_SEEDS = 50;
  private static final int VERSION_SEEDS = 50;
  private static final int FIXED_SEEDS = 300;
  private static final int FRESH_SEEDS = 300;
  private static final int FIXED_CHANGING_SEEDS = 100;
  private static final int FRESH_CHANGING_SEEDS = 100;
  private static final long MOST_NEW_SEED = 1_000_000_000_000L;

  @Test
  void worlds_that_are_always_the_same_keep_the_contract_and_meet_everything() throws Exception {
    Campaign campaign = run(0, FIXED_SEEDS);
    Counts counts = campaign.totals().counts();
    assertThat(counts.accepted).isPositive();
    assertThat(counts.delivered).isPositive();
    assertThat(counts.exhausted).isPositive();
    assertThat(counts.expired).isPositive();
    assertThat(counts.unsubscribed).isPositive();
    assertThat(counts.repeated).isPositive();
    assertThat(counts.probes).isPositive();
    assertThat(counts.recoveries).isPositive();
    assertThat(counts.stateChanges).isPositive();
    assertThat(counts.deaths).isPositive();
    assertThat(counts.failedCommits).isPositive();
    assertThat(counts.refusedWrites).isPositive();
    assertThat(counts.failedReads).isPositive();
  }

  @Test
  void worlds_with_rate_limits_keep_the_contract() throws Exception {
    Campaign campaign = run(WorldMaker.LIMITED_FROM, LIMITED_SEEDS);
    assertThat(campaign.totals().counts().delivered).isPositive();
  }

  @Test
  void worlds_in_which_subscriptions_change_keep_the_contract_and_meet_everything()
      throws Exception {
    Counts counts = run(WorldMaker.CHANGING, FIXED_CHANGING_SEEDS).totals().counts();
    assertThat(counts.changes).isPositive();
    assertThat(counts.moves).isPositive();
    assertThat(counts.pauses).isPositive();
    assertThat(counts.steps).isPositive();
    assertThat(counts.replayed).isPositive();
    assertThat(counts.announced).isPositive();
  }

  @Test
  void worlds_with_newcomers_who_want_what_was_before_keep_the_contract() throws Exception {
    assertThat(run(WorldMaker.NEWCOMERS_FROM, NEWCOMER_SEEDS).totals().counts().newcomers)
        .isPositive();
    run(
        WorldMaker.NEWCOMERS_FROM + ThreadLocalRandom.current().nextLong(MOST_NEW_SEED),
        NEWCOMER_SEEDS);
  }

  @Test
  void worlds_in_which_versions_change_keep_the_contract_and_meet_everything() throws Exception {
    Counts counts = run(WorldMaker.VERSIONS_FROM, VERSION_SEEDS).totals().counts();
    assertThat(counts.versionChanges).isPositive();
    assertThat(counts.inBothVersions).isPositive();
    assertThat(counts.moves).isPositive();
    assertThat(counts.steps).isPositive();
    assertThat(counts.replayed).isPositive();
    assertThat(counts.newcomers).isPositive();
    run(
        WorldMaker.VERSIONS_FROM + ThreadLocalRandom.current().nextLong(MOST_NEW_SEED),
        VERSION_SEEDS);
  }

  @Test
  void new_worlds_keep_the_contract() throws Exception {
    run(ThreadLocalRandom.current().nextLong(MOST_NEW_SEED), FRESH_SEEDS);
  }

  @Test
  void new_worlds_in_which_subscriptions_change_keep_the_contract() throws Exception {
    run(
        WorldMaker.CHANGING + ThreadLocalRandom.current().nextLong(MOST_NEW_SEED),
        FRESH_CHANGING_SEEDS);
  }

  private static Campaign run(long from, int seeds) throws InterruptedException {
    Campaign campaign = new Campaign(1);
    campaign.run(from, seeds, 2, _ -> {});
    assertThat(campaign.failures())
        .as(
            () ->
                "to see more: ./holdfast simulate --seed "
                    + campaign.failures().getFirst().world().seed())
        .isEmpty();
    return campaign;
  }

  /** Each of these worlds showed a bug that the engine had. */
  @ParameterizedTest
  @ValueSource(
      longs = {
        1,
        7,
        20,
        25,
        42,
        75,
        78,
        113,
        206,
        275,
        366,
        1520,
        2134,
        2731,
        2998,
        4949,
        5110,
        12338,
        14856,
        21664,
        567178164253L,
        1099511627881L,
        1099511628009L,
        1099511630149L,
        1099511635495L,
        1099511700247L,
        1099511700410L,
        301278029558L,
        1588461967735L,
        1640991775637L,
        2000000000001186L,
        3000000000000036L,
        3000000000000549L
      })
  void worlds_that_once_broke_the_contract_keep_it(long seed) {
    assertThat(Simulation.run(WorldMaker.make(seed), Trace.off()).violation()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        1,
        2,
        3,
        5,
        8,
        13,
        21,
        34,
        55,
        89,
        1099511627777L,
        1099511627778L,
        3000000000000001L,
        3000000000000002L
      })
  void the_same_seed_gives_the_same_trace_byte_for_byte(long seed) {
    String once = Simulation.run(WorldMaker.make(seed), Trace.on()).trace();
    assertThat(once).isNotEmpty();
    assertThat(Simulation.run(WorldMaker.make(seed), Trace.on()).trace()).isEqualTo(once);
  }

  @Test
  void another_seed_gives_another_trace() {
    assertThat(Simulation.run(WorldMaker.make(1), Trace.on()).trace())
        .isNotEqualTo(Simulation.run(WorldMaker.make(2), Trace.on()).trace());
  }

  @Test
  void a_trace_changes_nothing() {
    Result traced = Simulation.run(WorldMaker.make(5), Trace.on());
    Result untraced = Simulation.run(WorldMaker.make(5), Trace.off());
    assertThat(untraced.steps()).isEqualTo(traced.steps());
    assertThat(untraced.lived()).isEqualTo(traced.lived());
  }

  @Test
  void a_large_world_keeps_the_contract() {
    Result result = Simulation.run(Week.make(1, 200, Duration.ofHours(3)), Trace.off());
    assertThat(result.violation()).isNull();
    assertThat(result.counts().accepted).isGreaterThan(10_000);
  }
}
