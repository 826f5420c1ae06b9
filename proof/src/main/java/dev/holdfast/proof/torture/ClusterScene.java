package dev.holdfast.proof.torture;

import dev.holdfast.core.model.Id;
import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.Postgres;
import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Proxy;
import dev.holdfast.proof.stage.Report;
import dev.holdfast.proof.stage.Report.Target;
import dev.holdfast.proof.stage.SharedKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a scenario of several nodes needs: a database, nodes that reach it each through a proxy of
 * its own, and a ledger with everybody who writes in it.
 */
final class ClusterScene implements AutoCloseable {
  /** Short, so that scenarios are. */
  static final Duration LEASE = Duration.ofSeconds(4);

  /** How long it may take until others do the work of a node that is gone. */
  static final Duration TAKEOVER = LEASE.plusSeconds(1);

  static final String DATABASE = "holdfast";

  /** Whom nodes are for the database: somebody who owns what is theirs, and may do nothing else. */
  static final String ROLE = "holdfast";

  private static final Duration LONGEST_DRAIN = Duration.ofSeconds(90);
  private static final Duration LONGEST_TAKEOVER = LEASE.multipliedBy(5);
  private static final Duration LONGEST_BALANCE = Duration.ofSeconds(40);
  private static final Duration ASK_EVERY = Duration.ofMillis(20);
  private static final int SHARDS = 256;
  private static final int MOST_STARTS = 3;
  private static final JsonMapper JSON = JsonMapper.shared();

  private final String name;
  private final Progress progress;
  private final Report report;
  private final Plan plan;
  private final Ledger ledger;
  private final Http http = new Http(Duration.ofSeconds(5));
  private final Listener listener;
  private final List<Node> nodes = new ArrayList<>();
  private final Map<Long, Integer> endpoints = new HashMap<>();
  private final Publishers publishers;
  private Postgres postgres;
  private ClusterLook look;
  private Duration slowestTakeover = Duration.ZERO;
  private Duration slowestDelivery = Duration.ZERO;
  private Duration slowestReturn = Duration.ZERO;

  /** A server and the way by which it reaches the database. */
  record Node(String name, Server server, Proxy proxy) {}

  /**
   * How nodes are started.
   *
   * @param programs one for each node
   * @param hosts the database's host and port in the URL; none: each through its proxy
   */
  record Options(List<Server.Program> programs, String hosts) {

    static Options nodes(int count, String... settings) {
      return new Options(
          IntStream.range(0, count).mapToObj(_ -> Server.Program.released(settings)).toList(), "");
    }
  }

  /** Makes the role and the database that nodes expect. */
  static void prepare(Postgres postgres, String more) throws SQLException {
    postgres.execute(Postgres.USER, "CREATE ROLE %s LOGIN".formatted(ROLE));
    postgres.execute(
        Postgres.USER, "CREATE DATABASE %s OWNER %s %s".formatted(DATABASE, ROLE, more));
  }

  /** Starts all nodes at once; nothing is sent yet. The database has been prepared. */
  ClusterScene(Torture.Run run, String name, Postgres postgres, Options options)
      throws IOException {
    this.name = name;
    this.progress = run.progress();
    this.report = run.report();
    this.plan = new Plan(run.seed());
    this.postgres = postgres;
    this.look = new ClusterLook(postgres, DATABASE);
    this.ledger = new Ledger(plan);
    this.listener = new Listener(plan, ledger, Duration.ZERO);
    Path logs = Files.createDirectories(run.directory().resolve(name + "-logs"));
    for (Server.Program program : options.programs()) {
      Proxy proxy = new Proxy(postgres.port());
      run.track(proxy);
      String node = "node-" + (nodes.size() + 1);
      String hosts = options.hosts().isEmpty() ? "127.0.0.1:" + proxy.port() : options.hosts();
      Server server =
          new Server(
              new Server.Options(
                  node, store(hosts, node), logs, Scene.freePort(), Scene.KEY, program),
              http);
      run.track(server);
      nodes.add(new Node(node, server, proxy));
    }
    this.publishers =
        new Publishers(
            nodes.stream().mapToInt(node -> node.server().port()).toArray(),
            Publishers.Pace.STEADY,
            Scene.KEY,
            plan,
            ledger);
    for (Node node : nodes) {
      awaitStart(node);
    }
    watchForLateWrites();
    for (int i = 0; i < Listener.ENDPOINTS; i++) {
      nodes.get(i % nodes.size()).server().subscribe(listener.url(i), "t" + i);
    }
    nodes.getLast().server().subscribe(listener.urlOfAll(), "*");
    readEndpoints(nodes.getFirst().server());
  }

  /** A database that is too slow for a start is one for somebody who starts it again. */
  void awaitStart(Node node) throws IOException {
    for (int tries = 1; tries < MOST_STARTS; tries++) {
      try {
        node.server().awaitReady();
        return;
      } catch (ProofException e) {
        if (!node.server().log().contains("timed out")) {
          throw e;
        }
        node.server().restart();
      }
    }
    node.server().awaitReady();
  }

  /**
   * Has the database note each batch of a node that does not take part any more when the batch is
   * committed: there must be none. Giving up the number of a batch, which writes nothing else, is
   * none.
   */
  private void watchForLateWrites() {
    try {
      postgres.execute(
          DATABASE,
          """
          CREATE TABLE late_writes (node bigint);
          CREATE FUNCTION note_late_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
          BEGIN
            IF NOT EXISTS (SELECT 1 FROM nodes WHERE id = NEW.node)
              AND (EXISTS (SELECT 1 FROM open WHERE xmin = pg_current_xact_id()::xid)
                OR EXISTS (SELECT 1 FROM messages WHERE xmin = pg_current_xact_id()::xid)
                OR EXISTS (SELECT 1 FROM endpoints WHERE xmin = pg_current_xact_id()::xid))
            THEN
              INSERT INTO late_writes VALUES (NEW.node);
            END IF;
            RETURN NULL;
          END $$;
          CREATE CONSTRAINT TRIGGER late_write AFTER UPDATE ON batches
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_late_write();
          """);
    } catch (SQLException e) {
      throw new ProofException("the database cannot be watched: " + e.getMessage(), e);
    }
  }

  /** URLs are sealed in the database, so a server has to say which endpoint is which. */
  private void readEndpoints(Server server) {
    String list = server.call("GET", "/v1/endpoints?limit=100", "");
    for (JsonNode item : JSON.readTree(list).path("items")) {
      endpoints.put(
          Id.parse(Id.ENDPOINT, item.path("id").asString()).orElseThrow(),
          Listener.endpoint(item.path("url").asString()));
    }
    if (endpoints.size() != Listener.ENDPOINTS + 1) {
      throw new ProofException("a node does not know all endpoints: " + list);
    }
  }

  /** The listener's endpoints that a node decides for. */
  Set<Integer> endpoints(long node) {
    return look.endpoints(node).stream()
        .map(endpoints::get)
        .filter(Objects::nonNull)
        .collect(Collectors.toSet());
  }

  private static List<String> store(String hosts, String node) {
    String url =
        "jdbc:postgresql://%s/%s%s"
            .formatted(hosts, DATABASE, hosts.contains(",") ? "?targetServerType=primary" : "");
    return List.of(
        "--store",
        url,
        "--set",
        "store.user=" + ROLE,
        "--set",
        SharedKey.setting(),
        "--set",
        "cluster.name=" + node,
        "--set",
        "cluster.lease=" + LEASE.toSeconds() + "s");
  }

  Plan plan() {
    return plan;
  }

  Ledger ledger() {
    return ledger;
  }

  ClusterLook look() {
    return look;
  }

  Postgres postgres() {
    return postgres;
  }

  /** From now on this is the database. */
  void moveTo(Postgres other) {
    postgres = other;
    look = new ClusterLook(other, DATABASE);
    nodes.forEach(node -> node.proxy().target(other.port()));
  }

  List<Node> nodes() {
    return nodes;
  }

  Publishers publishers() {
    return publishers;
  }

  static Set<Integer> allEndpoints() {
    return IntStream.rangeClosed(0, Listener.ALL_EVENTS).boxed().collect(Collectors.toSet());
  }

  void tick(String what) {
    Ledger.Counts counts = ledger.counts();
    progress.tick(
        "%s, %,d acknowledged, %,d arrived, %,d again"
            .formatted(what, counts.acknowledged(), counts.taken(), counts.repeats()));
  }

  /** The id under which a node takes part now. */
  long id(Node node) {
    return look.node(node.name())
        .orElseThrow(
            () -> new ProofException(node.name() + " takes no part:\n" + node.server().tail()));
  }

  /** The node that decides for the most endpoints: of whom it is noticed when it is gone. */
  Node busiest() {
    return nodes.stream()
        .max(Comparator.comparingInt(node -> endpoints(id(node)).size()))
        .orElseThrow();
  }

  /** Waits until each shard has a node, and each node about as many of them as the others. */
  void awaitBalance() {
    await(
        () ->
            look.shardsOfNobody() == 0
                && nodes.stream()
                    .map(node -> look.node(node.name()))
                    .allMatch(
                        id ->
                            id.isPresent()
                                && look.shards(id.getAsLong()) >= SHARDS / nodes.size() / 2),
        LONGEST_BALANCE,
        () ->
            "the nodes do not share the shards: "
                + nodes.stream()
                    .map(node -> look.node(node.name()))
                    .map(id -> id.isPresent() ? look.shards(id.getAsLong()) + "" : "-")
                    .collect(Collectors.joining(", ")));
  }

  /**
   * Notes what a node that can do nothing any more has not written down, and watches the endpoints
   * that it decided for.
   *
   * @param endpoints those endpoints, as they were before
   * @param sinceNanos since when it can do nothing
   */
  void noteUnrecorded(long node, Set<Integer> endpoints, long sinceNanos) {
    listener.awaitRead();
    ledger.killed(look.unfinished(node));
    if (since(sinceNanos).compareTo(LEASE.dividedBy(2)) > 0) {
      // On a machine that is this slow, others may have had its shards before they were looked at.
      ledger.trouble(sinceNanos, System.nanoTime(), endpoints);
    }
    ledger.watch(endpoints);
  }

  /** Waits until others have all shards of a node that is gone, and notes how long that took. */
  void awaitTakeover(long node, long sinceNanos) {
    await(
        () -> look.shards(node) == 0 && look.shardsOfNobody() == 0,
        LONGEST_TAKEOVER,
        () -> "nobody has taken %d shards of a node that is gone".formatted(look.shards(node)));
    slowestTakeover = max(slowestTakeover, since(sinceNanos));
  }

  /** Waits until something has arrived at each of these endpoints again. */
  void awaitDelivery(long sinceNanos) {
    await(
        () -> ledger.watched() == 0,
        LONGEST_TAKEOVER,
        () -> "nothing arrives at %d endpoints whose node is gone".formatted(ledger.watched()));
    slowestDelivery = max(slowestDelivery, Duration.ofNanos(ledger.watchedAtNanos() - sinceNanos));
  }

  /** Waits until a node takes part again, as another one than it was. */
  void awaitBack(Node node, long formerId) {
    await(
        () -> look.node(node.name()).orElse(formerId) != formerId && node.server().isReady(),
        LONGEST_BALANCE,
        () -> node.name() + " does not come back:\n" + node.server().tail());
  }

  /** Waits until a node has written this to its log. */
  void awaitLog(Node node, String text) {
    await(
        () -> node.server().log().contains(text),
        LONGEST_TAKEOVER,
        () -> "%s does not say %s:\n%s".formatted(node.name(), text, node.server().tail()));
  }

  /** Waits until each of the nodes has acknowledged an event that was sent after now. */
  void awaitAcceptance(long sinceNanos) {
    long now = System.nanoTime();
    await(
        () -> notAccepting(now).isEmpty(),
        LONGEST_TAKEOVER,
        () ->
            notAccepting(now).stream()
                .map(node -> node.name() + " accepts nothing any more:\n" + node.server().tail())
                .collect(Collectors.joining("\n")));
    slowestReturn = max(slowestReturn, since(sinceNanos));
  }

  private List<Node> notAccepting(long sinceNanos) {
    return IntStream.range(0, nodes.size())
        .filter(node -> !publishers.hasAccepted(node, sinceNanos))
        .mapToObj(nodes::get)
        .toList();
  }

  /** Waits until none of the nodes calls itself ready. */
  void awaitUnready() {
    await(
        () -> nodes.stream().noneMatch(node -> node.server().isReady()),
        LONGEST_TAKEOVER,
        () -> "a node calls itself ready:\n" + nodes.getFirst().server().tail());
  }

  /** Waits until a call has been refused. */
  void awaitRefusal() {
    int before = publishers.refusals();
    await(
        () -> publishers.refusals() > before,
        LONGEST_TAKEOVER,
        () -> "nobody is refused:\n" + nodes.getFirst().server().tail());
  }

  void await(BooleanSupplier condition, Duration patience, Supplier<String> otherwise) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new ProofException(otherwise.get());
      }
      Scene.pause(ASK_EVERY);
    }
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /**
   * Ends the scenario: sends nothing new, waits for what is missing, stops the nodes, and compares
   * the ledger with the database.
   */
  void settle() throws IOException {
    publishers.pause();
    long deadline = System.nanoTime() + LONGEST_DRAIN.toNanos();
    while ((ledger.missing() > 0 || !publishers.isIdle() || look.unfinished() > 0)
        && System.nanoTime() < deadline) {
      for (Node node : nodes) {
        if (!node.server().isAlive()) {
          throw new ProofException(
              "%s ended by itself:\n%s".formatted(node.name(), node.server().tail()));
        }
      }
      progress.tick("waiting for %,d messages".formatted(ledger.missing()));
      Scene.pause(ASK_EVERY);
    }
    progress.end();
    for (Node node : nodes) {
      node.server().stop();
    }
    if (look.shardsOfNobody() < SHARDS) {
      ledger.problem("nodes that were stopped have not let go of their shards");
    }
    long late = look.lateWrites();
    if (late > 0) {
      ledger.problem(
          "%d batches of nodes were written after others had their shards".formatted(late));
    }
    List<String> problems = ledger.audit(look.contents());
    Ledger.Counts counts = ledger.counts();
    report.count(name, "processes", nodes.stream().mapToInt(node -> node.server().starts()).sum());
    report.count(name, "events acknowledged", counts.acknowledged());
    report.count(name, "messages arrived", counts.taken());
    report.count(
        name,
        "acknowledged and not arrived",
        problems.stream().filter(p -> p.startsWith("NOT ARRIVED")).count());
    report.count(name, "arrived again", counts.repeats());
    report.count(name, "of these, after a success with no record", ledger.unrecordedRepeats());
    if (counts.kills() > 0) {
      report.count(name, "taken but not recorded yet, at all kills", counts.unrecordedAtKills());
    }
    if (counts.refused() > 0) {
      report.count(name, "events refused", counts.refused());
      report.count(name, "refused when nobody could know, and arrived", ledger.refusedAndArrived());
    }
    time("others have all shards, at most", slowestTakeover, TAKEOVER);
    time("all endpoints get messages again, at most", slowestDelivery, TAKEOVER);
    time("events are accepted again, at most", slowestReturn, null);
    problems.forEach(problem -> report.fail(name + ": " + problem));
    if (counts.acknowledged() == 0) {
      report.fail(name + ": nothing was acknowledged, so nothing was proven");
    }
  }

  private void time(String figure, Duration time, @Nullable Duration most) {
    if (time.isPositive()) {
      report.add(
          name,
          figure,
          time.toMillis() / 1_000.0,
          "s",
          most == null ? null : Target.atMost(most.toMillis() / 1_000.0));
    }
  }

  @Override
  public void close() {
    publishers.close();
    nodes.forEach(node -> node.server().close());
    listener.close();
    http.close();
  }
}
