package dev.holdfast.core.path;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Nodes.Job;
import dev.holdfast.core.path.Nodes.Kind;
import dev.holdfast.core.path.Nodes.Node;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written.Receipt;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random lives of three nodes that share a store: everything that they have under way outside of
 * their loops happens at any time and in any order, shards change hands, nodes are lost, and
 * nothing of what was promised may be.
 */
class ClusterHistoryTest {
  private static final List<String> TENANTS = List.of("default", "other");
  private static final List<Operation> OPERATIONS = List.of(Operation.values());

  @Test
  void whatever_happens_to_nodes_each_accepted_message_is_delivered_once() {
    Seeds.each(40, random -> new Life(random).live());
  }

  private static Limits small(SplittableRandom random) {
    return new Limits(
        random.nextInt(4, 40),
        random.nextInt(3, 30),
        random.nextInt(1, 6),
        random.nextInt(2, 12),
        random.nextInt(10, 80),
        2,
        random.nextInt(200, 4_000),
        100_000,
        random.nextInt(1, 10),
        random.nextInt(1, 4),
        random.nextInt(1, 20),
        100_000,
        Duration.ZERO,
        1_000_000,
        1_000,
        random.nextInt(4, 40),
        Duration.ofMinutes(5),
        random.nextInt(1, 5),
        random.nextInt(1, 6),
        random.nextInt(1, 4),
        10_000,
        Duration.ofSeconds(1),
        Limits.BOTH_VERSIONS);
  }

  /** What somebody has asked for, and what is known of it. */
  private static final class Asked {
    final Node node;
    final Request request;
    final int at;
    final List<Answer> answers = new ArrayList<>();
    int answeredAt = Integer.MAX_VALUE;

    Asked(Node node, Request request, int at) {
      this.node = node;
      this.request = request;
      this.at = at;
    }
  }

  /** A subscription that somebody was told is there. */
  private static final class Known {
    final Subscription subscription;
    final String type;
    final int since;
    final boolean hasHistory;
    int endAskedAt = Integer.MAX_VALUE;
    int endedAt = Integer.MAX_VALUE;

    Known(Subscription subscription, String type, int since, boolean hasHistory) {
      this.subscription = subscription;
      this.type = type;
      this.since = since;
      this.hasHistory = hasHistory;
    }
  }

  private static final class Life {
    final SplittableRandom random;
    final Nodes nodes;
    final List<Asked> asked = new ArrayList<>();
    final List<Known> subscriptions = new ArrayList<>();

    /** The type of each accepted event, and when it was asked for and answered. */
    final Map<Long, Asked> accepted = new HashMap<>();

    /** Nodes that others have taken over from and that go on for a while. */
    final List<Node> zombies = new ArrayList<>();

    final Set<Long> byHand = new HashSet<>();

    /** Replays whose end somebody has asked for. */
    final Set<Long> cancelled = new HashSet<>();

    int step;
    int failPercent;

    Life(SplittableRandom random) {
      this.random = random;
      nodes = new Nodes(3, small(random));
      nodes.store.isSilent = random.nextInt(4) == 0;
      nodes.store.rows.backlogRows = random.nextInt(1, 20);
      nodes.receiver = _ -> random.nextInt(3) == 0 ? null : outcome();
    }

    private Outcome outcome() {
      if (random.nextInt(100) >= failPercent) {
        return Crank.OK;
      }
      return random.nextBoolean() ? Crank.DOWN : Crank.TIMED_OUT;
    }

    void live() {
      int steps = random.nextInt(200, 3_000);
      for (step = 0; step < steps; step++) {
        if (random.nextInt(3) == 0) {
          happen();
        } else {
          doSomeJob();
        }
        if (random.nextInt(200) == 0) {
          calm();
        }
      }
      end();
    }

    private Node someNode() {
      return nodes.all.get(random.nextInt(nodes.all.size()));
    }

    private void doSomeJob() {
      boolean isZombie = !zombies.isEmpty() && random.nextInt(5) == 0;
      Node node = isZombie ? zombies.get(random.nextInt(zombies.size())) : someNode();
      if (!node.jobs.isEmpty()) {
        Job job = node.jobs.remove(random.nextInt(node.jobs.size()));
        boolean isLostSignal = job.kind() == Kind.WAKE && random.nextInt(5) == 0;
        if (!isLostSignal) {
          job.what().run();
        }
      }
      if (random.nextInt(3) != 0) {
        node.step();
      }
    }

    private void ask(Node node, Request request, Consumer<Asked> then) {
      Asked one = new Asked(node, request, step);
      asked.add(one);
      node.inputs.add(
          new Input.Asked(
              request,
              answer -> {
                one.answers.add(answer);
                one.answeredAt = step;
                then.accept(one);
              }));
    }

    private @Nullable Known someSubscription() {
      return subscriptions.isEmpty()
          ? null
          : subscriptions.get(random.nextInt(subscriptions.size()));
    }

    private void happen() {
      Known some = someSubscription();
      switch (random.nextInt(32)) {
        case 0, 1 -> subscribe();
        case 2 -> {
          if (some != null && random.nextInt(4) == 0) {
            unsubscribe(some);
          }
        }
        case 3, 4 -> {
          if (some != null) {
            String tenant = some.subscription.tenant();
            ask(someNode(), new Request.Update(tenant, some.subscription.id(), patch()), _ -> {});
          }
        }
        case 5 -> {
          if (some != null) {
            Operation operation = OPERATIONS.get(random.nextInt(3));
            askOwner(
                new Request.Operate(
                    some.subscription.tenant(), some.subscription.endpoint(), operation));
          }
        }
        case 6 -> {
          List<Long> open = List.copyOf(nodes.store.rows.open.keySet());
          if (!open.isEmpty()) {
            long message = open.get(random.nextInt(open.size()));
            byHand.add(message);
            askOwner(new Request.RetryNow(tenantOfMessage(message), message));
          }
        }
        case 7 -> {
          if (some != null && nodes.store.rows.replays.size() < 5) {
            replay(some);
          }
        }
        case 8 -> {
          List<Replay> replays = List.copyOf(nodes.store.rows.replays.values());
          if (!replays.isEmpty() && random.nextInt(4) == 0) {
            Replay replay = replays.get(random.nextInt(replays.size()));
            cancelled.add(replay.id());
            askOwner(new Request.CancelReplay(replay.tenant(), replay.id()));
          }
        }
        case 9 -> {
          if (some != null) {
            RateLimit limit = random.nextBoolean() ? null : new RateLimit(100);
            long endpoint = some.subscription.endpoint();
            String tenant = some.subscription.tenant();
            ask(someNode(), Request.Configure.limitRate(tenant, endpoint, limit), _ -> {});
          }
        }
        case 10, 11 -> {
          Node node = someNode();
          Shards part = part(releasable(node));
          if (!part.isEmpty()) {
            node.release(part);
            node.step();
          }
        }
        case 12, 13, 14 -> {
          Shards part = random.nextBoolean() ? nodes.store.free() : part(nodes.store.free());
          if (!part.isEmpty()) {
            someNode().gain(part);
          }
        }
        case 15 -> {
          if (random.nextInt(10) == 0) {
            lose(someNode());
          }
        }
        case 16 -> {
          someNode().failNextWrite =
              switch (random.nextInt(4)) {
                case 0 -> StoreException.Kind.FULL;
                case 1 -> StoreException.Kind.AWAY;
                default -> null;
              };
        }
        case 17 -> failPercent = new int[] {0, 0, 20, 90}[random.nextInt(4)];
        case 18 -> someNode().inputs.add(new Input.Woken());
        case 19, 20 -> {
          nodes.now =
              nodes.now.plusMillis((long) Math.pow(10, random.nextInt(6)) * random.nextInt(1, 9));
          nodes.all.forEach(Node::step);
        }
        case 21 -> someNode().failNextRead = true;
        case 22 -> {
          Node node = someNode();
          boolean isShort = random.nextInt(3) == 0;
          node.lease(isShort ? nodes.now.plusMillis(random.nextInt(1, 2_000)) : Instant.MAX);
          node.step();
        }
        case 23 -> {
          if (!zombies.isEmpty() && random.nextInt(5) == 0) {
            bury(zombies.removeFirst());
          }
        }
        case 24 -> {
          Node node = someNode();
          node.cannotLearn = !node.cannotLearn && random.nextBoolean();
        }
        case 25 -> nodes.learn(someNode());
        default -> submit();
      }
    }

    private String tenantOfMessage(long message) {
      long endpoint = requireNonNull(nodes.store.rows.open.get(message)).endpoint();
      return requireNonNull(nodes.store.rows.endpoints.get(endpoint)).tenant();
    }

    private String someTenant() {
      return TENANTS.get(random.nextInt(TENANTS.size()));
    }

    /** What a node has and is not letting go. */
    private Shards releasable(Node node) {
      boolean isGaining = node.jobs.stream().anyMatch(job -> job.kind() == Kind.GAINED);
      return isGaining || !node.inputs.isEmpty() ? Shards.NONE : node.loop.worksOn();
    }

    private Shards part(Shards shards) {
      int every = random.nextInt(1, 4);
      return Shards.of(shards.numbers().stream().filter(_ -> random.nextInt(every) == 0).toList());
    }

    private void subscribe() {
      if (subscriptions.stream().filter(one -> one.endAskedAt == Integer.MAX_VALUE).count() >= 8) {
        return;
      }
      String type = "t" + random.nextInt(2);
      String tenant = someTenant();
      boolean hasHistory = random.nextInt(3) == 0;
      Request.Subscribe request =
          new Request.Subscribe(
              tenant,
              "http://e" + random.nextInt(5) + ".example/",
              List.of(new TypePattern(type)),
              null);
      if (hasHistory) {
        request = new Request.Subscribe(tenant, request.wish(), Crank.START);
      }
      ask(
          someNode(),
          request,
          one -> {
            if (one.answers.getFirst() instanceof Answer.Subscribed there) {
              subscriptions.add(new Known(there.subscription(), type, step, hasHistory));
            }
          });
    }

    private void unsubscribe(Known known) {
      known.endAskedAt = Math.min(known.endAskedAt, step);
      ask(
          someNode(),
          new Request.Unsubscribe(known.subscription.tenant(), known.subscription.id()),
          one -> {
            if (one.answers.getFirst() instanceof Answer.Unsubscribed) {
              known.endedAt = Math.min(known.endedAt, step);
            }
          });
    }

    private Request.Patch patch() {
      return switch (random.nextInt(3)) {
        case 0 -> Request.Patch.toPaused(true);
        case 1 -> Request.Patch.toPaused(false);
        default -> Request.Patch.toUrl("http://e" + random.nextInt(6) + ".example/");
      };
    }

    /** Asks any node, and then the one that it names. */
    private void askOwner(Request request) {
      ask(
          someNode(),
          request,
          one -> {
            if (one.answers.getFirst() instanceof Answer.NotOurs(int shard)) {
              for (Node node : nodes.all) {
                if (nodes.store.of(node.slot).contains(shard)) {
                  ask(node, request, _ -> {});
                }
              }
            }
          });
    }

    private void replay(Known known) {
      Replay.Selection selection =
          new Replay.Selection(
              null,
              known.subscription.id(),
              Set.of(Replay.Ending.DELIVERED, Replay.Ending.DROPPED),
              null,
              null,
              random.nextBoolean());
      ask(someNode(), new Request.Replay(known.subscription.tenant(), selection), _ -> {});
    }

    private void submit() {
      String type = "t" + random.nextInt(2);
      boolean isTooLate = !zombies.isEmpty() && random.nextInt(10) == 0;
      ask(
          isTooLate ? zombies.getFirst() : someNode(),
          Crank.submit(someTenant(), type, random.nextInt(1, 4)),
          one -> {
            if (one.answers.getFirst() instanceof Answer.Accepted given) {
              for (Receipt receipt : given.receipts()) {
                accepted.put(receipt.event(), one);
              }
            }
          });
    }

    /** A node dies, or finds that others have taken over; perhaps just after it has written. */
    private void lose(Node node) {
      if (random.nextBoolean()) {
        for (Job job : List.copyOf(node.jobs)) {
          if (job.kind() == Kind.WRITE) {
            node.jobs.remove(job);
            job.what().run();
          }
        }
      }
      boolean isTold = random.nextBoolean();
      boolean isZombie = random.nextInt(3) != 0;
      if (isZombie || isTold) {
        node.lease(nodes.now.plusMillis(1));
        node.step();
        nodes.now = nodes.now.plusMillis(1);
      }
      nodes.lose(node);
      nodes.join();
      if (isZombie) {
        zombies.add(node);
        return;
      }
      if (isTold) {
        if (random.nextBoolean()) {
          node.inputs.add(new Input.Abandoned());
        } else {
          node.jobs.removeIf(job -> job.kind() != Kind.WRITE);
          node.doNext();
          node.doNext();
          node.inputs.add(new Input.Abandoned());
        }
        bury(node);
      }
      asked.removeIf(one -> one.node.slot == node.slot);
    }

    /** A node that was told that others have taken over does nothing any more. */
    private void bury(Node node) {
      node.inputs.add(new Input.Abandoned());
      node.step();
      for (Asked one : asked) {
        if (one.node.slot == node.slot) {
          assertThat(one.answers).as("%s of an abandoned node", one.request).hasSize(1);
        }
      }
      assertThat(node.loop.isStopped()).isTrue();
      asked.removeIf(one -> one.node.slot == node.slot);
    }

    /** Lets everything end that is under way, and compares what nodes count with the store. */
    private void calm() {
      nodes.all.forEach(node -> node.lease(Instant.MAX));
      nodes.all.forEach(node -> node.cannotLearn = false);
      var receiver = nodes.receiver;
      nodes.receiver = _ -> outcome();
      nodes.poll();
      nodes.pass(Duration.ofSeconds(3));
      nodes.poll();
      check();
      nodes.receiver = receiver;
    }

    private void check() {
      assertThat(nodes.all).allSatisfy(node -> assertThat(node.jobs).isEmpty());
      Tally stored = new Tally();
      Shards owned = Shards.of(nodes.store.owners.keySet());
      for (Message message : nodes.store.rows.open.values()) {
        if (owned.has(message.endpoint())) {
          stored.add(message.status(), 1);
        }
      }
      long pending = 0;
      long waiting = 0;
      long parked = 0;
      for (Node node : nodes.all) {
        assertThat(node.loop.worksOn()).isEqualTo(nodes.store.of(node.slot));
        View.Gauges gauges = node.loop.gauges();
        pending += gauges.pending();
        waiting += gauges.waiting();
        parked += gauges.parked();
      }
      assertThat(List.of(pending, waiting, parked))
          .as("what the loops count and what the store has")
          .isEqualTo(
              List.of(
                  (long) stored.pending(),
                  (long) stored.waiting(),
                  (long) stored.parked() + stored.paused()));
    }

    private void end() {
      failPercent = 0;
      zombies.forEach(this::bury);
      nodes.all.forEach(node -> node.lease(Instant.MAX));
      nodes.receiver = _ -> Crank.OK;
      nodes.all.forEach(node -> node.failNextWrite = null);
      nodes.all.forEach(node -> node.cannotLearn = false);
      nodes.poll();
      nodes.pass(Duration.ofSeconds(5));
      Shards free = nodes.store.free();
      if (!free.isEmpty()) {
        someNode().gain(free);
      }
      nodes.poll();
      check();
      for (Subscription subscription : List.copyOf(nodes.store.rows.subscriptions.values())) {
        Request resume =
            new Request.Update(
                subscription.tenant(), subscription.id(), Request.Patch.toPaused(false));
        assertThat(someNode().ask(resume)).isInstanceOf(Answer.Updated.class);
      }
      for (Endpoint endpoint : List.copyOf(nodes.store.rows.endpoints.values())) {
        Request enable = new Request.Operate(endpoint.tenant(), endpoint.id(), Operation.ENABLE);
        assertThat(nodes.ownerOf(endpoint.id()).ask(enable)).isInstanceOf(Answer.EndpointIs.class);
      }
      nodes.pass(Duration.ofMinutes(5));
      nodes.poll();
      nodes.pass(Duration.ofHours(60));
      check();
      checkEnd();
    }

    private void checkEnd() {
      MemoryStore rows = nodes.store.rows;
      for (Asked one : asked) {
        assertThat(one.answers).as("%s at %s of %s", one.request, one.at, one.node.slot).hasSize(1);
        assertThat(one.answers.getFirst()).isNotEqualTo(new Refused(Refused.Why.OVERLOADED));
      }
      assertThat(rows.open.values()).as("unfinished").isEmpty();
      assertThat(rows.ended.values()).as("unswept").isEmpty();
      assertThat(rows.fanOuts).isEmpty();
      assertThat(nodes.store.isAnythingLeft()).isFalse();
      assertThat(rows.subscriptions.values())
          .allSatisfy(subscription -> assertThat(subscription.unsettled()).isEmpty());
      assertThat(rows.replays.values())
          .allSatisfy(replay -> assertThat(replay.state()).isNotEqualTo(Replay.State.RUNNING));
      for (Node node : nodes.all) {
        View.Gauges gauges = node.loop.gauges();
        assertThat(gauges.held()).as("held").isZero();
        assertThat(gauges.inFlight()).as("in flight").isZero();
        assertThat(gauges.bodyBytes()).as("body bytes").isZero();
        assertThat(gauges.acceptingBytes()).as("accepting bytes").isZero();
        assertThat(gauges.unwritten()).as("unwritten").isZero();
      }
      nodes.taken.forEach(
          (message, times) -> {
            if (times > 1) {
              assertThat(nodes.mayRepeat).as("taken twice: %s", message).contains(message);
            }
          });
      checkMessages(rows);
      checkGivenUp(rows);
    }

    /** Only of a subscription that has ended something is given up for that reason. */
    private void checkGivenUp(MemoryStore rows) {
      rows.finished.forEach(
          (id, how) -> {
            if (how.equals("unsubscribed")) {
              assertThat(rows.subscriptions)
                  .as("%s, given up as unsubscribed", rows.messages.get(id))
                  .doesNotContainKey(requireNonNull(rows.messages.get(id)).subscription());
            }
          });
      for (Replay replay : rows.replays.values()) {
        Long subscription = replay.selection().subscription();
        if (replay.state() == Replay.State.CANCELLED
            && subscription != null
            && !cancelled.contains(replay.id())) {
          assertThat(rows.subscriptions)
              .as("%s, cancelled by nobody", replay)
              .doesNotContainKey(subscription);
        }
      }
    }

    private record Pair(long event, long subscription) {}

    private void checkMessages(MemoryStore rows) {
      Set<Long> replayed = new HashSet<>();
      rows.remade.forEach(
          (original, made) -> {
            if (original != 0) {
              replayed.addAll(made);
            }
          });
      Map<Pair, Integer> made = new HashMap<>();
      for (Message message : rows.messages.values()) {
        if (!replayed.contains(message.id())) {
          made.merge(new Pair(message.event(), message.subscription()), 1, Integer::sum);
        }
      }
      assertThat(made.values()).as("one message of an event for one").allMatch(n -> n == 1);
      accepted.forEach(
          (event, one) -> {
            Request.Submit request = (Request.Submit) one.request;
            String type = request.events().getFirst().type();
            for (Known known : subscriptions) {
              Pair pair = new Pair(event, known.subscription.id());
              boolean isThere = made.containsKey(pair);
              boolean isWanted =
                  known.type.equals(type)
                      && known.subscription.tenant().equals(request.tenant())
                      && (known.since < one.at || (known.hasHistory && isHistoryDone(known)))
                      && known.endAskedAt > one.answeredAt;
              if (isWanted) {
                assertThat(isThere)
                    .as("%s, subscribed at %s, accepted at %s", pair, known.since, one.at)
                    .isTrue();
              }
              if (known.endedAt < one.at) {
                assertThat(isThere).as("%s after its end", pair).isFalse();
              }
            }
          });
    }

    private boolean isHistoryDone(Known known) {
      return known.endAskedAt == Integer.MAX_VALUE
          && nodes.store.rows.replays.values().stream()
              .anyMatch(
                  replay ->
                      replay.selection().isHistory()
                          && replay.selection().subscription() != null
                          && replay.selection().subscription() == known.subscription.id()
                          && replay.state() == Replay.State.DONE);
    }
  }
}
