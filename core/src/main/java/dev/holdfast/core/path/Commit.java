package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Third step: gathers writes into batches, one under way at a time.
 *
 * <p>Whatever has gathered while a batch was being written becomes the next one, so that one fsync
 * serves many at high load. Below that, where a fast disk would let each batch have next to nothing
 * in it, batches begin at least {@link Limits#batchEvery} apart; only one that waits for an answer
 * alone does not wait for company. Outcomes, which nobody waits for, do. An endpoint's health is
 * written once a batch, however often it has changed; what is recorded of its changes of state goes
 * with it, before anything that waited longer.
 *
 * <p>What somebody did goes with what it changes. What is set about an endpoint is on disk with the
 * next batch that has the endpoint, whatever becomes of the write that brought it, and so are deeds
 * about it.
 *
 * <p>A batch that the store refuses is split until the entry that it cannot keep stands alone. When
 * the disk is full, whoever waits for an answer is refused, and the outcomes of attempts are
 * written again until there is room. What another node has made stale is given up without an
 * answer: whoever asked for it asks again.
 */
final class Commit {
  private final Limits limits;
  private final Reserve reserve;
  private final WriteQueue queue = new WriteQueue();

  /** Events that were decided anew again and again: they go first, with nothing else. */
  private final WriteQueue hurried = new WriteQueue();

  private final Deque<List<Entry>> pieces = new ArrayDeque<>();
  private final Deque<Entry> changes = new ArrayDeque<>();
  private final Set<Lane> touched = new LinkedHashSet<>();

  /** Deeds that no write or endpoint brings. */
  private final Deque<Deed> done = new ArrayDeque<>();

  private List<Entry> underWay = List.of();
  private List<Touched> touchedUnderWay = List.of();
  private List<Deed> doneUnderWay = List.of();
  private boolean busy;
  private int unwritten;
  private long acceptingBytes;
  private Refused.@Nullable Why refusing;
  private @Nullable Instant retryAt;

  /** When the last batch was begun. */
  private Instant begunAt = Instant.MIN;

  /** Until when what has gathered waits for more; absent when nothing does. */
  private @Nullable Instant gatheringUntil;

  /** The shards that the node decides for, also while it lets them go. */
  private Shards ours;

  private Shards oursUnderWay = Shards.NONE;

  /** What the node has learned of what everyone knows; nobody else's store has no versions. */
  private long version;

  /**
   * The tenants of whom this node has changed something itself since then, with the version that
   * this made: nobody else had changed anything of theirs before.
   */
  private final Map<String, Long> made = new HashMap<>();

  /**
   * What it had learned when somebody set the oldest of what is set about a tenant's endpoints and
   * is not on disk.
   */
  private final Map<String, Long> settingsBasis = new HashMap<>();

  private final Map<String, Long> settingsBasisUnderWay = new HashMap<>();

  Commit(Limits limits, Reserve reserve, Shards ours, long version) {
    this.limits = limits;
    this.reserve = reserve;
    this.ours = ours;
    this.version = version;
  }

  /**
   * A write with what it is about.
   *
   * @param held the message that the write is about
   * @param lane the endpoint that the write is about
   * @param replyTo who waits for it
   * @param weight the rows that it takes
   * @param deeds what somebody did that comes to be with it, or not at all
   * @param basis the version of what everyone knows that it was decided by
   * @param isIfAsKnown whether it was decided so as no subscription is known that there may be
   */
  record Entry(
      Write write,
      @Nullable Held held,
      @Nullable Lane lane,
      @Nullable Consumer<Answer> replyTo,
      int weight,
      long bytes,
      List<Deed> deeds,
      long basis,
      boolean isIfAsKnown) {

    /** What does not depend on what everyone knows, or is not known to yet. */
    Entry(
        Write write,
        @Nullable Held held,
        @Nullable Lane lane,
        @Nullable Consumer<Answer> replyTo,
        int weight,
        long bytes,
        List<Deed> deeds) {
      this(write, held, lane, replyTo, weight, bytes, deeds, Long.MAX_VALUE, false);
    }

    /** What nobody in particular did. */
    Entry(
        Write write,
        @Nullable Held held,
        @Nullable Lane lane,
        @Nullable Consumer<Answer> replyTo,
        int weight,
        long bytes) {
      this(write, held, lane, replyTo, weight, bytes, List.of());
    }

    /** Whether another node's change of what everyone knows could make it another. */
    boolean isOfWhatIsKnown() {
      return isIfAsKnown || write instanceof Write.Accept || changesWhatIsKnown();
    }

    /** Whether it is itself such a change. */
    boolean changesWhatIsKnown() {
      return switch (write) {
        case Write.Subscribe _,
            Write.Import _,
            Write.Update _,
            Write.Unsubscribe _,
            Write.Forget _,
            Write.Configure _ ->
            true;
        case Write.Accept _,
            Write.Spread _,
            Write.Deliver _,
            Write.Retry _,
            Write.Park _,
            Write.Move _,
            Write.Drop _,
            Write.ChangeState _,
            Write.Progress _ ->
            false;
      };
    }

    Entry decidedBy(long known) {
      return new Entry(write, held, lane, replyTo, weight, bytes, deeds, known, isIfAsKnown);
    }

    /** The same, to be written only if nobody has made a subscription that is not known here. */
    Entry ifAsKnown() {
      return new Entry(write, held, lane, replyTo, weight, bytes, deeds, basis, true);
    }

    /** Who asked for it. */
    String tenant() {
      if (lane != null) {
        return lane.endpoint.tenant();
      }
      if (write instanceof Write.Import all) {
        return all.created().isEmpty()
            ? all.changed().getFirst().subscription().tenant()
            : all.created().getFirst().subscription().tenant();
      }
      if (write instanceof Write.Progress progress) {
        return progress.replay().tenant();
      }
      return write instanceof Write.Accept accept && !accept.events().isEmpty()
          ? accept.events().getFirst().event().tenant()
          : "";
    }

    /** Whether another node's changes have made it be decided anew again and again. */
    boolean isHurried() {
      return write instanceof Write.Accept
          && replyTo instanceof Input.Asked asked
          && asked.replyTo() instanceof Stale stale
          && stale.isHurried();
    }

    /** Whether it has to be decided anew when so have these tenants' entries, or everybody's. */
    boolean isStaleWith(Set<String> tenants) {
      return isOfWhatIsKnown() && (tenants.isEmpty() || tenants.contains(tenant()));
    }

    static Entry of(Write write, Held held) {
      return new Entry(write, held, held.lane, null, 1, 0);
    }

    static Entry of(Write write, Lane lane, @Nullable Consumer<Answer> replyTo) {
      return of(write, lane, replyTo, List.of());
    }

    static Entry of(Write write, Lane lane, @Nullable Consumer<Answer> replyTo, List<Deed> deeds) {
      return new Entry(write, null, lane, replyTo, 1, 0, deeds);
    }
  }

  /**
   * An endpoint that is being written.
   *
   * @param deeds what somebody has set about it
   */
  private record Touched(Lane lane, List<Deed> deeds) {}

  void add(Entry entry) {
    if (isChange(entry)) {
      changes.add(entry);
    } else {
      (entry.isHurried() ? hurried : queue)
          .add(
              version != Long.MAX_VALUE && entry.isOfWhatIsKnown()
                  ? entry.decidedBy(known(entry.tenant()))
                  : entry);
    }
    unwritten += entry.weight();
    acceptingBytes += entry.bytes();
  }

  /** The lane's health has changed and goes with the next batch. */
  void touch(Lane lane) {
    touched.add(lane);
  }

  /** Somebody has done what changes nothing on disk by itself; it is told soon. */
  void add(Deed deed) {
    done.add(deed);
  }

  /**
   * Somebody has set something about an endpoint, or its state: it and the deed are on disk
   * together, with the next batch, or with the one that brings the endpoint itself.
   */
  void add(Deed deed, Lane lane) {
    if (lane.deeds.isEmpty()) {
      lane.deeds = new ArrayList<>();
    }
    lane.deeds.add(deed);
    touched.add(lane);
    if (deed.what() instanceof Deed.Configured) {
      String tenant = lane.endpoint.tenant();
      settingsBasis.merge(tenant, known(tenant), Math::min);
    }
  }

  /** The node has learned what everyone knows up to this version. */
  void learned(long upTo) {
    version = upTo;
    made.values().removeIf(change -> change <= upTo);
  }

  /** Up to which version the node knows what is a tenant's. */
  private long known(String tenant) {
    return Math.max(version, made.getOrDefault(tenant, 0L));
  }

  /** The node decides for other shards from now on. */
  void decideFor(Shards shards) {
    ours = shards;
  }

  Shards ours() {
    return ours;
  }

  /** Whether a batch is under way that was made when the node decided for any of these shards. */
  boolean isUnderWayFor(Shards shards) {
    return busy && oursUnderWay.hasAny(shards);
  }

  /** Whether a change of an endpoint in these shards is not on disk yet. */
  boolean isAbout(Shards shards) {
    return touched.stream().anyMatch(lane -> shards.has(lane.endpoint.id()))
        || touchedUnderWay.stream().anyMatch(one -> shards.has(one.lane().endpoint.id()))
        || changes.stream().anyMatch(entry -> isAbout(entry, shards))
        || underWay.stream().anyMatch(entry -> isChange(entry) && isAbout(entry, shards));
  }

  private static boolean isAbout(Entry entry, Shards shards) {
    return entry.lane() != null && shards.has(entry.lane().endpoint.id());
  }

  /** Something is set no longer that is not on disk yet. */
  void forgotSettings() {
    Set<String> tenants = new HashSet<>();
    configured().forEach(lane -> tenants.add(lane.endpoint.tenant()));
    settingsBasis.keySet().retainAll(tenants);
  }

  /** The lanes about which something is set that is not on disk yet. */
  List<Lane> configured() {
    return touched.stream().filter(Commit::isConfigured).toList();
  }

  /** Whether somebody has set something about a lane that is not on disk yet. */
  boolean isConfiguring(Lane lane) {
    return isConfigured(lane)
        || touchedUnderWay.stream()
            .anyMatch(one -> one.lane() == lane && hasConfigured(one.deeds()));
  }

  private static boolean isConfigured(Lane lane) {
    return hasConfigured(lane.deeds);
  }

  private static boolean hasConfigured(List<Deed> deeds) {
    for (Deed deed : deeds) {
      if (deed.what() instanceof Deed.Configured) {
        return true;
      }
    }
    return false;
  }

  /** Everybody who waits for something to be written, whom nobody else will answer. */
  List<Consumer<Answer>> waiting() {
    List<Consumer<Answer>> waiting = new ArrayList<>();
    List<Entry> all = new ArrayList<>(underWay);
    pieces.forEach(all::addAll);
    hurried.removeIf(all::add);
    queue.removeIf(all::add);
    all.addAll(changes);
    for (Entry entry : all) {
      if (entry.replyTo() != null) {
        waiting.add(entry.replyTo());
      }
    }
    return waiting;
  }

  /** Such deeds are undone: returns whether that need not be written down, as they were not yet. */
  boolean forget(List<Deed> undone, Lane lane) {
    return !lane.deeds.isEmpty() && lane.deeds.removeAll(undone);
  }

  /** The endpoint is not going to be on disk. */
  void forget(Lane lane) {
    touched.remove(lane);
    lane.deeds = List.of();
  }

  /** Hands the next batch to the store, if none is under way. */
  void start(Turn turn) {
    gatheringUntil = null;
    if (busy || (retryAt != null && turn.now().isBefore(retryAt))) {
      return;
    }
    retryAt = null;
    if (mayGather()) {
      Instant until = begunAt.plus(limits.batchEvery());
      if (turn.now().isBefore(until)) {
        gatheringUntil = until;
        return;
      }
    }
    List<Entry> next = hurried.isEmpty() ? pieces.poll() : gather(hurried);
    if (next == null) {
      next = gather(queue);
    }
    next.addAll(changes);
    changes.clear();
    List<Write> writes = new ArrayList<>(next.size());
    for (Entry entry : next) {
      writes.add(entry.write());
      if (entry.lane() != null && bringsItsEndpoint(entry, entry.lane())) {
        touched.add(entry.lane());
      }
    }
    takeTouched(next);
    doneUnderWay = List.copyOf(done);
    done.clear();
    if (next.isEmpty() && touchedUnderWay.isEmpty() && doneUnderWay.isEmpty()) {
      refusing = null;
      return;
    }
    List<Endpoint> endpoints = new ArrayList<>(touchedUnderWay.size());
    List<Deed> deeds = new ArrayList<>(0);
    for (Touched one : touchedUnderWay) {
      endpoints.add(one.lane().endpoint);
      deeds.addAll(one.deeds());
    }
    deeds.addAll(doneUnderWay);
    for (Entry entry : next) {
      if (!entry.deeds().isEmpty()) {
        deeds.addAll(entry.deeds());
      }
    }
    deeds.sort(Comparator.comparing(Deed::at));
    underWay = next;
    oursUnderWay = ours;
    busy = true;
    begunAt = turn.now();
    turn.effect(new Effect.Commit(new Batch(writes, endpoints, deeds, ours, basis(next))));
  }

  /** Whether there is something that can wait for more to come. */
  private boolean mayGather() {
    return !isIdle() && pieces.isEmpty() && hurried.isEmpty() && awaited() != 1;
  }

  /** How many wait for an answer. */
  private int awaited() {
    int awaited = queue.awaited();
    for (Entry change : changes) {
      awaited += change.replyTo() == null ? 0 : 1;
    }
    return awaited;
  }

  /** For each tenant, by which version of what everyone knows the oldest of it was decided. */
  private Map<String, Long> basis(List<Entry> next) {
    if (version == Long.MAX_VALUE) {
      return Map.of();
    }
    Map<String, Long> basis = new HashMap<>();
    for (Entry entry : next) {
      if (entry.isOfWhatIsKnown()) {
        basis.merge(entry.tenant(), entry.basis(), Math::min);
      }
    }
    for (Touched one : touchedUnderWay) {
      Long set = settingsBasis.get(one.lane().endpoint.tenant());
      if (set != null && hasConfigured(one.deeds())) {
        settingsBasisUnderWay.put(one.lane().endpoint.tenant(), set);
        basis.merge(one.lane().endpoint.tenant(), set, Math::min);
      }
    }
    if (!settingsBasisUnderWay.isEmpty()) {
      forgotSettings();
    }
    return basis;
  }

  /** All but those whose endpoint the store has not and does not get now: they wait for it. */
  private void takeTouched(List<Entry> next) {
    List<Touched> taken = new ArrayList<>(touched.size());
    Iterator<Lane> lanes = touched.iterator();
    while (lanes.hasNext()) {
      Lane lane = lanes.next();
      if (lane.stored || isBrought(lane.endpoint.id(), next)) {
        taken.add(new Touched(lane, lane.deeds));
        lane.deeds = List.of();
        lanes.remove();
      }
    }
    touchedUnderWay = taken;
  }

  private static boolean isBrought(long endpoint, List<Entry> entries) {
    for (Entry entry : entries) {
      boolean brings =
          switch (entry.write()) {
            case Write.Subscribe write -> is(endpoint, write.newEndpoint());
            case Write.Update write -> is(endpoint, write.newEndpoint());
            case Write.Import write ->
                write.created().stream().anyMatch(one -> is(endpoint, one.newEndpoint()))
                    || write.changed().stream().anyMatch(one -> is(endpoint, one.newEndpoint()));
            default -> false;
          };
      if (brings) {
        return true;
      }
    }
    return false;
  }

  private static boolean is(long id, @Nullable Endpoint endpoint) {
    return endpoint != null && endpoint.id() == id;
  }

  /** Whether what was set about an endpoint has to be on disk when the entry is. */
  private static boolean bringsItsEndpoint(Entry entry, Lane lane) {
    return entry.write() instanceof Write.Configure
        || (entry.write() instanceof Write.Subscribe
            && (lane.endpoint.rateLimit() != null || lane.endpoint.tls() != null));
  }

  private List<Entry> gather(WriteQueue line) {
    List<Entry> gathered = new ArrayList<>(Math.min(line.size(), limits.batchWrites()));
    int weight = 0;
    long bytes = 0;
    while (weight < limits.batchWrites() && bytes < limits.batchBytes()) {
      Entry entry = line.poll();
      if (entry == null) {
        break;
      }
      weight += entry.weight();
      bytes += entry.bytes();
      gathered.add(entry);
    }
    return gathered;
  }

  private void made(String tenant, long change) {
    if (change > version) {
      made.put(tenant, change);
    }
  }

  /**
   * The batch under way is on disk: returns its entries.
   *
   * @param change the version that it made of what everyone knows; 0 if it changed nothing of it
   */
  List<Entry> landed(long change) {
    List<Entry> landed = underWay;
    for (Touched one : touchedUnderWay) {
      if (hasConfigured(one.deeds())) {
        one.lane().learned = null;
        made(one.lane().endpoint.tenant(), change);
      }
    }
    for (Entry entry : landed) {
      if (entry.changesWhatIsKnown()) {
        made(entry.tenant(), change);
      }
    }
    settingsBasisUnderWay.clear();
    clearUnderWay();
    refusing = null;
    for (Entry entry : landed) {
      written(entry);
    }
    return landed;
  }

  /**
   * Nothing of the batch under way is on disk: returns the entries that are given up.
   *
   * @param tenants whose entries have to be decided anew; nobody if it may be everybody's
   */
  List<Entry> failed(StoreException.Kind kind, Set<String> tenants, Turn turn) {
    List<Entry> failed = underWay;
    for (Touched one : touchedUnderWay) {
      touched.add(one.lane());
      if (!one.deeds().isEmpty()) {
        one.deeds().addAll(one.lane().deeds);
        one.lane().deeds = one.deeds();
      }
    }
    doneUnderWay.reversed().forEach(done::addFirst);
    settingsBasisUnderWay.forEach((tenant, basis) -> settingsBasis.merge(tenant, basis, Math::min));
    settingsBasisUnderWay.clear();
    clearUnderWay();
    List<Entry> givenUp =
        switch (kind) {
          case REFUSED -> split(failed, turn);
          case FULL -> keepOutcomes(failed, Refused.Why.STORE_FULL, turn);
          case AWAY -> keepOutcomes(failed, Refused.Why.STORE_AWAY, turn);
          case STALE -> keepWhatHolds(failed, tenants);
          case FENCED, BROKEN -> List.of();
        };
    for (Entry entry : givenUp) {
      written(entry);
    }
    return givenUp;
  }

  private List<Entry> split(List<Entry> failed, Turn turn) {
    if (failed.isEmpty()) {
      // Only endpoints' counts, which stay to be written: the same at once would fail for ever.
      retryAt = turn.now().plus(limits.retryStoreAfter());
      return failed;
    }
    if (failed.stream().allMatch(Commit::isChange)) {
      return failed;
    }
    List<Entry> others = withoutChanges(failed);
    if (others.size() == 1) {
      return others;
    }
    int half = others.size() / 2;
    pieces.addFirst(new ArrayList<>(others.subList(half, others.size())));
    pieces.addFirst(new ArrayList<>(others.subList(0, half)));
    return List.of();
  }

  /** Takes the changes of state out of a batch that failed: they go with the next one. */
  private List<Entry> withoutChanges(List<Entry> failed) {
    List<Entry> others = new ArrayList<>();
    List<Entry> again = new ArrayList<>();
    for (Entry entry : failed) {
      (isChange(entry) ? again : others).add(entry);
    }
    again.reversed().forEach(changes::addFirst);
    return others;
  }

  private static boolean isChange(Entry entry) {
    return entry.write() instanceof Write.ChangeState;
  }

  /** Gives up what may be another now that other nodes have changed something. */
  private List<Entry> keepWhatHolds(List<Entry> failed, Set<String> tenants) {
    List<Entry> givenUp = new ArrayList<>();
    List<Entry> holding = new ArrayList<>();
    for (Entry one : withoutChanges(failed)) {
      (one.isStaleWith(tenants) ? givenUp : holding).add(one);
    }
    hurried.removeIf(entry -> entry.isStaleWith(tenants) && givenUp.add(entry));
    pieces.forEach(
        piece -> piece.removeIf(entry -> entry.isStaleWith(tenants) && givenUp.add(entry)));
    pieces.removeIf(List::isEmpty);
    queue.removeIf(entry -> entry.isStaleWith(tenants) && givenUp.add(entry));
    if (!holding.isEmpty()) {
      pieces.addFirst(holding);
    }
    return givenUp;
  }

  private List<Entry> keepOutcomes(List<Entry> failed, Refused.Why why, Turn turn) {
    refusing = why;
    retryAt = turn.now().plus(limits.retryStoreAfter());
    List<Entry> givenUp = new ArrayList<>();
    List<Entry> kept = new ArrayList<>();
    for (Entry entry : withoutChanges(failed)) {
      (entry.replyTo() != null ? givenUp : kept).add(entry);
    }
    // All that waits is given up, in its order: a later change is made of those before it.
    pieces.forEach(piece -> piece.removeIf(entry -> entry.replyTo() != null && givenUp.add(entry)));
    pieces.removeIf(List::isEmpty);
    hurried.removeIf(entry -> entry.replyTo() != null && givenUp.add(entry));
    queue.removeIf(entry -> entry.replyTo() != null && givenUp.add(entry));
    giveUpWaiting(givenUp);
    if (!kept.isEmpty()) {
      pieces.addFirst(kept);
    }
    return givenUp;
  }

  /** Changes of state have happened and stay to be recorded, but nobody waits for that. */
  private void giveUpWaiting(List<Entry> givenUp) {
    for (int left = changes.size(); left > 0; left--) {
      Entry change = changes.remove();
      if (change.replyTo() != null) {
        givenUp.add(change);
        add(new Entry(change.write(), null, change.lane(), null, change.weight(), 0));
      } else {
        changes.add(change);
      }
    }
  }

  private void clearUnderWay() {
    underWay = List.of();
    touchedUnderWay = List.of();
    doneUnderWay = List.of();
    busy = false;
  }

  private void written(Entry entry) {
    unwritten -= entry.weight();
    acceptingBytes -= entry.bytes();
  }

  /** Why nothing could be written the last time; absent when it could. */
  Refused.@Nullable Why refusing() {
    return refusing;
  }

  boolean isIdle() {
    return !busy
        && queue.isEmpty()
        && hurried.isEmpty()
        && pieces.isEmpty()
        && changes.isEmpty()
        && touched.isEmpty()
        && done.isEmpty();
  }

  boolean hasRoomForOutcomes() {
    return refusing == null && reserve.allowsAttempts() && unwritten() < limits.unwritten();
  }

  boolean hasRoomFor(long bytes) {
    return acceptingBytes + bytes <= limits.acceptingBytes() && unwritten() < limits.unwritten();
  }

  int unwritten() {
    return unwritten + done.size();
  }

  long acceptingBytes() {
    return acceptingBytes;
  }

  @Nullable Instant nextWake() {
    return retryAt == null ? gatheringUntil : retryAt;
  }
}
