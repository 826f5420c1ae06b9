package dev.holdfast.core.path;

import static dev.holdfast.core.path.Crank.DOWN;
import static dev.holdfast.core.path.Crank.OK;
import static dev.holdfast.core.path.Crank.START;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RateLimitTest {
  private static final String URL = "http://one.example/";
  private static final Outcome GONE =
      new Outcome.Failure(Outcome.Failure.Kind.STATUS, 410, Outcome.NO_RESPONSE, null);

  private static Answer limit(Crank crank, Subscription subscription, @Nullable Double perSecond) {
    return crank.ask(
        Request.Configure.limitRate(
            subscription.tenant(),
            subscription.endpoint(),
            perSecond == null ? null : new RateLimit(perSecond)));
  }

  private static @Nullable Double stored(Crank crank) {
    RateLimit limit = crank.store.endpoints.values().iterator().next().rateLimit();
    return limit == null ? null : limit.perSecond();
  }

  @Test
  void attempts_to_a_limited_endpoint_are_spaced_evenly() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    assertThat(limit(crank, subscription, 0.5)).isInstanceOf(Answer.EndpointIs.class);
    crank.send("t", 5);
    crank.pass(Duration.ofSeconds(60));
    assertThat(crank.sentAfterStart())
        .isEqualTo(
            List.of(
                Duration.ZERO,
                Duration.ofMillis(1_990),
                Duration.ofMillis(3_990),
                Duration.ofMillis(5_990),
                Duration.ofMillis(7_990)));
    assertThat(crank.store.finished).hasSize(5);
  }

  @Test
  void a_limit_is_kept_and_can_be_taken_away() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    limit(crank, subscription, 0.5);
    assertThat(stored(crank)).isEqualTo(0.5);
    crank.crash();
    crank.send("t", 100);
    assertThat(crank.sent).hasSize(1);
    limit(crank, subscription, null);
    assertThat(crank.store.finished).hasSize(100);
    assertThat(stored(crank)).isNull();
  }

  @Test
  void a_subscription_may_bring_its_endpoints_limit_and_one_without_leaves_it() {
    Crank crank = new Crank();
    Answer answer =
        crank.ask(
            new Request.Subscribe(
                "default",
                new Request.Wish(
                    URL,
                    new Interest(List.of(new TypePattern("t")), null, Filters.NONE),
                    Form.PLAIN,
                    new RateLimit(3)),
                null));
    assertThat(((Answer.Subscribed) answer).endpoint().rateLimit()).isEqualTo(new RateLimit(3));
    crank.subscribe(URL, "u");
    assertThat(stored(crank)).isEqualTo(3.0);
  }

  @Test
  void only_its_tenant_can_limit_an_endpoint() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    assertThat(crank.ask(Request.Configure.limitRate("other", subscription.endpoint(), null)))
        .isEqualTo(new Answer.NotFound());
    assertThatThrownBy(() -> new RateLimit(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RateLimit(Double.NaN))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RateLimit(10_001)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_limited_endpoint_takes_no_place_from_others_and_does_not_slow_them() {
    Crank crank = new Crank();
    for (int i = 0; i < 50; i++) {
      limit(crank, crank.subscribe("http://slow-" + i + ".example/", "t"), 0.001);
    }
    Subscription free = crank.subscribe("http://free.example/", "t");
    crank.receiver = _ -> null;
    crank.send("t", 20);
    assertThat(crank.sent).filteredOn(it -> it.subscription().equals(free)).hasSize(20);
    assertThat(crank.loop.gauges().inFlight()).isEqualTo(70);
  }

  @Test
  void a_limited_endpoint_wakes_nobody_before_its_time() {
    Crank crank = new Crank();
    limit(crank, crank.subscribe(URL, "t"), 0.01);
    crank.send("t", 2);
    assertThat(crank.loop.nextWake().orElseThrow()).isAfter(START.plusSeconds(10));
    crank.pass(Duration.ofSeconds(99));
    assertThat(crank.sent).hasSize(1);
    crank.pass(Duration.ofSeconds(1));
    assertThat(crank.sent).hasSize(2);
  }

  @Test
  void retries_by_hand_count_and_wait_for_their_place_without_holding_up_others() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    Subscription slow = crank.subscribe("http://slow.example/", "t");
    Subscription free = crank.subscribe("http://free.example/", "t");
    limit(crank, slow, 0.1);
    crank.send("t", 1);
    assertThat(crank.sent).hasSize(2);
    List<Long> messages = crank.sent.stream().map(it -> it.message().id()).toList();
    crank.receiver = _ -> OK;
    for (long message : messages) {
      assertThat(crank.ask(new Request.RetryNow("default", message)))
          .isEqualTo(new Answer.RetryStarted());
    }
    assertThat(crank.sent.getLast().subscription()).isEqualTo(free);
    assertThat(crank.sent).hasSize(3);
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.sent.getLast().subscription()).isEqualTo(slow);
    assertThat(crank.store.finished).hasSize(2);
  }

  @Test
  void recovery_keeps_the_limit() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    limit(crank, subscription, 1.0);
    crank.operate(subscription, Operation.DISABLE);
    crank.send("t", 10);
    crank.operate(subscription, Operation.ENABLE);
    crank.pass(Duration.ofMillis(4_500));
    assertThat(crank.sent).hasSize(5);
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.store.finished).hasSize(10);
  }

  @Test
  void a_message_whose_deadline_passes_while_it_waits_for_its_place_is_still_tried() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    crank.receiver = _ -> DOWN;
    crank.send("t", 200);
    crank.receiver = _ -> OK;
    limit(crank, subscription, 0.001);
    crank.pass(Duration.ofHours(60));
    assertThat(crank.store.finished.values()).containsOnly("delivered").hasSize(200);
  }

  @Test
  void whatever_happens_a_limit_is_kept_and_no_place_is_left_unused() {
    for (int seed = 0; seed < 40; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      double rate = Math.pow(10, random.nextDouble(-1, 3));
      Crank crank =
          new Crank(
              Limits.forHeap(512L << 20, random.nextInt(1, 33)),
              random.nextBoolean() ? Recovery.DRAIN : Recovery.SCHEDULE);
      Subscription subscription = crank.subscribe(URL, "t");
      limit(crank, subscription, rate);
      crank.receiver = _ -> random.nextInt(10) == 0 ? DOWN : OK;
      for (int i = 0; i < 30; i++) {
        switch (random.nextInt(5)) {
          case 0, 1, 2 -> crank.send("t", random.nextInt(1, 100));
          case 3 -> crank.operate(subscription, Operation.DISABLE);
          default -> {
            if (!crank.store.open.isEmpty()) {
              long any = crank.store.open.keySet().iterator().next();
              crank.ask(new Request.RetryNow("default", any));
            }
          }
        }
        crank.pass(Duration.ofMillis(random.nextInt(1, 2_000)));
        crank.operate(subscription, Operation.ENABLE);
      }
      checkSpacing(crank, new RateLimit(rate), seed);
      Instant before = crank.now;
      int sentBefore = crank.sent.size();
      crank.receiver = _ -> OK;
      int more = 50;
      crank.send("t", more);
      int open = crank.store.open.size();
      crank.pass(Duration.ofMillis((long) Math.ceil((open + 2) * 1_000 / rate)));
      assertThat(crank.store.open.values())
          .as("seed %s: what may go has gone", seed)
          .allSatisfy(it -> assertThat(Objects.requireNonNull(it.due())).isAfter(before));
      assertThat(crank.sent.size()).isGreaterThanOrEqualTo(sentBefore + more);
      checkSpacing(crank, new RateLimit(rate), seed);
    }
  }

  private static void checkSpacing(Crank crank, RateLimit limit, int seed) {
    TokenBucket bucket = TokenBucket.spaced(limit);
    List<Delivery> sent = crank.sent;
    for (int i = 0; i < sent.size(); i++) {
      for (int j = i + 1; j < Math.min(sent.size(), i + 200); j++) {
        long nanos = Duration.between(sent.get(i).startedAt(), sent.get(j).startedAt()).toNanos();
        assertThat((j - i + 1) * bucket.nanosPerToken())
            .as("seed %s: attempts %s to %s at %s a second", seed, i, j, limit.perSecond())
            .isLessThanOrEqualTo(nanos + bucket.capacityNanos());
      }
    }
  }

  @Test
  void a_410_is_a_failure_that_is_told_once_until_another_answer_comes() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    crank.receiver = _ -> GONE;
    crank.send("t", 3);
    assertThat(crank.gone).hasSize(1);
    assertThat(crank.store.open).hasSize(3);
    assertThat(crank.loop.gauges().endpointsGone()).isEqualTo(1);
    crank.crash();
    assertThat(crank.loop.endpoint("default", subscription.endpoint()).orElseThrow().endpoint())
        .satisfies(
            endpoint -> {
              assertThat(endpoint.goneAt()).isEqualTo(START);
              assertThat(endpoint.health().failures()).isEqualTo(3);
            });
    crank.receiver = _ -> Crank.TIMED_OUT;
    crank.send("t", 1);
    assertThat(crank.loop.gauges().endpointsGone()).isEqualTo(1);
    crank.receiver = _ -> DOWN;
    crank.send("t", 1);
    assertThat(crank.gone).hasSize(2);
    assertThat(crank.gone.getLast().endpoint().goneAt()).isNull();
    assertThat(crank.loop.gauges().endpointsGone()).isZero();
  }
}
