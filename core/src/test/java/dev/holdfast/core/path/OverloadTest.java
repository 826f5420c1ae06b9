package dev.holdfast.core.path;

import static dev.holdfast.core.path.Crank.DOWN;
import static dev.holdfast.core.path.Crank.OK;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Comparator.comparingLong;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Answer.Refused.Why;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.Recovery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class OverloadTest {
  private static final String URL = "http://one.example/";
  private static final long MEGABYTE = 1 << 20;

  private static Crank with(Overload overload) {
    return new Crank(Limits.forHeap(512L << 20, 32), Recovery.DRAIN, overload);
  }

  private static Overload quota(Quota every, Map<String, Quota> tenants) {
    return new Overload(every, tenants, Duration.ofSeconds(10), 0);
  }

  private static Request.Submit large(String tenant, int bytes) {
    byte[] data = ("\"" + "x".repeat(bytes - 2) + "\"").getBytes(UTF_8);
    return new Request.Submit(
        tenant, List.of(new NewEvent("t", null, null, data, null, null, null)));
  }

  private static Why why(List<Answer> answers) {
    return ((Refused) answers.getFirst()).why();
  }

  @Test
  void a_tenant_that_floods_is_refused_before_there_is_no_room_for_others() {
    Crank crank =
        new Crank(Limits.forHeap(512L << 20, 32).withAcceptingBytes(10 * MEGABYTE), Recovery.DRAIN);
    crank.holdCommits = true;
    List<List<Answer>> flood = new ArrayList<>();
    List<List<Answer>> modest = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      flood.add(crank.askLater(large("flood", 1_000_000)));
      if (i % 25 == 0) {
        modest.add(crank.askLater(large("modest", 1_000)));
      }
    }
    assertThat(flood).filteredOn(List::isEmpty).hasSize(5);
    assertThat(flood.stream().filter(answers -> !answers.isEmpty()).map(OverloadTest::why))
        .containsOnly(Why.TENANT_OVERLOADED);
    crank.holdCommits = false;
    crank.commit();
    assertThat(modest)
        .allSatisfy(it -> assertThat(it.getFirst()).isInstanceOf(Answer.Accepted.class));
    assertThat(crank.ask(large("flood", 1_000_000))).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void many_small_events_of_one_tenant_leave_room_for_those_of_others() {
    Crank crank = new Crank();
    crank.holdCommits = true;
    for (int i = 0; i < 100; i++) {
      crank.askLater(Crank.submit("flood", "t", 1_000));
    }
    assertThat(crank.loop.gauges().unwritten()).isLessThan(crank.limits.unwritten() * 6 / 10);
    List<Answer> modest = crank.askLater(Crank.submit("modest", "t", 1_000));
    crank.holdCommits = false;
    crank.commit();
    assertThat(modest.getFirst()).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void what_a_tenant_sends_beside_a_flood_is_in_the_next_batch() {
    Crank crank = new Crank();
    crank.holdCommits = true;
    for (int i = 0; i < 20; i++) {
      crank.askLater(Crank.submit("flood", "t", 1_000));
    }
    List<Answer> modest = crank.askLater(Crank.submit("modest", "t", 1));
    List<Answer> operator = crank.askLater(subscribe("modest"));
    crank.commitOne();
    assertThat(modest).isEmpty();
    crank.commitOne();
    assertThat(modest.getFirst()).isInstanceOf(Answer.Accepted.class);
    assertThat(operator.getFirst()).isInstanceOf(Answer.Subscribed.class);
    assertThat(crank.loop.gauges().unwritten()).isGreaterThan(10_000);
    crank.holdCommits = false;
    crank.commit();
    assertThat(crank.store.events).hasSize(20_001);
  }

  private static Request.Subscribe subscribe(String tenant) {
    return new Request.Subscribe(tenant, URL, List.of(new TypePattern("t")), null);
  }

  @Test
  void what_one_tenant_sends_stays_in_its_order_whatever_others_send() {
    Crank crank = new Crank();
    crank.subscribeFor("one", URL, "t");
    crank.holdCommits = true;
    for (int i = 0; i < 300; i++) {
      crank.askLater(Crank.submit(i % 3 == 0 ? "one" : "other", "t", i % 40 + 1));
    }
    crank.holdCommits = false;
    crank.commit();
    assertThat(crank.sent).isNotEmpty().isSortedAccordingTo(comparingLong(it -> it.event().id()));
  }

  @Test
  void tenants_that_all_flood_share_what_there_is_and_leave_some() {
    Crank crank =
        new Crank(Limits.forHeap(512L << 20, 32).withAcceptingBytes(40 * MEGABYTE), Recovery.DRAIN);
    crank.holdCommits = true;
    int[] waiting = new int[3];
    for (int i = 0; i < 300; i++) {
      if (crank.askLater(large("flood-" + i % 3, 100_000)).isEmpty()) {
        waiting[i % 3]++;
      }
    }
    assertThat(waiting).containsOnly(waiting[0]);
    assertThat(waiting[0] * 100_000L).isBetween(9 * MEGABYTE, 10 * MEGABYTE);
  }

  @Test
  void a_quota_of_events_is_a_rate_with_a_burst() {
    Crank crank = with(quota(new Quota(10, Quota.ANY), Map.of()));
    assertThat(crank.send("t", 100)).isInstanceOf(Answer.Accepted.class);
    Refused refused = (Refused) crank.send("t", 5);
    assertThat(refused)
        .isEqualTo(
            new Refused(Why.EVENT_QUOTA, new Refused.Excess(10, 100, 5, Duration.ofMillis(500))));
    crank.pass(Duration.ofMillis(499));
    assertThat(crank.send("t", 5)).isInstanceOf(Refused.class);
    crank.pass(Duration.ofMillis(1));
    assertThat(crank.send("t", 5)).isInstanceOf(Answer.Accepted.class);
    assertThat(crank.loop.gauges().refusedByQuota()).isEqualTo(2);
  }

  @Test
  void a_batch_that_no_quota_will_ever_allow_is_told_so() {
    Crank crank = with(quota(new Quota(10, Quota.ANY), Map.of()));
    Refused refused = (Refused) crank.send("t", 101);
    assertThat(refused)
        .isEqualTo(new Refused(Why.EVENT_QUOTA, new Refused.Excess(10, 100, 101, null)));
    assertThat(crank.send("t", 100)).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void a_tenant_may_have_a_quota_of_its_own_and_none_is_another_tenants_business() {
    Crank crank =
        with(quota(new Quota(1, Quota.ANY), Map.of("large", new Quota(1_000, Quota.ANY))));
    assertThat(crank.send("small", "t", 10)).isInstanceOf(Answer.Accepted.class);
    assertThat(crank.send("small", "t", 1)).isInstanceOf(Refused.class);
    assertThat(crank.send("other", "t", 10)).isInstanceOf(Answer.Accepted.class);
    assertThat(crank.send("large", "t", 1_000)).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void what_was_not_kept_is_not_counted() {
    Crank crank = with(quota(new Quota(10, 100_000), Map.of()));
    crank.failNextCommit = StoreException.Kind.REFUSED;
    assertThat(crank.send("t", 100)).isEqualTo(new Refused(Why.NOT_STORABLE));
    assertThat(crank.send("t", 100)).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void what_is_kept_has_a_quota_that_survives_a_crash_and_is_freed_by_retention() {
    Crank crank = with(quota(new Quota(Quota.ANY, 10_000), Map.of()));
    assertThat(crank.ask(large("default", 9_000))).isInstanceOf(Answer.Accepted.class);
    Refused refused = (Refused) crank.ask(large("default", 9_000));
    assertThat(refused)
        .isEqualTo(new Refused(Why.STORED_QUOTA, new Refused.Excess(10_000, 9_256, 9_256, null)));
    crank.crash();
    assertThat(crank.ask(large("default", 9_000))).isEqualTo(refused);
    assertThat(crank.ask(large("other", 9_000))).isInstanceOf(Answer.Accepted.class);
    crank.put(new Input.Removed(Map.of("default", new Stored(1, 9_256))));
    assertThat(crank.ask(large("default", 9_000))).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void while_the_reserve_is_left_nothing_is_accepted_and_everything_else_goes_on() {
    Crank crank = with(new Overload(Quota.NONE, Map.of(), Duration.ofSeconds(10), 256 * MEGABYTE));
    Subscription subscription = crank.subscribe(URL, "t");
    crank.receiver = _ -> null;
    crank.send("t", 3);
    crank.put(new Input.SpaceLeft(256 * MEGABYTE));
    assertThat(crank.spaces).isEmpty();
    crank.put(new Input.SpaceLeft(256 * MEGABYTE - 1));
    assertThat(crank.spaces).containsExactly(Effect.Space.LOW);
    assertThat(crank.send("t", 1)).isEqualTo(new Refused(Why.STORE_LOW));
    crank.endAll(DOWN);
    crank.receiver = _ -> OK;
    crank.pass(Duration.ofMinutes(2));
    assertThat(crank.store.finished).hasSize(3);
    assertThat(crank.operate(subscription, Operation.DISABLE))
        .isInstanceOf(Answer.EndpointIs.class);
    crank.put(new Input.SpaceLeft(300 * MEGABYTE));
    assertThat(crank.send("t", 1)).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void when_the_reserve_is_gone_no_attempt_starts_until_there_is_room() {
    Crank crank = with(new Overload(Quota.NONE, Map.of(), Duration.ofSeconds(10), 256 * MEGABYTE));
    crank.subscribe(URL, "t");
    crank.receiver = _ -> DOWN;
    crank.send("t", 3);
    crank.put(new Input.SpaceLeft(10 * MEGABYTE));
    crank.receiver = _ -> OK;
    crank.pass(Duration.ofMinutes(2));
    assertThat(crank.sent).hasSize(3);
    crank.put(new Input.SpaceLeft(100 * MEGABYTE));
    assertThat(crank.store.finished).hasSize(3);
    assertThat(crank.spaces).containsExactly(Effect.Space.GONE, Effect.Space.LOW);
  }

  @Test
  void without_a_reserve_nothing_is_refused_while_the_store_takes_it() {
    Crank crank = new Crank();
    crank.put(new Input.SpaceLeft(0));
    assertThat(crank.send("t", 1)).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void counts_that_the_store_refuses_are_tried_again_after_a_pause() {
    Crank crank = new Crank();
    crank.subscribe(URL, "t");
    int[] refusals = {0};
    crank.refuses =
        batch -> {
          boolean refused = !batch.endpoints().isEmpty();
          refusals[0] += refused ? 1 : 0;
          return refused;
        };
    crank.send("t", 1);
    crank.pass(Duration.ofSeconds(30));
    assertThat(refusals[0]).isBetween(20, 40);
    crank.refuses = _ -> false;
    crank.pass(Duration.ofMinutes(3));
    assertThat(crank.store.finished).hasSize(1);
    assertThat(crank.store.endpoints.values())
        .allSatisfy(it -> assertThat(it.health().successes()).isEqualTo(2));
  }

  @Test
  void quotas_of_events_are_never_exceeded_and_never_withheld_whatever_comes() {
    for (int seed = 0; seed < 20; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long rate = random.nextLong(1, 200);
      Crank crank = with(quota(new Quota(rate, Quota.ANY), Map.of()));
      Instant start = crank.now;
      long accepted = 0;
      for (int i = 0; i < 300; i++) {
        int count = random.nextInt(1, (int) Math.min(50, 10 * rate) + 1);
        if (crank.send("t", count) instanceof Answer.Accepted) {
          accepted += count;
        }
        double seconds = Duration.between(start, crank.now).toMillis() / 1_000.0;
        assertThat((double) accepted)
            .as("seed %s", seed)
            .isLessThanOrEqualTo((seconds + 10) * rate);
        crank.pass(Duration.ofMillis(random.nextInt(1, 300)));
      }
      crank.pass(Duration.ofSeconds(10));
      assertThat(crank.send("t", (int) Math.min(1_000, 10 * rate)))
          .as("seed %s", seed)
          .isInstanceOf(Answer.Accepted.class);
    }
  }
}
