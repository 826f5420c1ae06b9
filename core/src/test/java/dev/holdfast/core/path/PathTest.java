package dev.holdfast.core.path;

import static dev.holdfast.core.path.Crank.DOWN;
import static dev.holdfast.core.path.Crank.OK;
import static dev.holdfast.core.path.Crank.TIMED_OUT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Answer.NotRetryable.Obstacle;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.rules.Recovery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PathTest {
  private static final String URL = "http://one.example/";

  private static Limits tight() {
    return new Limits(
        64,
        32,
        4,
        8,
        40,
        2,
        4_000,
        100_000,
        3,
        2,
        5,
        100_000,
        Duration.ZERO,
        1_000_000,
        1_000,
        6,
        Duration.ofSeconds(30),
        3,
        4,
        1_000,
        10_000,
        Duration.ofSeconds(1),
        Limits.BOTH_VERSIONS);
  }

  @Test
  void an_accepted_message_is_delivered_once() {
    Crank crank = new Crank();
    crank.subscribe(URL, "order.paid");
    Answer answer = crank.send("order.paid", 1);
    assertThat(((Answer.Accepted) answer).receipts().getFirst().messages()).isEqualTo(1);
    crank.pass(Duration.ofHours(60));
    assertThat(crank.sent).hasSize(1);
    assertThat(crank.store.finished.values()).containsExactly("delivered");
    assertThat(crank.loop.gauges().held()).isZero();
    assertThat(crank.loop.gauges().bodyBytes()).isZero();
    assertThat(crank.loop.gauges().sendingBytes()).isZero();
  }

  @Test
  void nothing_is_answered_or_sent_before_it_is_on_disk() {
    Crank crank = new Crank();
    crank.subscribe(URL, "order.paid");
    crank.holdCommits = true;
    List<Answer> answers = crank.askLater(Crank.submit("default", "order.paid", 1));
    assertThat(answers).isEmpty();
    assertThat(crank.sent).isEmpty();
    crank.holdCommits = false;
    crank.commit();
    assertThat(answers).hasSize(1);
    assertThat(crank.sent).hasSize(1);
  }

  @Test
  void events_that_gather_during_a_commit_share_the_next_one() {
    Crank crank = new Crank();
    crank.subscribe(URL, "order.paid");
    crank.holdCommits = true;
    for (int i = 0; i < 10; i++) {
      crank.askLater(Crank.submit("default", "order.paid", 1));
    }
    crank.holdCommits = false;
    crank.receiver = _ -> null;
    crank.commit();
    assertThat(crank.sent).hasSize(10);
    assertThat(crank.loop.gauges().unwritten()).isZero();
  }

  @Test
  void a_step_starts_a_limited_number_of_attempts_and_the_next_one_goes_on_at_once() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> null;
    for (int i = 0; i < 4; i++) {
      crank.subscribe("http://one" + i + ".example/", "t");
    }
    List<Integer> afterEachStep = new ArrayList<>();
    crank.afterStep = () -> afterEachStep.add(crank.sent.size());
    crank.send("t", 2);
    assertThat(afterEachStep).endsWith(0, 3, 6, 8);
    assertThat(crank.loop.nextWake()).isNotEqualTo(Optional.of(Loop.AT_ONCE));
  }

  @Test
  void what_comes_in_between_two_steps_is_heard_before_more_attempts_start() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> null;
    Subscription subscription = crank.subscribe(URL, "t");
    Request freeze =
        new Request.Operate(subscription.tenant(), subscription.endpoint(), Operation.FREEZE);
    crank.afterStep =
        () -> {
          if (crank.sent.size() == 3) {
            crank.afterStep = () -> {};
            crank.comesIn(new Input.Asked(freeze, Actor.PROGRAM, _ -> {}));
          }
        };
    crank.send("t", 6);
    assertThat(state(crank, subscription)).isEqualTo(State.FROZEN);
    assertThat(crank.sent).hasSize(3);
    crank.endAll(OK);
    assertThat(crank.store.open).hasSize(3);
    crank.operate(subscription, Operation.ENABLE);
    while (!crank.inFlight.isEmpty()) {
      crank.endAll(OK);
    }
    assertThat(crank.sent).hasSize(6);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void a_step_gives_a_limited_number_of_answers_and_a_stop_leaves_nobody_without() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      crank.comesIn(new Input.Asked(Crank.submit("default", "t", 1), Actor.PROGRAM, answers::add));
    }
    List<Integer> afterEachStep = new ArrayList<>();
    List<Boolean> stopped = new ArrayList<>();
    crank.afterStep =
        () -> {
          afterEachStep.add(answers.size());
          stopped.add(crank.loop.isStopped());
          if (answers.size() == 2) {
            crank.comesIn(new Input.StopRequested());
          }
        };
    crank.turn();
    assertThat(afterEachStep).endsWith(0, 2, 4, 5);
    assertThat(stopped).endsWith(false, false, false, true);
    assertThat(answers).hasOnlyElementsOfType(Answer.Accepted.class);
    assertThat(crank.loop.nextWake()).isNotEqualTo(Optional.of(Loop.AT_ONCE));
  }

  @Test
  void an_event_goes_to_each_subscription_that_wants_it_and_to_no_other_tenant() {
    Crank crank = new Crank();
    Subscription all = crank.subscribe("http://all.example/", "*");
    Subscription orders = crank.subscribe("http://orders.example/", "order.*", "order.paid");
    crank.subscribe("http://users.example/", "user.*");
    crank.subscribeFor("other", "http://all.example/", "*");
    crank.send("order.paid", 1);
    assertThat(crank.sent.stream().map(delivery -> delivery.subscription().id()))
        .containsExactlyInAnyOrder(all.id(), orders.id());
  }

  @Test
  void a_failing_message_is_tried_in_each_slot_and_then_dropped_as_exhausted() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.pass(Duration.ofHours(60));
    List<Duration> slots = new ArrayList<>();
    for (int n = 0; n <= 11; n++) {
      slots.add(Duration.ofMillis(((1L << n) - 1) * 84_800));
    }
    assertThat(crank.sentAfterStart()).isEqualTo(slots);
    assertThat(crank.store.finished.values()).containsExactly("exhausted");
    assertThat(crank.store.attempts.values().iterator().next())
        .hasSize(12)
        .allMatch(attempt -> attempt.scheduled());
  }

  @Test
  void a_retry_that_is_accepted_ends_the_message() {
    Crank crank = new Crank();
    crank.receiver = _ -> crank.sent.size() < 3 ? DOWN : OK;
    crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.pass(Duration.ofHours(60));
    assertThat(crank.sent).hasSize(3);
    assertThat(crank.store.finished.values()).containsExactly("delivered");
    assertThat(crank.loop.gauges().waiting()).isZero();
  }

  @Test
  void first_attempts_to_one_endpoint_start_in_the_order_of_acceptance() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> null;
    crank.subscribe(URL, "t");
    for (int i = 0; i < 30; i++) {
      crank.send("t", 1 + i % 4);
      if (i % 3 == 0 && !crank.inFlight.isEmpty()) {
        crank.end(crank.inFlight.getFirst(), OK);
      }
    }
    while (!crank.inFlight.isEmpty()) {
      crank.endAll(OK);
    }
    List<Long> order = crank.sent.stream().map(delivery -> delivery.message().id()).toList();
    assertThat(order).isSorted().doesNotHaveDuplicates();
    assertThat(order).hasSize(crank.store.finished.size());
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void a_lane_has_no_more_in_flight_than_its_limit_and_a_time_out_halves_it() {
    Crank crank = new Crank();
    crank.receiver = _ -> null;
    crank.subscribe(URL, "t");
    crank.send("t", 100);
    assertThat(crank.inFlight).hasSize(32);
    crank.end(crank.inFlight.getFirst(), TIMED_OUT);
    assertThat(crank.inFlight).hasSize(31);
    for (int i = 0; i < 20; i++) {
      crank.end(crank.inFlight.getFirst(), OK);
    }
    assertThat(crank.inFlight.size()).isBetween(16, 32);
  }

  @Test
  void hanging_endpoints_leave_places_for_endpoints_that_have_proven_themselves() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.subscribe("http://well.example/", "well");
    crank.send("well", 1);
    crank.receiver = delivery -> delivery.url().contains("well") ? OK : null;
    for (int i = 0; i < 40; i++) {
      crank.subscribe("http://hangs" + i + ".example/", "hang");
    }
    crank.send("hang", 3);
    assertThat(crank.inFlight).hasSize(32);
    crank.send("well", 1);
    assertThat(crank.sent.getLast().url()).isEqualTo("http://well.example/");
  }

  @Test
  void while_first_attempts_wait_every_fourth_place_goes_to_what_is_due_again() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    Subscription subscription = crank.subscribe(URL, "t");
    crank.send("t", 40);
    Set<Long> retries = new HashSet<>(crank.store.open.keySet());
    crank.receiver = _ -> null;
    crank.send("t", 100);
    assertThat(crank.inFlight).hasSize(32);
    crank.pass(Duration.ofMillis(84_800));
    int before = crank.sent.size();
    for (int i = 0; i < 40; i++) {
      crank.end(crank.inFlight.getFirst(), OK);
    }
    long retried =
        crank.sent.subList(before, before + 40).stream()
            .filter(delivery -> retries.contains(delivery.message().id()))
            .count();
    assertThat(retried).isEqualTo(10);
    assertThat(subscription).isNotNull();
  }

  @Test
  void tenants_take_turns_however_many_endpoints_they_have() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> null;
    for (int i = 0; i < 50; i++) {
      crank.subscribeFor("big", "http://big" + i + ".example/", "t");
    }
    crank.subscribeFor("small", "http://small.example/", "t");
    crank.send("big", "t", 4);
    crank.send("small", "t", 4);
    int before = crank.sent.size();
    for (int i = 0; i < 6; i++) {
      crank.end(crank.inFlight.getFirst(), DOWN);
    }
    assertThat(
            crank.sent.subList(before, crank.sent.size()).stream()
                .filter(delivery -> delivery.url().contains("small"))
                .count())
        .isGreaterThanOrEqualTo(3);
  }

  /** An endpoint that has failed until it was disabled, with what it was sent so far. */
  private static Subscription disabled(Crank crank) {
    crank.receiver = _ -> DOWN;
    Subscription subscription = crank.subscribe(URL, "t");
    crank.send("t", 101);
    assertThat(state(crank, subscription)).isEqualTo(State.DISABLED);
    return subscription;
  }

  private static State state(Crank crank, Subscription subscription) {
    return crank
        .loop
        .endpoint(subscription.tenant(), subscription.endpoint())
        .orElseThrow()
        .endpoint()
        .health()
        .state();
  }

  @Test
  void messages_for_a_disabled_endpoint_are_parked_and_cost_no_attempt() {
    Crank crank = new Crank();
    disabled(crank);
    int before = crank.sent.size();
    crank.send("t", 5);
    crank.pass(Duration.ofMinutes(9));
    assertThat(crank.sent).hasSize(before);
    assertThat(crank.store.open.values())
        .filteredOn(message -> message.attempts() == 0)
        .hasSize(5)
        .allMatch(message -> message.status() == Status.PARKED);
    assertThat(crank.loop.gauges().held()).isZero();
  }

  @Test
  void a_disabled_endpoint_is_probed_every_ten_minutes_after_the_last_probe_ended() {
    Crank crank = new Crank();
    disabled(crank);
    int before = crank.sent.size();
    crank.send("t", 1);
    crank.pass(Duration.ofMinutes(10));
    assertThat(crank.sent).hasSize(before + 1);
    assertThat(crank.sent.getLast().message().attempts()).isZero();
    crank.receiver = _ -> null;
    crank.pass(Duration.ofMinutes(10));
    assertThat(crank.sent).hasSize(before + 2);
    crank.pass(Duration.ofMinutes(30));
    assertThat(crank.sent).as("one probe in flight at most").hasSize(before + 2);
    crank.endAll(DOWN);
    crank.pass(Duration.ofMinutes(9));
    assertThat(crank.sent).hasSize(before + 2);
    crank.pass(Duration.ofMinutes(1));
    assertThat(crank.sent).hasSize(before + 3);
  }

  @Test
  void with_nothing_to_try_the_probe_stays_due_and_the_next_message_is_tried_at_once() {
    Crank crank = new Crank();
    Subscription first = disabled(crank);
    crank.ask(new Request.Unsubscribe("default", first.id()));
    crank.pass(Duration.ofMinutes(30));
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.store.ended).isEmpty();
    int before = crank.sent.size();
    crank.subscribe(URL, "t");
    crank.receiver = _ -> OK;
    crank.send("t", 1);
    assertThat(crank.sent).hasSize(before + 1);
    assertThat(crank.changes.getLast().endpoint().health().reason())
        .isEqualTo(Reason.PROBE_SUCCEEDED);
  }

  @Test
  void a_probe_that_succeeds_enables_the_endpoint_and_everything_becomes_due() {
    Crank crank = new Crank();
    Subscription subscription = disabled(crank);
    crank.send("t", 20);
    crank.receiver = _ -> OK;
    int before = crank.sent.size();
    crank.pass(Duration.ofMinutes(10));
    assertThat(state(crank, subscription)).isEqualTo(State.ENABLED);
    assertThat(crank.store.open).isEmpty();
    List<Delivery> recovered = crank.sent.subList(before, crank.sent.size());
    assertThat(recovered).hasSize(121);
    assertThat(recovered.stream().map(delivery -> delivery.message().attempts())).isSorted();
  }

  @Test
  void recovery_starts_with_one_in_flight_and_adds_one_after_each_success() {
    Crank crank = new Crank();
    Subscription subscription = disabled(crank);
    crank.pass(Duration.ofSeconds(1));
    crank.receiver = _ -> null;
    crank.operate(subscription, Operation.ENABLE);
    assertThat(crank.inFlight).hasSize(1);
    crank.end(crank.inFlight.getFirst(), OK);
    assertThat(crank.inFlight).hasSize(2);
    crank.end(crank.inFlight.getFirst(), OK);
    assertThat(crank.inFlight).hasSize(3);
    crank.end(crank.inFlight.getFirst(), DOWN);
    assertThat(crank.inFlight).hasSize(2);
    crank.end(crank.inFlight.getFirst(), DOWN);
    crank.end(crank.inFlight.getFirst(), OK);
    assertThat(crank.inFlight).hasSize(2);
  }

  @Test
  void an_attempt_in_recovery_uses_up_no_retry_and_leaves_the_slot() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    Subscription subscription = crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.operate(subscription, Operation.DISABLE);
    crank.pass(Duration.ofSeconds(10));
    crank.operate(subscription, Operation.ENABLE);
    assertThat(crank.sent).hasSize(2);
    Message message = crank.onlyOpen();
    assertThat(message.attempts()).isEqualTo(2);
    assertThat(message.slot()).isEqualTo(1);
    assertThat(message.due()).isEqualTo(Crank.START.plusMillis(84_800));
    crank.pass(Duration.ofMillis(74_799));
    assertThat(crank.sent).hasSize(2);
    crank.pass(Duration.ofMillis(1));
    assertThat(crank.sent).hasSize(3);
  }

  @Test
  void recovery_by_schedule_leaves_waiting_messages_their_slots() {
    Crank crank = new Crank(Limits.forHeap(512L << 20, 32), Recovery.SCHEDULE);
    crank.receiver = _ -> DOWN;
    Subscription subscription = crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.operate(subscription, Operation.DISABLE);
    crank.pass(Duration.ofSeconds(10));
    crank.operate(subscription, Operation.ENABLE);
    assertThat(crank.sent).hasSize(1);
    crank.pass(Duration.ofMillis(74_800));
    assertThat(crank.sent).hasSize(2);
  }

  @Test
  void a_frozen_endpoint_is_left_alone_until_it_is_enabled_by_hand() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("t", 3);
    crank.pass(Duration.ofHours(24));
    assertThat(crank.sent).isEmpty();
    crank.operate(subscription, Operation.ENABLE);
    assertThat(crank.sent).hasSize(3);
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void an_endpoint_disabled_by_hand_is_not_probed() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    crank.operate(subscription, Operation.DISABLE);
    crank.send("t", 3);
    crank.pass(Duration.ofHours(24));
    assertThat(crank.sent).isEmpty();
  }

  @Test
  void operations_by_hand_can_be_repeated() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    for (Operation operation : Operation.values()) {
      Answer first = crank.operate(subscription, operation);
      crank.pass(Duration.ofSeconds(1));
      assertThat(crank.operate(subscription, operation)).isEqualTo(first);
    }
  }

  @Test
  void a_message_whose_deadline_passes_while_it_is_parked_has_expired() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("t", 2);
    crank.pass(Duration.ofMillis(173_585_600 - 1));
    assertThat(crank.store.open).hasSize(2);
    crank.pass(Duration.ofMillis(1));
    assertThat(crank.store.finished.values()).containsExactly("expired", "expired");
    assertThat(crank.sent).isEmpty();
  }

  @Test
  void what_recovery_has_made_due_is_still_tried_once_after_its_deadline() {
    Crank crank = new Crank();
    crank.receiver = _ -> null;
    Subscription subscription = crank.subscribe(URL, "t");
    crank.operate(subscription, Operation.FREEZE);
    crank.send("t", 2);
    crank.pass(Duration.ofHours(48));
    crank.operate(subscription, Operation.ENABLE);
    Message inTime = crank.inFlight.getFirst().message();
    crank.pass(Duration.ofHours(1));
    crank.receiver = _ -> DOWN;
    crank.endAll(DOWN);
    crank.pass(Duration.ofSeconds(1));
    assertThat(crank.store.finished.values()).containsExactly("exhausted", "exhausted");
    assertThat(crank.store.attempts.get(inTime.id())).hasSize(2);
    assertThat(crank.store.attempts.values()).filteredOn(made -> made.size() == 1).hasSize(1);
  }

  @Test
  void found_late_after_a_restart_a_message_is_still_tried_once() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.now = crank.now.plus(Duration.ofHours(100));
    crank.crash();
    assertThat(crank.sent).hasSize(2);
    assertThat(crank.store.finished.values()).containsExactly("exhausted");
  }

  @Test
  void after_a_crash_every_unfinished_message_goes_on() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> null;
    crank.subscribe(URL, "t");
    crank.send("t", 30);
    crank.end(crank.inFlight.getFirst(), OK);
    crank.end(crank.inFlight.getFirst(), DOWN);
    crank.receiver = _ -> OK;
    crank.crash();
    crank.pass(Duration.ofMinutes(2));
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.store.finished.values()).hasSize(30).containsOnly("delivered");
  }

  @Test
  void recovery_goes_on_after_a_crash() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    Subscription subscription = crank.subscribe(URL, "t");
    crank.operate(subscription, Operation.FREEZE);
    for (int i = 0; i < 10; i++) {
      crank.send("t", 5);
    }
    crank.receiver = _ -> null;
    crank.operate(subscription, Operation.ENABLE);
    crank.end(crank.inFlight.getFirst(), OK);
    crank.receiver = _ -> OK;
    crank.crash();
    assertThat(crank.store.finished.values()).hasSize(50).containsOnly("delivered");
  }

  @Test
  void a_message_is_tried_by_hand_at_once() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    Subscription subscription = crank.subscribe(URL, "t");
    crank.send("t", 1);
    Message waiting = crank.onlyOpen();
    assertThat(crank.ask(new Request.RetryNow("default", waiting.id())))
        .isEqualTo(new Answer.RetryStarted());
    assertThat(crank.sent).hasSize(2);
    assertThat(crank.onlyOpen().slot()).as("the slot stays").isEqualTo(1);
    crank.operate(subscription, Operation.DISABLE);
    crank.receiver = _ -> OK;
    crank.ask(new Request.RetryNow("default", waiting.id()));
    assertThat(crank.store.finished.values()).containsExactly("delivered");
    assertThat(state(crank, subscription)).isEqualTo(State.DISABLED);
  }

  @Test
  void what_cannot_be_tried_by_hand_says_why() {
    Crank crank = new Crank();
    Subscription subscription = crank.subscribe(URL, "t");
    crank.receiver = _ -> null;
    crank.send("t", 1);
    long id = crank.onlyOpen().id();
    assertThat(crank.ask(new Request.RetryNow("default", id)))
        .isEqualTo(new Answer.NotRetryable(Obstacle.BEING_SENT));
    crank.endAll(DOWN);
    assertThat(crank.ask(new Request.RetryNow("other", id))).isEqualTo(new Answer.NotFound());
    assertThat(crank.ask(new Request.RetryNow("default", id + 1))).isEqualTo(new Answer.NotFound());
    crank.operate(subscription, Operation.FREEZE);
    assertThat(crank.ask(new Request.RetryNow("default", id)))
        .isEqualTo(new Answer.NotRetryable(Obstacle.ENDPOINT_FROZEN));
  }

  @Test
  void retry_after_is_honoured_and_keeps_probes_and_recovery_away() {
    Crank crank = new Crank();
    crank.receiver =
        _ -> new Outcome.Failure(Outcome.Failure.Kind.STATUS, 503, Outcome.NO_RESPONSE, "3600");
    Subscription subscription = crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.operate(subscription, Operation.DISABLE);
    crank.operate(subscription, Operation.ENABLE);
    crank.receiver = _ -> OK;
    crank.pass(Duration.ofSeconds(3_599));
    assertThat(crank.sent).hasSize(1);
    crank.pass(Duration.ofSeconds(1));
    assertThat(crank.sent).hasSize(2);
  }

  @Test
  void the_unfinished_messages_of_a_deleted_subscription_are_dropped() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> null;
    Subscription gone = crank.subscribe(URL, "t");
    Subscription stays = crank.subscribe(URL, "stays");
    crank.send("t", 20);
    crank.send("stays", 3);
    int inFlight = crank.inFlight.size();
    assertThat(crank.ask(new Request.Unsubscribe("default", gone.id())))
        .isEqualTo(new Answer.Unsubscribed());
    crank.end(crank.inFlight.getFirst(), OK);
    for (int i = 1; i < inFlight; i++) {
      crank.end(crank.inFlight.getFirst(), DOWN);
    }
    crank.receiver = _ -> OK;
    crank.endAll(OK);
    crank.pass(Duration.ofMinutes(1));
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.store.finished.values()).filteredOn("unsubscribed"::equals).hasSize(19);
    assertThat(crank.store.finished.values()).filteredOn("delivered"::equals).hasSize(4);
    assertThat(crank.store.ended).isEmpty();
    assertThat(crank.ask(new Request.Unsubscribe("default", gone.id())))
        .isEqualTo(new Answer.NotFound());
    assertThat(crank.loop.subscription("default", stays.id())).isPresent();
  }

  @Test
  void a_full_disk_refuses_events_and_keeps_the_outcomes() {
    Crank crank = new Crank();
    crank.receiver = _ -> null;
    crank.subscribe(URL, "t");
    crank.send("t", 1);
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.end(crank.inFlight.getFirst(), OK);
    assertThat(crank.send("t", 1)).isEqualTo(new Refused(Refused.Why.STORE_FULL));
    assertThat(crank.store.finished).isEmpty();
    crank.pass(Duration.ofSeconds(1));
    assertThat(crank.store.finished.values()).containsExactly("delivered");
    assertThat(crank.send("t", 1)).isInstanceOf(Answer.Accepted.class);
    assertThat(crank.sent).hasSize(2);
  }

  @Test
  void a_refused_batch_is_split_until_the_poison_stands_alone() {
    Crank crank = new Crank();
    crank.subscribe(URL, "t");
    crank.subscribe(URL, "poison");
    crank.refuses =
        batch ->
            batch.writes().stream()
                .anyMatch(
                    write ->
                        write instanceof Write.Accept accept
                            && accept.events().getFirst().event().type().equals("poison"));
    crank.holdCommits = true;
    List<List<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      answers.add(crank.askLater(Crank.submit("default", i == 5 ? "poison" : "t", 1)));
    }
    crank.holdCommits = false;
    crank.commit();
    for (int i = 0; i < 9; i++) {
      assertThat(answers.get(i)).hasSize(1);
      if (i == 5) {
        assertThat(answers.get(i).getFirst()).isEqualTo(new Refused(Refused.Why.NOT_STORABLE));
      } else {
        assertThat(answers.get(i).getFirst()).isInstanceOf(Answer.Accepted.class);
      }
    }
    assertThat(crank.store.finished).hasSize(8);
  }

  @Test
  void an_outcome_that_cannot_be_written_is_followed_by_another_attempt() {
    Crank crank = new Crank();
    crank.subscribe(URL, "t");
    crank.refuses = batch -> batch.writes().stream().anyMatch(Write.Deliver.class::isInstance);
    crank.send("t", 1);
    assertThat(crank.store.open).hasSize(1);
    crank.refuses = _ -> false;
    crank.pass(Duration.ofMinutes(2));
    assertThat(crank.store.finished.values()).containsExactly("delivered");
    assertThat(crank.sent).hasSize(2);
  }

  @Test
  void too_much_at_once_is_refused_and_what_was_accepted_goes_on() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.subscribe(URL, "t");
    crank.holdCommits = true;
    List<List<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      answers.add(crank.askLater(Crank.submit("default", "t", 100)));
    }
    crank.holdCommits = false;
    crank.commit();
    long accepted = answers.stream().filter(it -> it.getFirst() instanceof Answer.Accepted).count();
    assertThat(answers)
        .filteredOn(it -> it.getFirst().equals(new Refused(Refused.Why.TENANT_OVERLOADED)))
        .hasSize((int) (20 - accepted))
        .isNotEmpty();
    assertThat(crank.store.finished).hasSize((int) (accepted * 100));
  }

  @Test
  void a_load_that_answers_late_does_not_bring_back_what_is_finished() {
    Crank crank = new Crank();
    crank.receiver = _ -> DOWN;
    crank.subscribe(URL, "t");
    crank.send("t", 1);
    Message waiting = crank.onlyOpen();
    crank.holdLoads = true;
    crank.passUntil(Crank.START.plusMillis(84_799));
    crank.holdLoads = false;
    crank.receiver = _ -> OK;
    assertThat(crank.ask(new Request.RetryNow("default", waiting.id())))
        .isEqualTo(new Answer.RetryStarted());
    assertThat(crank.store.finished.values()).containsExactly("delivered");
    crank.answerLoads();
    crank.pass(Duration.ofHours(1));
    assertThat(crank.sent).hasSize(2);
  }

  @Test
  void memory_is_bounded_whatever_waits() {
    Crank crank = new Crank(tight(), Recovery.DRAIN);
    crank.receiver = _ -> DOWN;
    for (int i = 0; i < 5; i++) {
      crank.subscribe("http://e" + i + ".example/", "t");
    }
    for (int i = 0; i < 60; i++) {
      crank.send("t", 3);
      assertThat(crank.loop.gauges().held()).isLessThan(200);
      assertThat(crank.loop.gauges().bodyBytes()).isLessThanOrEqualTo(4_000);
      assertThat(crank.loop.gauges().timers()).isLessThanOrEqualTo(2 * 6);
    }
    crank.receiver = _ -> OK;
    crank.pass(Duration.ofHours(1));
    assertThat(crank.store.open).isEmpty();
    assertThat(crank.store.finished.values()).containsOnly("delivered");
  }

  @Test
  void a_stopping_loop_starts_nothing_and_ends_when_everything_is_on_disk() {
    Crank crank = new Crank();
    crank.receiver = _ -> null;
    crank.subscribe(URL, "t");
    crank.send("t", 40);
    assertThat(crank.inFlight).hasSize(32);
    crank.loop.step(List.of(new Input.StopRequested()), crank.now, _ -> {});
    assertThat(crank.send("t", 1)).isEqualTo(new Refused(Refused.Why.STOPPING));
    assertThat(crank.loop.isStopped()).isFalse();
    crank.endAll(OK);
    assertThat(crank.sent).hasSize(32);
    assertThat(crank.loop.isStopped()).isTrue();
    assertThat(crank.store.finished).hasSize(32);
    crank.receiver = _ -> OK;
    crank.crash();
    assertThat(crank.store.finished).hasSize(40);
  }
}
