package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.rules.Recovery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Turns several loops by hand that share a store. What they want done is a job each. */
final class Nodes {
  private static final int MOST_ROUNDS = 100_000;

  final SharedMemory store = new SharedMemory();
  final List<Node> all = new ArrayList<>();
  final Limits limits;
  Instant now = Crank.START;
  private int slots;
  private int late;

  /** What a receiver answers; null leaves the attempt under way. */
  Function<Delivery, @Nullable Outcome> receiver = _ -> Crank.OK;

  /** How often a receiver has taken each message. */
  final Map<Long, Integer> taken = new HashMap<>();

  /** Messages that a node had in hand when it was lost: they may be delivered twice. */
  final Set<Long> mayRepeat = new HashSet<>();

  Nodes(int count) {
    this(count, Limits.forHeap(512L << 20, 32));
  }

  Nodes(int count, Limits limits) {
    this.limits = limits.withBatchEvery(Duration.ZERO);
    for (int i = 0; i < count; i++) {
      join();
    }
    for (int i = 0; i < count; i++) {
      List<Integer> part = new ArrayList<>();
      for (int shard = i; shard < Shards.COUNT; shard += count) {
        part.add(shard);
      }
      all.get(i).gain(Shards.of(part));
    }
    turn();
  }

  Node join() {
    Node node = new Node(slots++);
    all.add(node);
    node.lease(Instant.MAX);
    return node;
  }

  /** What a node has under way outside of its loop. */
  enum Kind {
    /** The store is to write. */
    WRITE,
    /** The store has written, and the loop does not know it yet. */
    WRITTEN,
    READ,
    HAVE_READ,
    ATTEMPT,
    /** What everyone knows is to be read. */
    LEARN,
    LEARNED,
    WAKE,
    GAINED
  }

  record Job(Kind kind, Runnable what) {}

  /** One node. */
  final class Node {
    final int slot;
    final Loop loop;
    final Deque<Input> inputs = new ArrayDeque<>();
    final List<Job> jobs = new ArrayList<>();

    /** What is not done until somebody does it. */
    final Set<Kind> held = EnumSet.noneOf(Kind.class);

    final List<Delivery> sent = new ArrayList<>();
    final List<Delivery> inFlight = new ArrayList<>();
    final List<Shards> letGo = new ArrayList<>();
    StoreException.@Nullable Kind failNextWrite;
    boolean failNextRead;

    /** What others have changed cannot be read, for now. */
    boolean cannotLearn;

    private Instant leasedUntil = Instant.MAX;
    private long learned;

    Node(int slot) {
      this.slot = slot;
      var snapshot = store.snapshot();
      learned = snapshot.version();
      loop =
          new Loop(
              Crank.SCHEDULE,
              Crank.HEALTH,
              Recovery.DRAIN,
              limits,
              Overload.NONE,
              slot,
              snapshot,
              Shards.NONE);
    }

    /** Gets shards that nobody has. */
    void gain(Shards shards) {
      Holdings holdings = store.claim(slot, shards);
      jobs.add(new Job(Kind.GAINED, () -> inputs.add(new Input.Gained(shards, holdings))));
    }

    /** Attempts may start before this time. */
    void lease(Instant until) {
      leasedUntil = until;
      inputs.add(new Input.Leased(until));
    }

    void release(Shards shards) {
      inputs.add(new Input.Release(shards));
    }

    void step() {
      List<Input> batch = List.copyOf(inputs);
      inputs.clear();
      List<Effect> effects = new ArrayList<>();
      loop.step(batch, now, effects::add);
      effects.forEach(this::perform);
    }

    private void perform(Effect effect) {
      switch (effect) {
        case Effect.Commit commit -> jobs.add(new Job(Kind.WRITE, () -> write(commit.batch())));
        case Effect.Send send -> {
          sent.add(send.delivery());
          inFlight.add(send.delivery());
          if (!store.of(slot).has(send.delivery().message().endpoint())) {
            throw new IllegalStateException("sends what is not its: " + send.delivery());
          }
          if (!now.isBefore(leasedUntil)) {
            throw new IllegalStateException("sends after its lease: " + send.delivery());
          }
          jobs.add(new Job(Kind.ATTEMPT, () -> attempt(send.delivery())));
        }
        case Effect.Fetch fetch -> jobs.add(new Job(Kind.READ, () -> read(fetch.load())));
        case Effect.Reply reply -> reply.to().accept(reply.answer());
        case Effect.LetGo go -> {
          if (store.fenced.contains(slot)) {
            return;
          }
          store.letGo(slot, go.shards());
          letGo.add(go.shards());
        }
        case Effect.StateChanged _, Effect.GoneChanged _, Effect.SpaceChanged _ -> {}
      }
    }

    private void write(Batch batch) {
      Input answer;
      StoreException.Kind failure = failNextWrite;
      failNextWrite = null;
      try {
        if (failure != null) {
          throw new StoreException(failure, "as the test wants it", new IllegalStateException());
        }
        SharedMemory.Outcome outcome = store.write(slot, batch);
        answer = new Input.Committed(batch, outcome.written());
        for (Node node : all) {
          if (outcome.left().stream().anyMatch(store.of(node.slot)::contains)) {
            node.jobs.add(new Job(Kind.WAKE, () -> node.inputs.add(new Input.Woken())));
          }
          if (outcome.written().version() != 0) {
            node.jobs.add(new Job(Kind.LEARN, node::learn));
          }
        }
      } catch (StoreException e) {
        answer = new Input.CommitFailed(batch, e.kind(), "as the rules say", e.tenants());
        if (e.kind() == StoreException.Kind.STALE) {
          Input failed = answer;
          jobs.add(
              new Job(
                  Kind.WRITTEN,
                  () -> {
                    inputs.add(failed);
                    jobs.add(new Job(Kind.LEARN, this::learn));
                  }));
          return;
        }
      }
      Input answered = answer;
      jobs.add(new Job(Kind.WRITTEN, () -> inputs.add(answered)));
    }

    /** Tries in vain are not told of, and each second it is tried again. */
    private void learn() {
      if (cannotLearn) {
        return;
      }
      long since = learned;
      Known known = store.changes(since);
      jobs.add(
          new Job(
              Kind.LEARNED,
              () -> {
                learned = Math.max(learned, known.version());
                inputs.add(new Input.Learned(since, known));
              }));
    }

    private void attempt(Delivery delivery) {
      Outcome outcome = receiver.apply(delivery);
      if (outcome == null) {
        jobs.add(new Job(Kind.ATTEMPT, () -> attempt(delivery)));
        return;
      }
      inFlight.remove(delivery);
      if (outcome instanceof Outcome.Success) {
        taken.merge(delivery.message().id(), 1, Integer::sum);
      }
      inputs.add(new Input.AttemptEnded(delivery, outcome, 1));
    }

    private void read(Load load) {
      boolean isFailing =
          failNextRead || (load instanceof Load.Arrivals && store.fenced.contains(slot));
      failNextRead = false;
      if (isFailing) {
        jobs.add(new Job(Kind.HAVE_READ, () -> inputs.add(new Input.LoadFailed(load))));
        return;
      }
      Input answer =
          load instanceof Load.Arrivals arrivals
              ? new Input.ArrivalsLoaded(
                  arrivals, store.arrivals(slot, arrivals.ours(), arrivals.limit()))
              : load instanceof Load.Due due
                  ? new Input.Loaded(
                      load, store.rows.due(due.shards(), due.after(), due.through(), due.limit()))
                  : Crank.load(store.rows, load);
      jobs.add(new Job(Kind.HAVE_READ, () -> inputs.add(answer)));
    }

    /** Does one of the jobs that are not held; whether there was one. */
    boolean doNext() {
      for (Job job : jobs) {
        if (!held.contains(job.kind())) {
          jobs.remove(job);
          job.what().run();
          return true;
        }
      }
      return false;
    }

    /** Lets what was held happen, and all that follows from it. */
    void let(Kind kind) {
      held.remove(kind);
      turn();
    }

    Answer ask(Request request) {
      List<Answer> answers = askLater(request);
      turn();
      if (answers.size() != 1) {
        throw new IllegalStateException("answers to " + request + ": " + answers);
      }
      return answers.getFirst();
    }

    List<Answer> askLater(Request request) {
      List<Answer> answers = new ArrayList<>();
      inputs.add(new Input.Asked(request, answers::add));
      return answers;
    }

    Subscription subscribe(String url, String type) {
      Request request = new Request.Subscribe("default", url, List.of(new TypePattern(type)), null);
      return ((Answer.Subscribed) ask(request)).subscription();
    }

    /** Does the first job of a kind. */
    void doFirst(Kind kind) {
      Job job = jobs.stream().filter(one -> one.kind() == kind).findFirst().orElseThrow();
      jobs.remove(job);
      job.what().run();
    }

    List<Message> sentMessages() {
      return sent.stream().map(Delivery::message).toList();
    }
  }

  /** The node that decides for an endpoint. */
  Node ownerOf(long id) {
    return all.stream().filter(node -> store.of(node.slot).has(id)).findFirst().orElseThrow();
  }

  Node otherThan(Node node) {
    return all.stream().filter(one -> one.slot != node.slot).findFirst().orElseThrow();
  }

  /** A node is no more. Whatever it had not written is lost. */
  void lose(Node node) {
    node.sent.stream()
        .map(delivery -> delivery.message().id())
        .filter(store.rows.open::containsKey)
        .forEach(mayRepeat::add);
    store.fenced.add(node.slot);
    store.letGo(node.slot, store.of(node.slot));
    all.remove(node);
  }

  /** Lets everything happen that can happen without time passing. */
  void turn() {
    boolean isMore = true;
    int rounds = 0;
    while (isMore) {
      if (++rounds > MOST_ROUNDS) {
        throw new IllegalStateException("the nodes turn and turn");
      }
      isMore = false;
      for (Node node : List.copyOf(all)) {
        node.step();
        while (node.doNext()) {
          isMore = true;
        }
        isMore |= !node.inputs.isEmpty() || Crank.isToStepAtOnce(node.loop);
      }
    }
  }

  void pass(Duration duration) {
    Instant end = now.plus(duration);
    while (true) {
      Instant wake = end;
      for (Node node : all) {
        Instant at = node.loop.nextWake().orElse(end);
        wake = at.isBefore(wake) ? at : wake;
      }
      if (!wake.isBefore(end)) {
        break;
      }
      boolean isLate = !wake.isAfter(now);
      now = isLate ? now.plusMillis(1) : wake;
      late = isLate ? late + 1 : 0;
      if (late > 10_000) {
        throw new IllegalStateException("the loops turn and turn");
      }
      turn();
    }
    now = end;
    turn();
  }

  /** Every node looks for what others have left, as it does each second. */
  void poll() {
    for (Node node : all) {
      node.inputs.add(new Input.Woken());
      learn(node);
    }
    turn();
  }

  /** A node is to read what others have changed. */
  void learn(Node node) {
    node.jobs.add(new Job(Kind.LEARN, node::learn));
  }
}
