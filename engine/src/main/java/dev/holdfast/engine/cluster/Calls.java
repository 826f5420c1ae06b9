package dev.holdfast.engine.cluster;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.EndpointReads;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks other nodes for what only they decide, and answers what they ask, through a table. Nothing
 * secret is written there: an answer says what was done, and what it was done to is read anew.
 */
final class Calls implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Calls.class);

  /** How long a caller waits: shards that change hands have a node again by then. */
  static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  private static final int MOST_AT_ONCE = 100;

  private static final String ASK =
      """
      INSERT INTO calls (shard, asked_by, asked_at, request)
      VALUES (?, ?, clock_timestamp(), ?) RETURNING id
      """;

  private static final String ANSWERS =
      "DELETE FROM calls WHERE id = ANY (?) AND answered_at IS NOT NULL RETURNING id, answer";

  private static final String TO_ANSWER =
      """
      SELECT id, request FROM calls
      WHERE shard = ANY (?) AND answered_at IS NULL
        AND asked_at > clock_timestamp() - ? * interval '1 millisecond'
      ORDER BY id LIMIT ?
      """;

  private static final String ANSWER =
      """
      UPDATE calls SET answered_at = clock_timestamp(), answer = ?
      WHERE id = ? AND answered_at IS NULL
      """;

  private final Link link;
  private final Supplier<Shards> ours;
  private final Consumer<Shards> tell;
  private final Asking asking;
  private final EndpointReads endpoints;
  private final History history;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("holdfast-calls").daemon().factory());
  private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>();
  private final Set<Long> answering = ConcurrentHashMap.newKeySet();

  /** Answers that could not be written yet, by their calls. Only our thread has them. */
  private final Map<Long, Given> unwritten = new HashMap<>();

  private final AtomicBoolean isLookDue = new AtomicBoolean();
  private final AtomicBoolean isLaterLookDue = new AtomicBoolean();
  private final LongAdder asked = new LongAdder();

  /** Asks this node's own path. */
  @FunctionalInterface
  interface Asking {
    void ask(Request request, Actor by, Consumer<Answer> replyTo);
  }

  /** Somebody who waits for an answer. */
  private record Waiting(Request request, Consumer<Answer> replyTo, long untilNanos) {}

  /** What was done for another node, and how long it may wait to hear that. */
  private record Given(Answer answer, long untilNanos) {}

  /** Something that another node has asked. */
  private record Call(long id, String request) {}

  /**
   * @param ours the shards that this node decides for
   * @param tell wakes the nodes of some shards
   */
  Calls(
      Connecting connecting,
      Supplier<Shards> ours,
      Consumer<Shards> tell,
      Asking asking,
      EndpointReads endpoints,
      History history) {
    this.link = new Link(connecting);
    this.ours = ours;
    this.tell = tell;
    this.asking = asking;
    this.endpoints = endpoints;
    this.history = history;
  }

  /** Whether another node can be asked for this. */
  static boolean isFor(Request request) {
    return request instanceof Request.Operate
        || request instanceof Request.RetryNow
        || request instanceof Request.CancelReplay;
  }

  /** Asks the node of a shard; the answer comes on a thread of ours. */
  void ask(long node, int shard, Request request, Actor by, Consumer<Answer> replyTo) {
    asked.increment();
    long until = System.nanoTime() + PATIENCE.toNanos();
    run(
        () -> {
          try {
            long id = link.run(connection -> insert(connection, node, shard, request, by));
            waiting.put(id, new Waiting(request, replyTo, until));
          } catch (SQLException e) {
            log.debug("cluster.call-failed", e);
            replyTo.accept(new Refused(Refused.Why.STORE_AWAY));
            return;
          }
          tell.accept(Shards.of(List.of(shard)));
          lookLater();
        },
        () -> replyTo.accept(new Refused(Refused.Why.STORE_AWAY)));
  }

  private static long insert(Connection connection, long node, int shard, Request request, Actor by)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ASK)) {
      statement.setInt(1, shard);
      statement.setLong(2, node);
      statement.setString(3, write(request, by));
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  /** Looks for answers and for what others ask, soon. */
  void look() {
    if (isLookDue.compareAndSet(false, true)) {
      run(this::lookNow, () -> {});
    }
  }

  private void lookLater() {
    if (!isLaterLookDue.compareAndSet(false, true)) {
      return;
    }
    try {
      var _ =
          thread.schedule(
              () -> {
                isLaterLookDue.set(false);
                lookNow();
              },
              LOOK_EVERY.toMillis(),
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException _) {
      // The node is stopping.
    }
  }

  private void lookNow() {
    isLookDue.set(false);
    try {
      takeAnswers();
      List.copyOf(unwritten.entrySet()).forEach(one -> write(one.getKey(), one.getValue()));
      for (Call call : link.run(this::toAnswer)) {
        if (answering.add(call.id())) {
          answer(call);
        }
      }
    } catch (SQLException e) {
      log.debug("cluster.calls-unread next=\"looking again\"", e);
    } catch (RuntimeException e) {
      log.warn("cluster.calls-failed next=\"looking again\"", e);
    }
    giveUp();
    if (!waiting.isEmpty() || !unwritten.isEmpty()) {
      lookLater();
    }
  }

  private void takeAnswers() throws SQLException {
    if (waiting.isEmpty()) {
      return;
    }
    Object[] ids = waiting.keySet().toArray();
    Map<Long, String> answers = link.run(connection -> answers(connection, ids));
    answers.forEach(
        (id, answer) -> {
          Waiting one = waiting.remove(id);
          if (one != null) {
            one.replyTo().accept(understand(one.request(), answer));
          }
        });
  }

  private static Map<Long, String> answers(Connection connection, Object[] ids)
      throws SQLException {
    Map<Long, String> answers = new ConcurrentHashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(ANSWERS)) {
      statement.setArray(1, connection.createArrayOf("int8", ids));
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          answers.put(found.getLong(1), found.getString(2));
        }
      }
    }
    return answers;
  }

  private void giveUp() {
    long now = System.nanoTime();
    for (Map.Entry<Long, Waiting> entry : List.copyOf(waiting.entrySet())) {
      if (now - entry.getValue().untilNanos() >= 0 && waiting.remove(entry.getKey()) != null) {
        entry.getValue().replyTo().accept(new Refused(Refused.Why.STORE_AWAY));
      }
    }
    for (Map.Entry<Long, Given> entry : List.copyOf(unwritten.entrySet())) {
      if (now - entry.getValue().untilNanos() >= 0) {
        unwritten.remove(entry.getKey());
        answering.remove(entry.getKey());
      }
    }
  }

  private List<Call> toAnswer(Connection connection) throws SQLException {
    List<Call> calls = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(TO_ANSWER)) {
      statement.setArray(1, connection.createArrayOf("int2", ours.get().numbers().toArray()));
      statement.setLong(2, PATIENCE.toMillis());
      statement.setInt(3, MOST_AT_ONCE);
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          calls.add(new Call(found.getLong(1), found.getString(2)));
        }
      }
    }
    return calls;
  }

  /**
   * What turns out to be no longer ours is left for the node that has it now. What was done is not
   * done again because nobody could be told: only the answer is written again.
   */
  private void answer(Call call) {
    Asked read;
    try {
      read = read(call.request());
    } catch (RuntimeException e) {
      log.warn("cluster.call-not-understood next=\"whoever asked is told to ask again\"", e);
      write(call.id(), given(new Refused(Refused.Why.STORE_AWAY)));
      return;
    }
    asking.ask(
        read.request(),
        read.by(),
        answer -> {
          if (answer instanceof Answer.NotOurs) {
            answering.remove(call.id());
          } else {
            run(() -> write(call.id(), given(answer)), () -> answering.remove(call.id()));
          }
        });
  }

  private static Given given(Answer answer) {
    return new Given(answer, System.nanoTime() + PATIENCE.toNanos());
  }

  private void write(long id, Given given) {
    try {
      link.run(connection -> answer(connection, id, write(given.answer())));
    } catch (SQLException e) {
      log.debug("cluster.call-unanswered next=\"writing the answer again\"", e);
      unwritten.put(id, given);
      lookLater();
      return;
    }
    unwritten.remove(id);
    answering.remove(id);
    tell.accept(Shards.ALL);
  }

  private static boolean answer(Connection connection, long id, String answer) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ANSWER)) {
      statement.setString(1, answer);
      statement.setLong(2, id);
      return statement.executeUpdate() == 1;
    }
  }

  private void run(Runnable task, Runnable whenClosed) {
    try {
      thread.execute(task);
    } catch (RejectedExecutionException _) {
      whenClosed.run();
    }
  }

  /** How often another node was asked. */
  long count() {
    return asked.sum();
  }

  /** A request as it was read. */
  record Asked(Request request, Actor by) {}

  static String write(Request request, Actor by) {
    JsonObject json =
        switch (request) {
          case Request.Operate operate ->
              new JsonObject()
                  .put("operate", operate.operation().name())
                  .put("id", operate.endpoint());
          case Request.RetryNow retry -> new JsonObject().put("retry", retry.message());
          case Request.CancelReplay cancel -> new JsonObject().put("cancel", cancel.replay());
          default -> throw new IllegalArgumentException("any node decides for " + request);
        };
    return json.put("tenant", request.tenant())
        .put("byKind", by.kind().name())
        .put("byId", by.id())
        .put("byName", by.name())
        .encode();
  }

  static Asked read(String text) {
    JsonObject json = new JsonObject(text);
    String tenant = json.getString("tenant");
    Actor by =
        new Actor(
            Actor.Kind.valueOf(json.getString("byKind")),
            json.getString("byId"),
            json.getString("byName"));
    if (json.containsKey("operate")) {
      return new Asked(
          new Request.Operate(
              tenant, json.getLong("id"), Request.Operation.valueOf(json.getString("operate"))),
          by);
    }
    if (json.containsKey("retry")) {
      return new Asked(new Request.RetryNow(tenant, json.getLong("retry")), by);
    }
    return new Asked(new Request.CancelReplay(tenant, json.getLong("cancel")), by);
  }

  private static String write(Answer answer) {
    JsonObject json =
        switch (answer) {
          case Answer.EndpointIs _, Answer.ReplayIs _, Answer.RetryStarted _ ->
              new JsonObject().put("is", "done");
          case Answer.NotFound _ -> new JsonObject().put("is", "not-found");
          case Answer.NotRetryable no ->
              new JsonObject().put("is", "not-retryable").put("why", no.obstacle().name());
          case Refused refused ->
              new JsonObject().put("is", "refused").put("why", refused.why().name());
          default -> throw new IllegalArgumentException("not an answer to a call: " + answer);
        };
    return json.encode();
  }

  private Answer understand(Request request, String text) {
    JsonObject json = new JsonObject(text);
    return switch (json.getString("is")) {
      case "not-found" -> new Answer.NotFound();
      case "not-retryable" ->
          new Answer.NotRetryable(Answer.NotRetryable.Obstacle.valueOf(json.getString("why")));
      case "refused" -> new Refused(Refused.Why.valueOf(json.getString("why")));
      default -> done(request);
    };
  }

  private Answer done(Request request) {
    try {
      @Nullable Answer answer =
          switch (request) {
            case Request.Operate operate ->
                endpoints
                    .endpoint(operate.tenant(), operate.endpoint())
                    .map(now -> new Answer.EndpointIs(now.endpoint(), now.unfinished()))
                    .orElse(null);
            case Request.CancelReplay cancel ->
                history
                    .replay(cancel.tenant(), cancel.replay())
                    .map(Answer.ReplayIs::new)
                    .orElse(null);
            default -> new Answer.RetryStarted();
          };
      return answer == null ? new Answer.NotFound() : answer;
    } catch (StoreException e) {
      log.debug("cluster.call-unread", e);
      return new Refused(Refused.Why.STORE_AWAY);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    for (Long id : new HashSet<>(waiting.keySet())) {
      Waiting one = waiting.remove(id);
      if (one != null) {
        one.replyTo().accept(new Refused(Refused.Why.STOPPING));
      }
    }
    link.close();
  }
}
