package dev.holdfast.engine.cluster;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.SharedStore;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.EndpointReads;
import dev.holdfast.engine.store.postgres.SqlStates;
import io.vertx.core.json.JsonObject;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node among others: keeps its lease, takes its share of the shards and gives back what is above
 * it, takes over from nodes that have gone, and hears what others have left for it.
 *
 * <p>The lease is renewed by a thread with a connection of its own, which waits for nothing else.
 * Another thread settles who has which shards. What is read of the store for the path is read
 * beside both.
 */
public final class Cluster implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Cluster.class);

  /** How often the lease is renewed in its time. */
  private static final int RENEWALS = 5;

  /** From the last moment that an attempt may end to the end of the lease. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  /** The net under all that is told: how often each node looks by itself. */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private static final Duration TRY_AGAIN = Duration.ofMillis(250);

  private static final String ROW_GONE = "the node's row is gone";

  private static final Duration TELL_EVERY = Duration.ofMinutes(1);

  /** For how many leases a node goes on that cannot read what others have changed. */
  private static final int UNLEARNED_LEASES = 2;

  /** By how much the time may be ahead of the database's before it runs slower. */
  private static final Duration CLOCK_TOLERANCE = Duration.ofMillis(100);

  private final SharedStore store;
  private final Seat seat;
  private final Settings settings;
  private final InstantSource wall;
  private final DatabaseClock measured;
  private final InstantSource clock;
  private final LoopMaker maker;
  private final Link renewing;
  private final Balance balance;
  private final Link looking;
  private final Wakeups wakeups;
  private final Calls calls;
  private final Learning learning;
  private final ScheduledExecutorService poll =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("holdfast-poll").daemon().factory());
  private final Thread renewer =
      Thread.ofPlatform().name("holdfast-lease").daemon().unstarted(this::renewAll);
  private final Thread balancer =
      Thread.ofPlatform().name("holdfast-balance").daemon().unstarted(this::balanceAll);
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Semaphore renewSoon = new Semaphore(0);
  private final Object wake = new Object();

  /**
   * In which shards something may have arrived since they were looked into: what was told of, and
   * all of them now and then.
   */
  private final AtomicReference<Shards> toldOf = new AtomicReference<>(Shards.ALL);

  private final LongAdder arrived = new LongAdder();
  private final LongAdder handedOver = new LongAdder();
  private final LongAdder fences = new LongAdder();

  private volatile @Nullable Path path;

  private volatile boolean isAway;
  private volatile long awayNanos;
  private volatile boolean isFenced;

  /** Whether the node has a row to renew, as far as it knows; also while it begins anew. */
  private volatile boolean isSeated = true;

  private volatile boolean isStopping;
  private volatile Renewal renewal;
  private volatile @Nullable Gauges gauges;

  /** Guarded by {@link #wake}. */
  private boolean isWoken;

  private final AtomicBoolean isLearning = new AtomicBoolean();
  private final AtomicBoolean isAwaitingNews = new AtomicBoolean();
  private final AtomicReference<Instant> toldUnlearned = new AtomicReference<>(Instant.MIN);

  /** What the path knew when it began. */
  private long begunAt;

  /**
   * How a node takes part.
   *
   * @param lease how long it keeps its shards when it is not heard of
   * @param timeout how long an attempt may take
   * @param listens whether others can wake it; without, it finds everything by looking
   */
  public record Settings(Duration lease, Duration timeout, boolean listens) {}

  /** When the lease was last asked for: the database's is not over before. */
  private record Renewal(long sentNanos, Instant sentAt) {}

  /** A node's place among the others. */
  public interface Seat {
    /** Never used again. */
    long node();

    /** When it was asked for, by the monotonic clock: its first lease runs from then on. */
    long askedNanos();

    /** The node's number in the ids that it gives out. */
    int slot();

    /** What everyone knows, for a node that has no shards. */
    Snapshot beginning() throws StoreException;

    /** Takes part as a new node, since others have taken over from the old one. */
    void takeNew() throws StoreException;
  }

  /** Makes what decides, as it is when it has no shards. */
  @FunctionalInterface
  public interface LoopMaker {
    /** Makes one for the node with this number in its ids. */
    Loop make(int slot, Snapshot snapshot);
  }

  /** The node's own path of messages. */
  public interface Path {
    /** Takes an input, from any thread. */
    void put(Input input);

    /** Asks the path, from any thread. */
    void ask(Request request, Actor by, Consumer<Answer> replyTo);

    /** What is on disk cannot be vouched for: the process has to end. */
    void breakDown(Throwable cause);

    /** Ends what decides: whoever waits is refused. */
    void abandon();

    /** Runs something when nothing of what was abandoned is written any more. */
    void whenQuiet(Runnable task);

    /** Goes on with this instead of what was abandoned. */
    void begin(Loop loop);

    /** Looks at the path, and tells what was seen. */
    void count(Consumer<Gauges> seen);
  }

  /**
   * @param connecting makes connections beside the store's
   * @param wall this machine's time
   * @param measured the database's
   * @param clock the same, as the path goes by it
   */
  public Cluster(
      SharedStore store,
      Seat seat,
      Connecting connecting,
      EndpointReads endpoints,
      History history,
      Settings settings,
      InstantSource wall,
      DatabaseClock measured,
      InstantSource clock,
      LoopMaker maker) {
    this.store = store;
    this.seat = seat;
    this.settings = settings;
    this.wall = wall;
    this.measured = measured;
    this.clock = clock;
    this.maker = maker;
    this.renewing = new Link(connecting);
    this.balance =
        new Balance(store::holdings, connecting, settings.lease(), System::nanoTime, host());
    this.looking = new Link(connecting);
    this.wakeups = new Wakeups(connecting, this::heard);
    this.calls =
        new Calls(
            connecting,
            balance::held,
            shards -> wakeups.tell(Wakeups.Channel.CALLS, shards),
            (request, by, replyTo) -> path().ask(request, by, replyTo),
            endpoints,
            history);
    this.learning = new Learning(store::changes, input -> path().put(input), System::nanoTime);
    this.renewal = joined();
  }

  private Renewal joined() {
    long asked = seat.askedNanos();
    return new Renewal(asked, clock.instant().minusNanos(System.nanoTime() - asked));
  }

  private Balance.Host host() {
    return new Balance.Host() {
      @Override
      public void learn() throws StoreException {
        learning.learn();
      }

      @Override
      public void put(Input input) {
        path().put(input);
      }

      @Override
      public void gained() {
        lookInto(Shards.ALL);
        path().put(new Input.Woken());
        calls.look();
      }

      @Override
      public void restChanged() {
        renewSoon.release();
      }

      @Override
      public void tell() {
        wakeups.tell(Wakeups.Channel.NODES, Shards.ALL);
      }

      @Override
      public boolean isStopping() {
        return isStopping;
      }

      @Override
      public boolean pause(Duration pause) {
        return pauseUnlessClosing(pause);
      }
    };
  }

  /**
   * Begins to renew the lease. What the path begins with may take longer to be read than the lease
   * lasts.
   */
  public void keepSeat() {
    renewer.start();
  }

  /** What the path begins with: everything that everyone knows, and no shards. */
  public Loop firstLoop() throws StoreException {
    Snapshot snapshot = seat.beginning();
    begunAt = snapshot.version();
    learning.begin(begunAt);
    return maker.make(seat.slot(), snapshot);
  }

  /** Begins to take part. */
  public void start(Path own) {
    path = own;
    tellLease(own);
    if (!isSeated) {
      fenced(ROW_GONE);
    }
    if (settings.listens()) {
      wakeups.start();
    }
    renewSoon.release();
    balancer.start();
    try {
      var _ =
          poll.scheduleWithFixedDelay(
              this::lookForAll, 0, LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException _) {
      // It was closed at once.
    }
    wakeups.tell(Wakeups.Channel.NODES, Shards.ALL);
  }

  private Path path() {
    Path own = path;
    if (own == null) {
      throw new IllegalStateException("not started");
    }
    return own;
  }

  // ---- what the path tells

  /** A batch is on disk. */
  public void committed() {
    back();
  }

  /** A batch has left something for the nodes of some shards. */
  public void left(Shards shards) {
    handedOver.increment();
    wakeups.tell(Wakeups.Channel.SHARDS, shards);
  }

  /** A batch has changed what everyone knows. */
  public void changed() {
    wakeups.tell(Wakeups.Channel.KNOWN, Shards.ALL);
  }

  /** Something was decided by what is no longer so: the path waits to learn what is. */
  public void stale() {
    if (isAwaitingNews.compareAndSet(false, true)) {
      onPoll(this::learnForSure);
    }
  }

  private void learnForSure() {
    isAwaitingNews.set(false);
    if (isFenced) {
      return;
    }
    try {
      learning.learnForSure();
    } catch (StoreException | RuntimeException e) {
      notLearned(e);
      if (e instanceof StoreException failure && failure.kind() == StoreException.Kind.AWAY) {
        away(e);
      }
      isAwaitingNews.set(true);
      try {
        var _ = poll.schedule(this::learnForSure, TRY_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException _) {
        // The node is stopping.
      }
    }
  }

  /**
   * What others have changed could not be read. Messages of subscriptions that this node has not
   * heard of wait; if it is not the database that is away, other nodes have to deliver them.
   */
  private void notLearned(Exception cause) {
    StoreException.Kind kind =
        cause instanceof StoreException e ? e.kind() : StoreException.Kind.REFUSED;
    switch (kind) {
      case AWAY -> log.debug("cluster.not-learned next=\"learning again in a second\"", cause);
      case BROKEN -> path().breakDown(cause);
      case FENCED -> fenced(String.valueOf(cause.getMessage()));
      case REFUSED, FULL, STALE -> {
        if (isToBeTold()) {
          log.warn(
              "cluster.not-learned for={}s next=\"trying again; after {} s this server leaves its"
                  + " shards to others until it can read what they have changed\"",
              learning.since().toSeconds(),
              longestUnlearned().toSeconds(),
              cause);
        }
        if (learning.since().compareTo(longestUnlearned()) > 0) {
          fenced("what others have changed cannot be read: " + cause.getMessage());
        }
      }
    }
  }

  /** Once a minute. */
  private boolean isToBeTold() {
    Instant before = toldUnlearned.get();
    Instant now = clock.instant();
    return closing.getCount() > 0
        && !now.minus(TELL_EVERY).isBefore(before)
        && toldUnlearned.compareAndSet(before, now);
  }

  private Duration longestUnlearned() {
    return settings.lease().multipliedBy(UNLEARNED_LEASES);
  }

  /** The path has let go of shards, and all of that is on disk. */
  public void letGo(Shards shards) {
    balance.letGo(shards);
    wakeBalancer();
  }

  /** Others have taken over: the node begins anew. */
  public void fenced(String detail) {
    synchronized (this) {
      if (isFenced) {
        return;
      }
      isFenced = true;
      isSeated = false;
    }
    fences.increment();
    log.warn(
        "node.fenced node={} detail=\"{}\" next=\"others deliver what this one had; unless it is"
            + " stopping it begins anew as another node\"",
        seat.node(),
        detail);
    path().abandon();
    wakeBalancer();
  }

  /** Something could not be asked of the database: is it away, or was it just that? */
  public void away(Throwable cause) {
    if (!isAway && closing.getCount() > 0) {
      awayNanos = System.nanoTime();
      isAway = true;
      renewSoon.release();
      log.warn(
          "store.away detail=\"{}\" next=\"nothing is accepted and no attempt starts; trying again"
              + " until it is back\"",
          cause.getMessage());
    }
  }

  /** What fails for another reason than that the database is away is just told. */
  private void awayIfSo(String what, Exception cause) {
    boolean isAbout =
        switch (cause) {
          case SQLException e -> SqlStates.failure(what, e).kind() == StoreException.Kind.AWAY;
          case StoreException e -> e.kind() == StoreException.Kind.AWAY;
          default -> false;
        };
    if (isAbout) {
      away(cause);
    } else if (closing.getCount() > 0) {
      log.warn("cluster.failed doing={} next=\"trying again\"", what, cause);
    }
  }

  private void back() {
    if (isAway) {
      isAway = false;
      log.info(
          "store.back after={}ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - awayNanos));
    }
  }

  /** Whether the database cannot be reached, as far as the node knows. */
  public boolean isAway() {
    return isAway;
  }

  /** Whether the node can accept and deliver. */
  public boolean isReady() {
    return !isAway && !isFenced && leaseEndNanos() - System.nanoTime() > 0;
  }

  // ---- what the path reads

  /**
   * What others have left for this node. What it is about has been learned before if it could be;
   * the path keeps what is for an endpoint that it does not know yet. It is given once, so it is
   * handed on whatever happens.
   */
  public Arrivals arrivals(Load.Arrivals load) throws StoreException {
    Shards wanted = toldOf.getAndSet(Shards.NONE);
    Arrivals found;
    try {
      found = store.arrivals(load.ours().common(wanted), load.limit());
    } catch (StoreException | RuntimeException e) {
      lookInto(wanted);
      throw e;
    }
    if (found.isMore()) {
      lookInto(wanted);
    }
    if (!found.messages().isEmpty()) {
      learnNow();
      arrived.add(found.messages().size());
    }
    return found;
  }

  /** Learns what others have changed until now; the path knows it when this returns. */
  public void learn() throws StoreException {
    try {
      learning.learn();
    } catch (StoreException e) {
      notLearned(e);
      throw e;
    }
  }

  /** Asks the node of a shard for what only it decides. */
  public void ask(int shard, Request request, Actor by, Consumer<Answer> replyTo) {
    calls.ask(seat.node(), shard, request, by, replyTo);
  }

  /** Whether another node can be asked for this. */
  public static boolean isForOneNode(Request request) {
    return Calls.isFor(request);
  }

  // ---- what others tell

  private void heard(Wakeups.Channel channel, Shards shards) {
    switch (channel) {
      case SHARDS -> {
        if (concerns(shards)) {
          lookInto(shards);
          path().put(new Input.Woken());
        }
      }
      case KNOWN -> {
        if (isLearning.compareAndSet(false, true)) {
          onPoll(this::learnNow);
        }
      }
      case CALLS -> calls.look();
      case NODES -> wakeBalancer();
    }
  }

  private boolean concerns(Shards shards) {
    return balance.held().hasAny(shards);
  }

  /** The next look at what has arrived is into these shards too. */
  private void lookInto(Shards shards) {
    toldOf.accumulateAndGet(shards, Shards::plus);
  }

  private void onPoll(Runnable task) {
    try {
      poll.execute(task);
    } catch (RejectedExecutionException _) {
      // The node is stopping.
    }
  }

  private void learnNow() {
    isLearning.set(false);
    if (isFenced) {
      return;
    }
    try {
      learning.learn();
    } catch (StoreException | RuntimeException e) {
      notLearned(e);
    }
  }

  private void lookForAll() {
    if (isFenced) {
      return;
    }
    lookInto(Shards.ALL);
    path().put(new Input.Woken());
    learnNow();
    calls.look();
    try {
      path().put(new Input.StoredByAll(store.stored()));
    } catch (StoreException | RuntimeException e) {
      log.debug("cluster.stored-unknown next=\"looking again in a second\"", e);
    }
  }

  // ---- the lease

  private void renewAll() {
    Duration pause = Duration.ZERO;
    try {
      while (closing.getCount() > 0) {
        if (renewSoon.tryAcquire(pause.toMillis(), TimeUnit.MILLISECONDS)) {
          renewSoon.drainPermits();
        }
        pause =
            !isSeated || renew()
                ? settings.lease().dividedBy(RENEWALS)
                : min(TRY_AGAIN, settings.lease().dividedBy(RENEWALS));
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean renew() {
    long node = seat.node();
    Instant sentAt = clock.instant();
    long sent = System.nanoTime();
    Path own = path;
    if (own != null) {
      own.count(seen -> gauges = seen);
    }
    Optional<Instant> renewed;
    try {
      renewed =
          renewing.run(
              connection -> {
                connection.setNetworkTimeout(
                    Runnable::run,
                    (int) Math.max(1_000, settings.lease().dividedBy(RENEWALS).toMillis()));
                return Leases.renew(connection, node, settings.lease(), report());
              });
    } catch (SQLException | RuntimeException e) {
      awayIfSo("node.not-renewed", e);
      if (own != null && attemptsEndNanos() - System.nanoTime() <= 0) {
        own.put(new Input.Leased(clock.instant()));
      }
      return false;
    }
    if (renewed.isEmpty()) {
      rowGone(node);
      return true;
    }
    measured.measured(renewed.get(), sent, System.nanoTime());
    renewed(node, new Renewal(sent, sentAt));
    if (sent - awayNanos > 0) {
      back();
    }
    return true;
  }

  /** A node that begins hears of it when it has begun. */
  private void rowGone(long node) {
    synchronized (this) {
      if (node != seat.node()) {
        return;
      }
      isSeated = false;
    }
    if (path != null) {
      fenced(ROW_GONE);
    }
  }

  /** What was said of a node that this is no longer does not count. */
  private void renewed(long node, Renewal next) {
    synchronized (this) {
      if (node != seat.node()) {
        return;
      }
      renewal = next;
    }
    Path own = path;
    if (own != null) {
      tellLease(own);
    }
  }

  private void tellLease(Path own) {
    Duration left = settings.lease().minus(settings.timeout()).minus(MARGIN);
    // A clock that runs at half its speed reaches everything late.
    boolean isSlow = clock.instant().minus(CLOCK_TOLERANCE).isAfter(measured.instant());
    own.put(new Input.Leased(renewal.sentAt().plus(isSlow ? left.dividedBy(2) : left)));
  }

  private long leaseEndNanos() {
    return renewal.sentNanos() + settings.lease().toNanos();
  }

  private long attemptsEndNanos() {
    return leaseEndNanos() - settings.timeout().toNanos() - MARGIN.toNanos();
  }

  private String report() {
    Gauges seen = gauges;
    JsonObject json =
        new JsonObject()
            .put("known", learning.version())
            .put("isResting", path == null || isFenced || balance.isResting())
            .put("clockOffsetMillis", clockOffset().toMillis());
    if (seen != null) {
      json.put("inFlight", seen.inFlight())
          .put("pending", seen.pending())
          .put("waiting", seen.waiting())
          .put("parked", seen.parked())
          .put("eventsAccepted", seen.eventsAccepted())
          .put("messagesAccepted", seen.messagesAccepted())
          .put("delivered", seen.delivered());
    }
    return json.encode();
  }

  private Duration clockOffset() {
    return Duration.between(wall.instant(), measured.instant());
  }

  // ---- who has which shards

  private void wakeBalancer() {
    synchronized (wake) {
      isWoken = true;
      wake.notifyAll();
    }
  }

  private void balanceAll() {
    Duration pause = Duration.ZERO;
    while (await(pause)) {
      try {
        if (!isFenced) {
          pause = balance.settle(seat.node());
        } else {
          pause = isStopping ? LOOK_EVERY : beginAnew();
        }
      } catch (SQLException e) {
        awayIfSo("cluster.balance-failed", e);
        pause = TRY_AGAIN;
      } catch (StoreException e) {
        // One that cannot begin anew would take and leave a place each time.
        pause = isFenced ? LOOK_EVERY : TRY_AGAIN;
        switch (e.kind()) {
          case FENCED -> fenced(String.valueOf(e.getMessage()));
          case BROKEN -> path().breakDown(e);
          default -> awayIfSo("cluster.balance-failed", e);
        }
      } catch (RuntimeException e) {
        log.warn("cluster.balance-failed next=\"trying again\"", e);
        pause = LOOK_EVERY;
      }
    }
  }

  /** False when the node is to end. */
  private boolean await(Duration pause) {
    long until = System.nanoTime() + pause.toNanos();
    synchronized (wake) {
      while (!isWoken && closing.getCount() > 0) {
        long millis = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        if (millis <= 0) {
          break;
        }
        try {
          wake.wait(millis);
        } catch (InterruptedException _) {
          return false;
        }
      }
      isWoken = false;
    }
    return closing.getCount() > 0;
  }

  /** True when the node is to end. */
  private boolean pauseUnlessClosing(Duration pause) {
    try {
      return closing.await(pause.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Takes part as a new node, with nothing of what the old one had in memory. */
  private Duration beginAnew() throws StoreException {
    CountDownLatch quiet = new CountDownLatch(1);
    path().whenQuiet(quiet::countDown);
    try {
      if (!quiet.await(settings.lease().toMillis(), TimeUnit.MILLISECONDS)) {
        return TRY_AGAIN;
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return TRY_AGAIN;
    }
    leaveOld();
    takeSeat();
    balance.beginAnew();
    Loop loop = nextLoop();
    path().begin(loop);
    // What was learned meanwhile was told to what is no more.
    learning.begin(begunAt);
    tellLease(path());
    isFenced = false;
    renewSoon.release();
    log.info("node.joined node={} slot={}", seat.node(), seat.slot());
    if (!isSeated) {
      fenced(ROW_GONE);
    }
    return Duration.ZERO;
  }

  /** A place with which nothing can be begun is left: it would have a share of the shards. */
  private Loop nextLoop() throws StoreException {
    try {
      return firstLoop();
    } catch (StoreException | RuntimeException e) {
      isSeated = false;
      leaveOld();
      throw e;
    }
  }

  /** The old node's row may be there, if it was given up for another reason than that it is not. */
  private void leaveOld() {
    try {
      balance.leave(seat.node());
    } catch (SQLException e) {
      log.debug("node.old-not-left next=\"others take over when its lease is over\"", e);
    }
  }

  private void takeSeat() throws StoreException {
    seat.takeNew();
    synchronized (this) {
      renewal = joined();
      isSeated = true;
    }
    renewSoon.release();
  }

  // ---- what people see

  /** All nodes and shards, as the database has them. Blocking. */
  public ClusterState state() throws StoreException {
    try {
      return looking.look(connection -> ClusterReads.state(connection, seat.node()));
    } catch (SQLException e) {
      throw SqlStates.failure("looking at the nodes", e);
    }
  }

  /** What this node knows of itself. */
  public ClusterState.Own own() {
    long left = Math.max(0, attemptsEndNanos() - System.nanoTime());
    return new ClusterState.Own(
        balance.live(),
        balance.held().size(),
        Duration.ofNanos(left),
        isAway,
        arrived.sum(),
        handedOver.sum(),
        calls.count(),
        fences.sum(),
        learning.version(),
        clockOffset());
  }

  // ---- the end

  /** Takes no more shards: the node is about to stop. */
  public void stopping() {
    isStopping = true;
  }

  /** Gives back everything and takes part no longer. The path has ended before. */
  @Override
  public void close() {
    isStopping = true;
    closing.countDown();
    renewSoon.release();
    wakeBalancer();
    poll.shutdownNow();
    calls.close();
    try {
      join(renewer, TRY_AGAIN);
      join(balancer, settings.lease());
      balance.leave(seat.node());
      wakeups.tell(Wakeups.Channel.NODES, Shards.ALL);
    } catch (SQLException e) {
      log.warn("node.not-left next=\"others take over when its lease is over\"", e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    wakeups.close();
    renewing.close();
    balance.close();
    looking.close();
  }

  private static void join(Thread thread, Duration most) throws InterruptedException {
    if (thread.isAlive()) {
      thread.join(most);
    }
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
