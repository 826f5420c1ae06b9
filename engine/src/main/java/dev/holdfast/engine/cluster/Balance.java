package dev.holdfast.engine.cluster;

import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.postgres.Holders;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles which shards a node has: takes out nodes that have gone, claims the node's share, takes
 * it in, and gives back what is above it. One thread settles; others may look and let go.
 *
 * <p>A node that cannot take in what it has claimed, since it cannot read it, would keep it from
 * everybody. So it gives that back and rests: it says so to the others, which share everything
 * without it, and after a while it tries again with one shard. Each time that fails it rests
 * longer.
 */
final class Balance implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Balance.class);

  /** How often a node looks that nobody has told anything. */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  /** While a node that is to be taken out is writing. */
  private static final Duration BETWEEN_TAKE_OVERS = Duration.ofMillis(50);

  private static final int MOST_TAKE_OVERS = 8;

  /** How many shards are given back at a time: only they pause. */
  private static final int MOST_RELEASED = 16;

  /** How many shards are taken in at a time. */
  private static final int MOST_GAINED = 64;

  /** For how many leases a node rests at first that could not take in what it had claimed. */
  private static final int FIRST_REST = 4;

  private static final int LONGEST_REST = 64;

  private static final Duration TRY_AGAIN = Duration.ofMillis(250);
  private static final Duration TELL_EVERY = Duration.ofMinutes(1);

  private final Reading reading;
  private final Link balancing;
  private final Duration lease;
  private final LongSupplier nanos;
  private final Host host;
  private final Sightings sightings;

  /** What the path has let go of and others may have. */
  private final AtomicReference<Shards> letGo = new AtomicReference<>(Shards.NONE);

  /** The shards that the path has, or is about to have: what is told about others is not for it. */
  private volatile Shards held = Shards.NONE;

  private volatile int live = 1;
  private Shards releasing = Shards.NONE;

  /** The node's shards as they were last seen, each with its epoch. */
  private SortedMap<Integer, Long> epochs = new TreeMap<>();

  /** The epochs of what is held. */
  private final Map<Integer, Long> heldSince = new HashMap<>();

  /** How many shards to take in at a time: fewer after it failed. */
  private int mostGained = MOST_GAINED;

  /** The shard that is taken in next, or the first one behind it. */
  private int nextGained;

  /** Since when nothing can be taken in. */
  private @Nullable Long failingNanos;

  /** Until when the node rests; absent when it takes its share. */
  private volatile @Nullable Long restingNanos;

  /** How many leases the last rest was; none when something was taken in since. */
  private int leasesOfRest;

  private @Nullable Long toldNanos;

  /** Reads what is in shards that are the node's. */
  @FunctionalInterface
  interface Reading {
    Holdings holdings(Shards shards) throws StoreException;
  }

  /** The node whose shards these are. */
  interface Host {
    /** Learns what others have changed until now; the path knows it when this returns. */
    void learn() throws StoreException;

    /** Gives the path an input. */
    void put(Input input);

    /** The path has more shards: something may have been left for them. */
    void gained();

    /** The node rests from now on, or no longer, and others are to hear of it. */
    void restChanged();

    /** Wakes the other nodes: there may be shards for them. */
    void tell();

    /** Whether the node is about to stop, and takes no more shards. */
    boolean isStopping();

    /** Waits; true when the node is to end. */
    boolean pause(Duration pause);
  }

  /**
   * @param nanos nanoseconds from any origin, which nobody can change
   */
  Balance(Reading reading, Connecting connecting, Duration lease, LongSupplier nanos, Host host) {
    this.reading = reading;
    this.balancing = new Link(connecting);
    this.lease = lease;
    this.nanos = nanos;
    this.host = host;
    this.sightings = new Sightings(lease);
  }

  /** The shards that the path has, or is about to have. */
  Shards held() {
    return held;
  }

  /** How many nodes there are, with this one. */
  int live() {
    return live;
  }

  /** Whether the node takes no shards at the moment, as it cannot read them. */
  boolean isResting() {
    return restingNanos != null;
  }

  /** The path has let go of shards, and all of that is on disk. */
  void letGo(Shards shards) {
    letGo.accumulateAndGet(shards, Shards::plus);
  }

  /** The node is another from now on, and has nothing. */
  void beginAnew() {
    held = Shards.NONE;
    releasing = Shards.NONE;
    epochs = new TreeMap<>();
    heldSince.clear();
    letGo.set(Shards.NONE);
  }

  /** Gives back everything and takes part no longer. */
  void leave(long node) throws SQLException {
    balancing.run(
        connection -> {
          Leases.leave(connection, node);
          return true;
        });
  }

  /** Settles what is to be settled, and says how long there is nothing to do. */
  Duration settle(long node) throws SQLException, StoreException {
    giveBack(node);
    Leases.Seen seen = balancing.look(connection -> Leases.look(connection, node));
    List<Leases.Other> over = sightings.over(seen.others(), nanos.getAsLong());
    if (host.isStopping()) {
      return LOOK_EVERY;
    }
    if (!over.isEmpty()) {
      seen = takeOver(node, over);
    }
    if (seen.isOrphaned()) {
      balancing.run(
          connection -> {
            Leases.freeOrphans(connection, lease);
            return true;
          });
    }
    live = seen.nodes();
    epochs = seen.mine();
    checkHeld();
    int share = Math.ceilDiv(Shards.COUNT, seen.sharing());
    Duration pause = take(node, share - epochs.size(), seen);
    release(epochs.size() - share);
    return pause;
  }

  /** Another may decide for a shard that is not this node's any more: nothing here is certain. */
  private void checkHeld() throws StoreException {
    long lost =
        held.numbers().stream()
            .filter(shard -> !Objects.equals(heldSince.get(shard), epochs.get(shard)))
            .count();
    if (lost > 0) {
      String detail = lost + " shards have become another's, or were";
      throw new StoreException(StoreException.Kind.FENCED, detail, new SQLException(detail));
    }
  }

  private Shards mine() {
    return Shards.of(epochs.keySet());
  }

  /** Claims what is wanted and takes in what the node has; how long there is nothing to do. */
  private Duration take(long node, int wanted, Leases.Seen seen)
      throws SQLException, StoreException {
    Long restsUntil = restingNanos;
    if (restsUntil != null && nanos.getAsLong() - restsUntil < 0) {
      return untilNextIsOver(seen);
    }
    try {
      boolean isClaiming = wanted > 0 && !seen.free().isEmpty();
      if (isClaiming || restsUntil != null) {
        // A node that cannot learn can take in nothing.
        host.learn();
      }
      if (restsUntil != null) {
        restingNanos = null;
        host.restChanged();
      }
      if (isClaiming) {
        int most = leasesOfRest > 0 ? 1 : wanted;
        epochs.putAll(balancing.run(connection -> Leases.claim(connection, node, most)));
      }
      boolean isMore = gain(mine().minus(held));
      return isMore ? Duration.ZERO : untilNextIsOver(seen);
    } catch (StoreException e) {
      mostGained = Math.max(1, mostGained / 2);
      switch (e.kind()) {
        case REFUSED, STALE -> failed(node, e);
        case AWAY, FULL, FENCED, BROKEN -> throw e;
      }
    } catch (RuntimeException e) {
      mostGained = Math.max(1, mostGained / 2);
      failed(node, e);
    }
    return TRY_AGAIN;
  }

  /**
   * What cannot be taken in for a lease, nor less of it at a time, is given to others; after a
   * rest, at once.
   */
  private void failed(long node, Exception cause) throws SQLException {
    long now = nanos.getAsLong();
    Long since = failingNanos;
    if (since == null) {
      failingNanos = now;
      since = now;
    }
    Shards lacking = mine().minus(held);
    if (toldNanos == null || now - toldNanos >= TELL_EVERY.toNanos()) {
      toldNanos = now;
      log.warn(
          "node.not-gained shards={} detail=\"{}\" next=\"trying again; if it does not work for a"
              + " lease, others take them: make sure that this server has every key in use and"
              + " reads the database as the others do\"",
          lacking.size(),
          cause.getMessage(),
          cause);
    }
    if (leasesOfRest > 0 || (mostGained == 1 && now - since >= lease.toNanos())) {
      give(node, lacking);
      rest(now, lacking);
    }
  }

  private void rest(long now, Shards given) {
    leasesOfRest = Math.clamp(2L * leasesOfRest, FIRST_REST, LONGEST_REST);
    Duration rest = lease.multipliedBy(leasesOfRest);
    restingNanos = now + rest.toNanos();
    failingNanos = null;
    log.warn(
        "node.resting shards={} held={} for={}s next=\"others take the shards that it has given"
            + " back; then it tries to take one again\"",
        given.size(),
        held.size(),
        rest.toSeconds());
    host.restChanged();
    host.tell();
  }

  /** Makes shards anybody's, if they are still this node's as it has them. */
  private void give(long node, Shards shards) throws SQLException {
    SortedMap<Integer, Long> given = new TreeMap<>(epochs);
    given.keySet().retainAll(shards.numbers());
    balancing.run(
        connection -> {
          Leases.release(connection, node, given);
          return true;
        });
    epochs.keySet().removeAll(shards.numbers());
  }

  private Duration untilNextIsOver(Leases.Seen seen) {
    Duration next = sightings.next(seen.others(), nanos.getAsLong()).plusMillis(5);
    return next.compareTo(LOOK_EVERY) < 0 ? next : LOOK_EVERY;
  }

  /** Takes out nodes; if something of one is in the way and does not end, that is ended. */
  private Leases.Seen takeOver(long node, List<Leases.Other> over) throws SQLException {
    Set<Long> ends = over.stream().map(Leases.Other::expiresMicros).collect(Collectors.toSet());
    Set<Long> ids = over.stream().map(Leases.Other::id).collect(Collectors.toSet());
    List<Leases.Other> left = over;
    for (int tries = 1; ; tries++) {
      expire(left);
      Leases.Seen seen = balancing.look(connection -> Leases.look(connection, node));
      left =
          seen.others().stream()
              .filter(one -> ids.contains(one.id()) && ends.contains(one.expiresMicros()))
              .toList();
      if (left.isEmpty() || tries == MOST_TAKE_OVERS || host.pause(BETWEEN_TAKE_OVERS)) {
        return seen;
      }
      if (tries > 1) {
        endHolders(left);
      }
    }
  }

  private void endHolders(List<Leases.Other> others) throws SQLException {
    for (Leases.Other one : others) {
      balancing.run(
          connection -> {
            Holders.endGone(connection, one.id());
            return true;
          });
    }
  }

  private void expire(List<Leases.Other> over) throws SQLException {
    List<Leases.Gone> gone = balancing.run(connection -> Leases.expire(connection, over));
    for (Leases.Gone one : gone) {
      log.warn(
          "node.expired node={} name={} shards={} next=\"others take over what it had\"",
          one.id(),
          one.name(),
          one.shards());
    }
    if (!gone.isEmpty()) {
      host.tell();
    }
  }

  /** Takes in some shards that are this node's; whether there are more. */
  private boolean gain(Shards lacking) throws StoreException {
    if (lacking.isEmpty()) {
      return false;
    }
    Shards some = next(lacking);
    Holdings holdings = reading.holdings(some);
    checkComplete(holdings);
    host.learn();
    mostGained = Math.min(MOST_GAINED, mostGained * 2);
    failingNanos = null;
    leasesOfRest = 0;
    some.numbers().forEach(shard -> heldSince.put(shard, epochs.get(shard)));
    held = held.plus(some);
    host.put(new Input.Gained(some, holdings));
    log.info("node.gained shards={} held={}", some.size(), held.size());
    host.gained();
    return lacking.size() > some.size();
  }

  /** Some that were not tried just now, so that one that cannot be read stops no others. */
  private Shards next(Shards lacking) {
    List<Integer> numbers = lacking.numbers();
    List<Integer> ahead = numbers.stream().filter(number -> number >= nextGained).toList();
    List<Integer> some = (ahead.isEmpty() ? numbers : ahead).stream().limit(mostGained).toList();
    nextGained = some.getLast() + 1;
    return Shards.of(some);
  }

  /** A message whose endpoint is not there would never be tried. */
  private static void checkComplete(Holdings holdings) throws StoreException {
    Set<Long> missing = new TreeSet<>(holdings.unfinished().keySet());
    holdings.endpoints().forEach(endpoint -> missing.remove(endpoint.id()));
    if (!missing.isEmpty()) {
      throw SqliteStore.missing("endpoints of unfinished messages", missing);
    }
  }

  private void release(int above) {
    if (above > 0 && releasing.isEmpty()) {
      releasing = last(held, Math.min(above, MOST_RELEASED));
      host.put(new Input.Release(releasing));
    }
  }

  private void giveBack(long node) throws SQLException {
    Shards done = letGo.get();
    if (done.isEmpty()) {
      return;
    }
    give(node, done);
    heldSince.keySet().removeAll(done.numbers());
    letGo.updateAndGet(all -> all.minus(done));
    held = held.minus(done);
    releasing = releasing.minus(done);
    log.info("node.released shards={} held={}", done.size(), held.size());
    host.tell();
  }

  private static Shards last(Shards shards, int most) {
    List<Integer> numbers = shards.numbers();
    return Shards.of(numbers.subList(Math.max(0, numbers.size() - most), numbers.size()));
  }

  @Override
  public void close() {
    balancing.close();
  }
}
