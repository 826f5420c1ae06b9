package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.State;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Store.Original;
import dev.holdfast.core.port.Store.Originals;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.Remade;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: replays, of messages and of what was before a subscription. First what a replay is
 * of is counted; then new messages are made of it, a limited number at a time, each step in one
 * commit with how far the replay is, so that none is made twice whatever happens. Replays take
 * turns, and one step is under way at a time.
 */
final class Replays {
  private final Limits limits;
  private final RetrySchedule schedule;
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Loads loads;
  private final Spread spread;
  private final Commit commit;
  private final HandOver handOver;

  /** Whether other nodes accept events too. */
  private final boolean shared;

  /** Those that are not at their end, as they were last written or are being written. */
  private final Map<Long, Replay> running = new HashMap<>();

  private final Deque<Long> turns = new ArrayDeque<>();

  /** Those that wait until all that they are of is on disk. */
  private final Set<Long> settling = new LinkedHashSet<>();

  /** How many messages were counted, and how far, of those that are being counted. */
  private final Map<Long, Replay> counting = new HashMap<>();

  private boolean busy;

  /** The replay of which a step is being written, and who wants its end meanwhile. */
  private @Nullable Long writing;

  private final Deque<Cancelling> cancelling = new ArrayDeque<>();

  /** Histories of which it is not on disk yet where they end. */
  private final Set<Long> unbounded = new HashSet<>();

  /** The replay that something is being read of. */
  private Load.@Nullable OfReplay reading;

  /** Those whose end somebody has asked for and that is being written. */
  private final Set<Long> ending = new HashSet<>();

  /** When other nodes have written all that the first of those that settle is of. */
  private @Nullable Instant settlingUntil;

  /** When what could not be written is tried again. */
  private Instant retryAt = Instant.EPOCH;

  private record Cancelling(Actor by, Consumer<Answer> replyTo) {}

  Replays(
      Limits limits,
      RetrySchedule schedule,
      IdSource ids,
      Match match,
      Lanes lanes,
      Loads loads,
      Spread spread,
      Commit commit,
      HandOver handOver,
      boolean shared) {
    this.limits = limits;
    this.schedule = schedule;
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.loads = loads;
    this.spread = spread;
    this.commit = commit;
    this.handOver = handOver;
    this.shared = shared;
  }

  void start(Request.Replay request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    if (!isOf(request.tenant(), request.selection())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    Replay replay = Replay.of(ids.next(turn.now()), request.tenant(), request.selection());
    Deed deed = new Deed(by, turn.now(), replay.tenant(), new Deed.Replayed(replay));
    write(replay, List.of(), replyTo, List.of(deed));
  }

  /** Whether the tenant has what messages are chosen by. */
  private boolean isOf(String tenant, Replay.Selection selection) {
    if (selection.endpoint() != null) {
      Lane lane = lanes.get(selection.endpoint());
      if (lane == null || !lane.endpoint.tenant().equals(tenant)) {
        return false;
      }
    }
    if (selection.subscription() != null) {
      Subscription subscription = match.get(selection.subscription());
      return subscription != null && subscription.tenant().equals(tenant);
    }
    return true;
  }

  void cancel(Request.CancelReplay request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    if (!lanes.isOurs(request.replay())) {
      turn.reply(replyTo, new Answer.NotOurs(Shards.of(request.replay())));
      return;
    }
    Replay replay = running.get(request.replay());
    if (replay == null || !replay.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    if (writing != null && writing == replay.id()) {
      cancelling.add(new Cancelling(by, replyTo));
    } else {
      cancel(replay, by, replyTo, turn);
    }
  }

  private void cancel(Replay replay, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Deed deed = new Deed(by, turn.now(), replay.tenant(), new Deed.Cancelled(replay));
    ending.add(replay.id());
    write(replay.as(State.CANCELLED), List.of(), replyTo, List.of(deed));
  }

  /**
   * Goes on with a replay after a restart, or with the history of a subscription that is there now.
   * What is accepted from now on comes to that by itself: it is where its history ends. If a
   * restart came before this was on disk, the store leaves out what has come by itself.
   */
  void resume(Replay replay) {
    if (!lanes.isOurs(replay.id())) {
      return;
    }
    Replay bounded = replay.below() == null ? replay.bounded(ids.last() + 1) : replay;
    if (replay.below() == null) {
      unbounded.add(replay.id());
    }
    running.put(bounded.id(), bounded);
    turns.add(bounded.id());
  }

  /** Leaves what this node does not work on any more to the one that will. */
  void letGo() {
    running.keySet().removeIf(id -> !lanes.isOurs(id));
    turns.removeIf(id -> !lanes.isOurs(id));
    settling.removeIf(id -> !lanes.isOurs(id));
    counting.keySet().removeIf(id -> !lanes.isOurs(id));
    unbounded.removeIf(id -> !lanes.isOurs(id));
    Load.OfReplay read = reading;
    if (read != null && !lanes.isOurs(read.replay().id())) {
      loads.disown(load -> load.equals(read));
      reading = null;
      busy = false;
    }
  }

  /** Whether how far a replay in these shards is, or its end, is being written. */
  boolean isAbout(Shards shards) {
    return (writing != null && shards.has(writing)) || ending.stream().anyMatch(shards::has);
  }

  /** Everybody who waits for the end of a replay that nothing is being written of yet. */
  List<Consumer<Answer>> waiting() {
    return cancelling.stream().map(Cancelling::replyTo).toList();
  }

  /** How many subscriptions of a tenant are being brought what was before them. */
  int histories(String tenant) {
    int count = 0;
    for (Replay replay : running.values()) {
      count += replay.selection().isHistory() && replay.tenant().equals(tenant) ? 1 : 0;
    }
    return count;
  }

  /** Whether all that a replay may be of is where the store's reads find it. */
  private boolean isSettled(Replay replay, long firstPlanned, Turn turn) {
    if (!replay.selection().isHistory()) {
      return true;
    }
    long last = Objects.requireNonNull(replay.below()) - 1;
    if (shared) {
      Instant at = Id.time(last).plus(Limits.OTHERS_CATCH_UP);
      if (turn.now().isBefore(at)) {
        settlingUntil = settlingUntil == null || at.isBefore(settlingUntil) ? at : settlingUntil;
        return false;
      }
    }
    return loads.isAllLanded(last) && firstPlanned > last;
  }

  /** Gives those their turn that have waited for what is on disk now. */
  private void takeSettled(Turn turn) {
    if (settlingUntil != null && !turn.now().isBefore(settlingUntil)) {
      settlingUntil = null;
    }
    if (settling.isEmpty()) {
      return;
    }
    long firstPlanned = spread.firstPlanned();
    for (Iterator<Long> left = settling.iterator(); left.hasNext(); ) {
      Replay replay = running.get(left.next());
      if (replay == null) {
        left.remove();
      } else if (isSettled(replay, firstPlanned, turn)) {
        left.remove();
        turns.add(replay.id());
      }
    }
  }

  /** The next that can go on. */
  private @Nullable Replay next(Turn turn) {
    while (!turns.isEmpty()) {
      Replay replay = running.get(turns.remove());
      if (replay == null) {
        continue;
      }
      if (unbounded.contains(replay.id()) || isSettled(replay, spread.firstPlanned(), turn)) {
        return replay;
      }
      settling.add(replay.id());
    }
    return null;
  }

  void run(Turn turn) {
    takeSettled(turn);
    if (!mayRun() || turn.now().isBefore(retryAt)) {
      return;
    }
    retryAt = Instant.EPOCH;
    Replay replay = next(turn);
    if (replay == null) {
      return;
    }
    if (unbounded.remove(replay.id())) {
      Replay bounded = shared ? boundedByOthers(replay, turn) : replay;
      running.put(replay.id(), bounded);
      write(bounded, List.of());
    } else if (replay.total() == null) {
      Replay soFar = counting.getOrDefault(replay.id(), replay.counted(0));
      counting.put(replay.id(), soFar);
      read(soFar, Integer.MAX_VALUE, turn);
    } else {
      read(replay, limits.sweep(), turn);
    }
  }

  /**
   * What other nodes have accepted without knowing of the subscription has ids from before now, by
   * their clocks. What has come to it by itself until then is left out by the store.
   */
  private static Replay boundedByOthers(Replay replay, Turn turn) {
    long now = Id.floor(turn.now().plus(Limits.CLOCKS_APART));
    return replay.bounded(Math.max(Objects.requireNonNull(replay.below()), now));
  }

  private void read(Load.OfReplay load, Turn turn) {
    busy = true;
    reading = load;
    loads.start(load, turn);
  }

  private void read(Replay replay, int limit, Turn turn) {
    if (!replay.selection().isHistory()) {
      read(new Load.Originals(replay, limit), turn);
      return;
    }
    long subscription = Objects.requireNonNull(replay.selection().subscription());
    Subscription wanting = match.get(subscription);
    if (wanting == null) {
      counting.remove(replay.id());
      Replay ended = Objects.requireNonNull(running.get(replay.id())).as(State.CANCELLED);
      write(ended, List.of(), match.isUnheard(subscription));
    } else {
      read(new Load.Past(replay, wanting.interest(), limit), turn);
    }
  }

  private boolean mayRun() {
    return !busy && !turns.isEmpty() && loads.hasRoom() && commit.hasRoomForOutcomes();
  }

  /** Some of what a replay is of has been read. */
  void loaded(Load.OfReplay load, Originals found, Turn turn) {
    busy = false;
    reading = null;
    Replay replay = running.get(load.replay().id());
    if (replay == null) {
      return;
    }
    if (replay.total() == null) {
      counted(replay, found);
    } else {
      remake(replay, found, turn);
    }
  }

  /** Something that a replay is of could not be read: others go on, and it when its turn comes. */
  void notRead(Load.OfReplay load, Turn turn) {
    busy = false;
    reading = null;
    turns.add(load.replay().id());
    retryAt = turn.now().plus(limits.retryStoreAfter());
  }

  private void counted(Replay replay, Originals found) {
    Replay soFar = Objects.requireNonNull(counting.remove(replay.id()));
    long total = Objects.requireNonNull(soFar.total()) + found.originals().size();
    if (found.isEnd()) {
      write(replay.counted(total), List.of());
    } else {
      counting.put(replay.id(), soFar.counted(total).after(0, 0, found.through()));
      turns.add(replay.id());
    }
  }

  private void remake(Replay replay, Originals found, Turn turn) {
    List<Remade> made = new ArrayList<>(found.originals().size());
    int skipped = 0;
    boolean isIfAsKnown = false;
    for (Original original : found.originals()) {
      Subscription subscription = match.get(original.subscription());
      if (subscription == null || (original.replayed() && !replay.selection().again())) {
        skipped++;
        isIfAsKnown |= match.isUnheard(original.subscription());
      } else {
        made.add(new Remade(message(original, subscription, turn), original.message()));
      }
    }
    Replay after = replay.after(made.size(), skipped, found.through());
    if (made.isEmpty() && skipped == 0 && !found.isEnd()) {
      // Nothing to be written: what was looked at in vain would only be looked at again.
      running.put(replay.id(), after);
      turns.add(replay.id());
      return;
    }
    write(found.isEnd() ? after.as(State.DONE) : after, made, isIfAsKnown);
  }

  /** A new message, which is due now: among the retries, so that it goes behind what is new. */
  private Message message(Original original, Subscription subscription, Turn turn) {
    Message pending =
        Message.pending(
            ids.next(turn.now()),
            original.event(),
            subscription.id(),
            subscription.endpoint(),
            original.eventSize(),
            original.version());
    return schedule.replayed(pending, turn.now());
  }

  /** Nobody waits for it. */
  private void write(Replay replay, List<Remade> made) {
    write(replay, made, false);
  }

  /** Nobody waits for it; perhaps there is a subscription that is not known here. */
  private void write(Replay replay, List<Remade> made, boolean isIfAsKnown) {
    Commit.Entry entry = entry(replay, made, null, List.of());
    commit.add(isIfAsKnown ? entry.ifAsKnown() : entry);
  }

  private void write(
      Replay replay, List<Remade> made, @Nullable Consumer<Answer> replyTo, List<Deed> deeds) {
    commit.add(entry(replay, made, replyTo, deeds));
  }

  private Commit.Entry entry(
      Replay replay, List<Remade> made, @Nullable Consumer<Answer> replyTo, List<Deed> deeds) {
    if (!made.isEmpty()) {
      loads.accepting(made.getFirst().message().id(), made.getLast().message().id());
    }
    Replay before = running.get(replay.id());
    if (replay.state() != State.RUNNING) {
      running.remove(replay.id());
    } else if (before != null) {
      running.put(replay.id(), replay);
    }
    if (replyTo == null) {
      busy = true;
      writing = replay.id();
    }
    return new Commit.Entry(
        new Write.Progress(before, replay, made), null, null, replyTo, 1 + made.size(), 0, deeds);
  }

  /** How far a replay is, is on disk. */
  void written(Write.Progress write, @Nullable Consumer<Answer> replyTo, Turn turn) {
    landed(write, replyTo);
    Replay replay = write.replay();
    if (replay.state() != State.RUNNING) {
      running.remove(replay.id());
      counting.remove(replay.id());
      unbounded.remove(replay.id());
    } else if (replyTo != null && handOver.isOurs(replay.id())) {
      running.put(replay.id(), replay);
    }
    if (running.containsKey(replay.id())) {
      turns.add(replay.id());
    }
    if (replyTo != null) {
      turn.reply(replyTo, new Answer.ReplayIs(replay));
    } else {
      cancelNow(replay, turn);
    }
  }

  /** Ends a replay whose end was asked for while a step of it was being written. */
  private void cancelNow(Replay replay, Turn turn) {
    for (Cancelling asked = cancelling.poll(); asked != null; asked = cancelling.poll()) {
      Replay now = running.get(replay.id());
      if (!lanes.isOurs(replay.id())) {
        turn.reply(asked.replyTo(), new Answer.NotOurs(Shards.of(replay.id())));
      } else if (now == null) {
        turn.reply(asked.replyTo(), new Answer.NotFound());
      } else {
        cancel(now, asked.by(), asked.replyTo(), turn);
      }
    }
  }

  /** How far a replay is could not be written: it goes on a little later from where it was. */
  void notWritten(Write.Progress write, @Nullable Consumer<Answer> replyTo, Turn turn) {
    landed(write, replyTo);
    if (write.before() != null && lanes.isOurs(write.replay().id())) {
      boolean isOfItsEndOnly = write.before().equals(write.replay());
      if (isOfItsEndOnly) {
        unbounded.add(write.replay().id());
      }
      running.put(write.replay().id(), write.before());
      turns.add(write.replay().id());
      retryAt = turn.now().plus(limits.retryStoreAfter());
    }
    if (replyTo == null) {
      cancelNow(write.replay(), turn);
    }
  }

  private void landed(Write.Progress write, @Nullable Consumer<Answer> replyTo) {
    if (!write.made().isEmpty()) {
      loads.accepted(write.made().getFirst().message().id());
    }
    if (replyTo == null) {
      busy = false;
      writing = null;
    } else {
      ending.remove(write.replay().id());
    }
  }

  @Nullable Instant nextWake() {
    return mayRun() ? retryAt : settlingUntil;
  }
}
