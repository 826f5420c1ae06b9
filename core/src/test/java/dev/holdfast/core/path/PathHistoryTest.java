package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.core.rules.Recovery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Small random worlds: receivers that fail and hang, crashes, full disks, operators, late loads.
 */
class PathHistoryTest {
  private static final List<Operation> OPERATIONS = List.of(Operation.values());

  @Test
  void whatever_happens_every_accepted_message_is_finished_in_the_end() {
    Seeds.each(200, PathHistoryTest::live);
  }

  private static Limits small(SplittableRandom random) {
    return new Limits(
        random.nextInt(4, 40),
        random.nextInt(2, 4),
        random.nextInt(1, 6),
        random.nextInt(2, 12),
        random.nextInt(5, 60),
        random.nextInt(1, 3),
        random.nextInt(500, 5_000),
        random.nextInt(300, 5_000),
        random.nextInt(1, 10),
        random.nextInt(1, 4),
        random.nextInt(1, 12),
        100_000,
        Duration.ZERO,
        1_000_000,
        random.nextInt(50, 500),
        random.nextInt(4, 40),
        Duration.ofSeconds(random.nextInt(60, 3_600)),
        random.nextInt(1, 5),
        random.nextInt(1, 8),
        random.nextInt(1, 4),
        1_000,
        Duration.ofSeconds(1),
        Limits.BOTH_VERSIONS);
  }

  private static void live(SplittableRandom random) {
    Recovery recovery = random.nextInt(4) == 0 ? Recovery.SCHEDULE : Recovery.DRAIN;
    Crank crank = new Crank(small(random), recovery);
    crank.store.backlogRows = random.nextInt(1, 20);
    Map<String, Integer> failPercent = new HashMap<>();
    Set<Long> mayRepeat = new HashSet<>();
    Set<Long> byHand = new HashSet<>();
    crank.receiver =
        delivery -> {
          checkStanding(crank, delivery, byHand);
          if (random.nextInt(10) == 0) {
            return null;
          }
          return outcome(random, failPercent.getOrDefault(delivery.url(), 0));
        };
    List<Subscription> subscriptions = new ArrayList<>();
    Map<Long, Integer> accepted = new HashMap<>();
    int replays = 0;
    int steps = random.nextInt(20, 200);
    for (int i = 0; i < steps; i++) {
      switch (random.nextInt(20)) {
        case 0, 1 -> {
          String url = "http://e" + random.nextInt(4) + ".example/";
          failPercent.put(url, new int[] {0, 10, 80, 100}[random.nextInt(4)]);
          if (subscriptions.size() < 6) {
            Object answer =
                last(
                    crank.askLater(
                        new Request.Subscribe(
                            "default",
                            url,
                            List.of(new TypePattern("t" + random.nextInt(2))),
                            null)));
            if (answer instanceof Answer.Subscribed subscribed) {
              subscriptions.add(subscribed.subscription());
            }
          }
        }
        case 2 -> {
          if (!subscriptions.isEmpty() && random.nextInt(4) == 0) {
            Subscription subscription = subscriptions.get(random.nextInt(subscriptions.size()));
            Object answer =
                last(crank.askLater(new Request.Unsubscribe("default", subscription.id())));
            if (answer instanceof Answer.Unsubscribed) {
              subscriptions.remove(subscription);
            }
          }
        }
        case 3 -> {
          if (!subscriptions.isEmpty()) {
            crank.askLater(
                new Request.Operate(
                    "default",
                    subscriptions.get(random.nextInt(subscriptions.size())).endpoint(),
                    OPERATIONS.get(random.nextInt(3))));
          }
        }
        case 4 -> {
          if (!crank.store.open.isEmpty()) {
            List<Long> open = List.copyOf(crank.store.open.keySet());
            long message = open.get(random.nextInt(open.size()));
            byHand.add(message);
            crank.askLater(new Request.RetryNow("default", message));
          }
        }
        case 5 -> {
          if (random.nextInt(3) == 0) {
            mayRepeat.addAll(crank.store.open.keySet());
            crank.crash();
          }
        }
        case 6 -> crank.failNextCommit = StoreException.Kind.FULL;
        case 7 -> {
          crank.holdLoads = random.nextBoolean();
          if (!crank.holdLoads) {
            crank.answerLoads();
          }
        }
        case 8 -> {
          for (Delivery delivery : List.copyOf(crank.inFlight)) {
            if (random.nextBoolean()) {
              crank.end(delivery, outcome(random, failPercent.getOrDefault(delivery.url(), 0)));
            }
          }
        }
        case 9, 10 ->
            crank.pass(
                Duration.ofMillis(
                    (long) Math.pow(10, 2 + random.nextInt(6)) * random.nextInt(1, 9)));
        case 11, 12 -> {
          if (!subscriptions.isEmpty()) {
            Subscription subscription = subscriptions.get(random.nextInt(subscriptions.size()));
            crank.askLater(new Request.Update("default", subscription.id(), patch(random)));
          }
        }
        case 13 -> {
          if (!subscriptions.isEmpty() && replays < 3) {
            replays++;
            Subscription subscription = subscriptions.get(random.nextInt(subscriptions.size()));
            Object answer =
                last(
                    crank.askLater(new Request.Replay("default", selection(random, subscription))));
            if (answer instanceof Answer.ReplayIs is && random.nextInt(4) == 0) {
              crank.askLater(new Request.CancelReplay("default", is.replay().id()));
            }
          }
        }
        default -> {
          Object answer =
              last(
                  crank.askLater(
                      Crank.submit("default", "t" + random.nextInt(2), random.nextInt(1, 12))));
          if (answer instanceof Answer.Accepted given) {
            for (Receipt receipt : given.receipts()) {
              accepted.put(receipt.event(), receipt.messages());
            }
          }
        }
      }
      check(crank);
    }
    crank.failNextCommit = null;
    crank.holdLoads = false;
    crank.answerLoads();
    crank.pass(Duration.ofSeconds(2));
    crank.receiver = _ -> Crank.OK;
    crank.endAll(Crank.OK);
    for (Subscription subscription : subscriptions) {
      crank.ask(new Request.Update("default", subscription.id(), paused(false)));
    }
    for (long endpoint : crank.store.endpoints.keySet()) {
      crank.ask(new Request.Operate("default", endpoint, Operation.ENABLE));
    }
    crank.pass(Duration.ofHours(50));
    crank.endAll(Crank.OK);
    crank.pass(Duration.ofHours(50));
    assertThat(crank.store.open.values()).as("unfinished; %s", crank.loop.gauges()).isEmpty();
    assertThat(crank.store.ended.values()).as("unswept").isEmpty();
    assertThat(crank.loop.gauges().held()).as("held").isZero();
    assertThat(crank.loop.gauges().bodyBytes()).as("body bytes").isZero();
    assertThat(crank.loop.gauges().sendingBytes()).as("sending bytes").isZero();
    assertThat(crank.loop.gauges().inFlight()).as("in flight").isZero();
    assertThat(crank.loop.gauges().acceptingBytes()).as("accepting bytes").isZero();
    assertThat(crank.loop.gauges().unwritten()).as("unwritten").isZero();
    assertThat(crank.store.subscriptions.values())
        .allSatisfy(subscription -> assertThat(subscription.unsettled()).isEmpty());
    assertThat(crank.store.fanOuts).isEmpty();
    assertThat(crank.store.replays.values()).allSatisfy(PathHistoryTest::isAtItsEnd);
    accepted.forEach(
        (event, messages) ->
            assertThat(
                    LongStream.rangeClosed(1, messages)
                        .filter(n -> crank.store.finished.containsKey(event + n * Id.STRIDE))
                        .count())
                .as("messages of event %s", event)
                .isEqualTo(messages.longValue()));
    crank.taken.forEach(
        (message, times) -> {
          if (times > 1) {
            assertThat(mayRepeat).as("taken twice without a crash in between").contains(message);
          }
        });
  }

  private static Request.Patch paused(boolean paused) {
    return Request.Patch.toPaused(paused);
  }

  private static Request.Patch patch(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> paused(true);
      case 1 -> paused(false);
      case 2 -> Request.Patch.toUrl("http://e" + random.nextInt(5) + ".example/");
      default -> Request.Patch.toTypes(List.of(new TypePattern("t" + random.nextInt(3))));
    };
  }

  private static Replay.Selection selection(SplittableRandom random, Subscription subscription) {
    boolean byEndpoint = random.nextBoolean();
    return new Replay.Selection(
        byEndpoint ? subscription.endpoint() : null,
        byEndpoint ? null : subscription.id(),
        random.nextBoolean()
            ? Set.of(Replay.Ending.DROPPED)
            : Set.of(Replay.Ending.DELIVERED, Replay.Ending.DROPPED),
        null,
        null,
        random.nextInt(3) == 0);
  }

  private static void isAtItsEnd(Replay replay) {
    assertThat(replay.state()).as("%s", replay).isNotEqualTo(Replay.State.RUNNING);
    if (replay.state() == Replay.State.DONE) {
      assertThat(replay.done() + replay.skipped()).as("%s", replay).isEqualTo(replay.total());
    }
  }

  /** What is sent is sent to where its subscription says, and not while that is paused. */
  private static void checkStanding(Crank crank, Delivery delivery, Set<Long> byHand) {
    Message message = delivery.message();
    Subscription subscription =
        crank.loop.subscription("default", message.subscription()).orElseThrow();
    assertThat(message.endpoint()).isEqualTo(subscription.endpoint());
    assertThat(subscription.paused() && !byHand.contains(message.id())).as("paused").isFalse();
  }

  private static Object last(List<Answer> answers) {
    return answers.isEmpty() ? "none yet" : answers.getLast();
  }

  private static Outcome outcome(SplittableRandom random, int failPercent) {
    if (random.nextInt(100) >= failPercent) {
      return Crank.OK;
    }
    return switch (random.nextInt(4)) {
      case 0 -> Crank.TIMED_OUT;
      case 1 ->
          new Outcome.Failure(
              Outcome.Failure.Kind.STATUS,
              429,
              Outcome.NO_RESPONSE,
              "" + random.nextInt(1, 300_000));
      default -> Crank.DOWN;
    };
  }

  private static void check(Crank crank) {
    View.Gauges gauges = crank.loop.gauges();
    assertThat(gauges.inFlight()).isLessThanOrEqualTo(crank.limits.inFlight());
    assertThat(gauges.bodyBytes()).isLessThanOrEqualTo(crank.limits.bodyBytes());
    Tally stored = new Tally();
    for (Message message : crank.store.open.values()) {
      stored.add(message.status(), 1);
    }
    assertThat(List.of(gauges.pending(), gauges.waiting(), gauges.parked()))
        .as("what the loop counts and what the store has")
        .isEqualTo(
            List.of(
                (long) stored.pending(),
                (long) stored.waiting(),
                (long) stored.parked() + stored.paused()));
  }
}
