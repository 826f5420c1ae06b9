package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.History.Change;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Turns a batch into one transaction. It has the only connection that writes.
 *
 * <p>Rows are gathered per statement and go to SQLite statement by statement, not write by write.
 * That keeps the meaning of their order: a message is inserted before it is changed, and changed
 * before it is finished, whichever writes of the batch said so.
 */
final class Writer implements AutoCloseable {
  private static final Comparator<Write.Deliver> BY_MESSAGE =
      Comparator.comparingLong(deliver -> deliver.message().id());

  private final Connection connection;
  private final Mark mark;
  private final ContentDigest digest = new ContentDigest();

  private final PreparedStatement claimKey;
  private final PreparedStatement unclaimKey;
  private final PreparedStatement findKey;
  private final PreparedStatement countMessages;
  private final PreparedStatement forget;
  private final PreparedStatement goOn;
  private final Gathered events;

  /** Most messages: pending, in no version of their own. */
  private final Gathered pending;

  private final Gathered otherOpen;
  private final Gathered changed;
  private final Gathered attempts;
  private final Gathered finished;

  /** Most messages: delivered, in no version of their own. */
  private final Gathered delivered;

  private final Gathered otherFinished;
  private final Gathered newEndpoints;
  private final Gathered sealedAgain;
  private final Gathered subscriptions;
  private final Gathered updated;
  private final Gathered unsubscribed;
  private final Gathered fanOuts;
  private final Gathered spread;
  private final Gathered replays;
  private final Gathered replayed;
  private final PreparedStatement findEvent;
  private final Gathered endpointChanges;
  private final Gathered health;
  private final List<Gathered> inOrder;

  /** How many messages each event with a caller's id has that this batch brought. */
  private final Map<Long, Integer> claimedNow = new HashMap<>();

  /**
   * What this batch delivers. It ended in any order and is written in the order of ids: then most
   * of it goes to the end of its table, where SQLite fills each page before it begins another.
   */
  private final List<Write.Deliver> delivers = new ArrayList<>();

  private final Tenants tenants;
  private final HistoryIndex index;
  private final Seals seals;

  /** Endpoints whose settings this batch changes. */
  private final Set<Long> configured = new HashSet<>();

  private final AuditChains chains;

  private final AtomicLong commits = new AtomicLong();
  private Progress progress;
  private volatile @Nullable StoreException broken;

  Writer(Connection connection, Mark mark, HistoryIndex index, Seals seals) throws SQLException {
    this.connection = connection;
    this.mark = mark;
    this.index = index;
    this.seals = seals;
    this.progress = Progress.read(connection);
    this.tenants = new Tenants(connection);
    this.chains = new AuditChains(connection);
    goOn = connection.prepareStatement(Progress.UPDATE);
    claimKey =
        connection.prepareStatement(
            "INSERT INTO keys (tenant, caller_id, event, content, sum) VALUES (?, ?, ?, ?, ?)"
                + " ON CONFLICT DO NOTHING");
    unclaimKey = connection.prepareStatement("DELETE FROM keys WHERE tenant = ? AND caller_id = ?");
    findKey =
        connection.prepareStatement(
            "SELECT " + Key.COLUMNS + " FROM keys WHERE tenant = ? AND caller_id = ?");
    countMessages =
        connection.prepareStatement(
            "SELECT " + Rows.EVENT_HEAD_COLUMNS + " FROM events WHERE id = ?");
    forget = connection.prepareStatement("DELETE FROM subscriptions WHERE id = ?");
    events =
        gathered(
            "INSERT INTO events (id, tenant, type, subject, occurred_at, caller_id, traceparent,"
                + " messages, sum, body_sum, data, previous)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    pending =
        gathered(
            "INSERT INTO open (id, event, subscription, endpoint, status, attempts, slot, size, sum)"
                + " VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)");
    otherOpen =
        gathered(
            "INSERT INTO open (id, event, subscription, endpoint, status, attempts, slot, base,"
                + " due, not_before, last_attempt_at, size, sum, version)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    changed =
        new Gathered(
            connection.prepareStatement(
                "UPDATE open SET endpoint = ?, status = ?, attempts = ?, slot = ?, base = ?,"
                    + " due = ?, not_before = ?, last_attempt_at = ?, sum = ? WHERE id = ?"),
            "a message to be changed is not unfinished");
    attempts =
        gathered(
            "INSERT INTO attempts (message, number, "
                + Rows.ATTEMPT_COLUMNS
                + ", sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    finished =
        new Gathered(
            connection.prepareStatement("DELETE FROM open WHERE id = ?"),
            "a message to be finished is not unfinished");
    delivered =
        gathered(
            "INSERT INTO messages (id, event, subscription, endpoint, finished_at, attempts,"
                + " attempt_at, duration_millis, scheduled, http_status, response, sum, attempt_sum)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    otherFinished =
        gathered(
            "INSERT INTO messages (id, event, subscription, endpoint, reason, finished_at,"
                + " attempts, "
                + Rows.ATTEMPT_COLUMNS
                + ", sum, attempt_sum, version)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    newEndpoints =
        gathered(
            "INSERT INTO endpoints (id, tenant, url, created_at, state, since, reason, successes,"
                + " failures, previous_attempts, previous_failures, current_attempts,"
                + " current_failures, consecutive_failures, last_success_at, next_probe_at, sum,"
                + " rate_limit, gone_at, sealed)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                + " ON CONFLICT (id) DO NOTHING");
    sealedAgain = gathered("UPDATE endpoints SET sealed = ? WHERE id = ?");
    subscriptions = gathered(SubscriptionRow.INSERT);
    updated =
        new Gathered(
            connection.prepareStatement(SubscriptionRow.UPDATE),
            "a subscription to be changed is not there");
    fanOuts =
        gathered("INSERT INTO fan_outs (" + FanOutRow.COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?)");
    spread =
        new Gathered(
            connection.prepareStatement("DELETE FROM fan_outs WHERE event = ? AND first = ?"),
            "messages to be made are made already");
    replays = gathered(ReplayRow.PUT);
    replayed = gathered("INSERT INTO replayed (event, original, message, sum) VALUES (?, ?, ?, ?)");
    findEvent =
        connection.prepareStatement(
            "SELECT 1 FROM events WHERE id = ?1"
                + " AND NOT EXISTS (SELECT 1 FROM removing WHERE event = ?1)");
    unsubscribed = gathered("UPDATE subscriptions SET ended_at = ?, sum = ? WHERE id = ?");
    endpointChanges =
        gathered(
            "INSERT INTO endpoint_changes (endpoint, at, state, reason, sum, tenant)"
                + " VALUES (?, ?, ?, ?, ?, ?)");
    health =
        gathered(
            "UPDATE endpoints SET state = ?, since = ?, reason = ?, successes = ?, failures = ?,"
                + " previous_attempts = ?, previous_failures = ?, current_attempts = ?,"
                + " current_failures = ?, consecutive_failures = ?, last_success_at = ?,"
                + " next_probe_at = ?, sum = ?, rate_limit = ?, gone_at = ? WHERE id = ?");
    inOrder =
        List.of(
            newEndpoints,
            sealedAgain,
            subscriptions,
            updated,
            unsubscribed,
            events,
            fanOuts,
            spread,
            replays,
            replayed,
            pending,
            otherOpen,
            changed,
            attempts,
            finished,
            delivered,
            otherFinished,
            endpointChanges,
            health);
  }

  private Gathered gathered(String sql) throws SQLException {
    return new Gathered(connection.prepareStatement(sql), null);
  }

  /** How many transactions have been committed. */
  long commits() {
    return commits.get();
  }

  /** The latest time that anything in the store tells of. */
  synchronized Instant latestTime() {
    return progress.at();
  }

  /** From now on nothing is written any more, since what is on disk cannot be vouched for. */
  void breakDown(StoreException cause) {
    if (broken == null) {
      broken = cause;
    }
  }

  synchronized Written write(Batch batch) throws StoreException {
    Written written =
        inTransaction(
            "writing a batch",
            LatestTime.of(batch),
            () -> {
              List<AcceptResult> accepts = new ArrayList<>();
              for (Write write : batch.writes()) {
                gather(write, accepts);
              }
              for (Deed deed : batch.deeds()) {
                if (deed.what() instanceof Deed.Configured done) {
                  configured.add(done.after().id());
                }
                chains.append(Acts.of(deed));
              }
              for (Endpoint endpoint : batch.endpoints()) {
                keepHealth(endpoint);
                if (!configured.isEmpty() && configured.contains(endpoint.id())) {
                  sealAgain(endpoint);
                }
              }
              deliver();
              for (Gathered rows : inOrder) {
                rows.flush();
              }
              index.flushFinished();
              return new Written(accepts);
            });
    index.finished();
    return written;
  }

  /**
   * Does work that nobody waits for, in a transaction of its own. What it finds damaged says
   * nothing about what is still to be delivered, so that does not end the writing of everything
   * else.
   */
  synchronized <T> T behind(String doing, Work<T> work) throws StoreException {
    return inTransaction(doing, progress.at(), false, work);
  }

  /** Sets the parameters of a statement. */
  interface Parameters {
    void set(PreparedStatement statement) throws SQLException;
  }

  /** Does something in a transaction of its own, and writes down in it what was done. */
  synchronized void transact(String doing, Transactions.Doing work) throws StoreException {
    inTransaction(
        doing,
        progress.at(),
        () -> {
          work.run(connection, chains);
          return true;
        });
  }

  /** The same for what nobody waits for, as {@link #behind}. */
  synchronized void transactBehind(String doing, Transactions.Doing work) throws StoreException {
    inTransaction(
        doing,
        progress.at(),
        false,
        () -> {
          work.run(connection, chains);
          return true;
        });
  }

  /** Runs one statement in a transaction of its own. */
  synchronized void execute(String doing, String sql, Parameters parameters) throws StoreException {
    inTransaction(
        doing,
        progress.at(),
        () -> {
          try (PreparedStatement statement = connection.prepareStatement(sql)) {
            parameters.set(statement);
            return statement.executeUpdate();
          }
        });
  }

  /**
   * Tells that the transaction under way removes events of a tenant: to be called by whoever
   * removes them, in the same transaction.
   *
   * @param bytes as {@link Event#size} reckons them
   */
  void removes(String tenant, long count, long bytes) {
    tenants.change(tenant, -count, -bytes);
  }

  interface Work<T> {
    T run() throws SQLException;
  }

  private <T> T inTransaction(String doing, Instant latest, Work<T> work) throws StoreException {
    return inTransaction(doing, latest, true, work);
  }

  private <T> T inTransaction(String doing, Instant latest, boolean onPath, Work<T> work)
      throws StoreException {
    if (broken != null) {
      throw broken;
    }
    try {
      Sqlite.execute(connection, "BEGIN IMMEDIATE");
      T result = work.run();
      tenants.flush();
      Progress next = progress.next(latest);
      next.set(goOn);
      goOn.executeUpdate();
      Sqlite.execute(connection, "COMMIT");
      progress = next;
      tenants.committed();
      chains.committed();
      mark.note(next.commits());
      commits.incrementAndGet();
      return result;
    } catch (SQLException e) {
      StoreException failure = Sqlite.failure(doing, e);
      if (failure.kind() == Kind.BROKEN && (onPath || !Sqlite.isDamage(e))) {
        breakDown(failure);
      }
      undo(failure);
      throw failure;
    } catch (IllegalArgumentException e) {
      StoreException failure = new StoreException(Kind.REFUSED, doing + ": " + e.getMessage(), e);
      undo(failure);
      throw failure;
    } finally {
      claimedNow.clear();
      configured.clear();
    }
  }

  private void undo(StoreException failure) {
    tenants.undone();
    chains.undone();
    index.undone();
    delivers.clear();
    try {
      for (Gathered rows : inOrder) {
        rows.clear();
      }
      Sqlite.execute(connection, "ROLLBACK");
    } catch (SQLException e) {
      // SQLite has undone the transaction by itself; there is nothing left to do.
      failure.addSuppressed(e);
    }
  }

  private void gather(Write write, List<AcceptResult> accepts) throws SQLException {
    switch (write) {
      case Write.Accept accept -> accepts.add(accept(accept.events()));
      case Write.Deliver deliver -> delivers.add(deliver);
      case Write.Retry retry -> {
        change(retry.message());
        PreparedStatement row = attempts.row();
        row.setLong(1, retry.attempt().message());
        row.setInt(2, retry.attempt().number());
        Rows.setAttempt(row, 3, retry.attempt());
        row.setLong(10, Rows.sum(retry.attempt()));
        attempts.add();
      }
      case Write.Park park -> change(park.message());
      case Write.Move move -> change(move.message());
      case Write.Drop drop -> {
        drop(drop);
        announced(drop.announced());
      }
      case Write.Spread made -> {
        PreparedStatement row = spread.row();
        row.setLong(1, made.step().event());
        row.setInt(2, made.step().first());
        spread.add();
        for (Message message : made.messages()) {
          insert(message);
        }
      }
      case Write.Progress progress -> progress(progress);
      case Write.Subscribe subscribe -> subscribe(subscribe);
      case Write.Update update -> update(update);
      case Write.Import all -> {
        for (Write.Subscribe created : all.created()) {
          subscribe(created);
        }
        for (Write.Update changed : all.changed()) {
          update(changed);
        }
      }
      case Write.Unsubscribe unsubscribe -> {
        PreparedStatement row = unsubscribed.row();
        row.setLong(1, Rows.micros(unsubscribe.at()));
        row.setLong(2, SubscriptionRow.sum(unsubscribe.subscription(), unsubscribe.at()));
        row.setLong(3, unsubscribe.subscription().id());
        unsubscribed.add();
      }
      case Write.Forget forgotten -> {
        subscriptions.flush();
        updated.flush();
        unsubscribed.flush();
        forget.setLong(1, forgotten.subscription());
        forget.executeUpdate();
      }
      // It is among the endpoints of the batch.
      case Write.Configure configure -> configured.add(configure.endpoint());
      case Write.ChangeState change -> {
        Health health = change.endpoint().health();
        Change kept = new Change(health.since(), health.state(), health.reason());
        PreparedStatement row = endpointChanges.row();
        row.setLong(1, change.endpoint().id());
        row.setLong(2, Rows.micros(kept.at()));
        row.setString(3, kept.state().name());
        row.setString(4, kept.reason().name());
        row.setLong(5, Rows.sum(change.endpoint().id(), kept));
        row.setString(6, change.endpoint().tenant());
        endpointChanges.add();
        keepHealth(change.endpoint());
        announced(change.announced());
      }
    }
  }

  private void subscribe(Write.Subscribe subscribe) throws SQLException {
    if (subscribe.newEndpoint() != null) {
      insert(subscribe.newEndpoint());
    }
    SubscriptionRow.setNew(subscriptions.row(), subscribe.subscription(), seals);
    subscriptions.add();
    if (subscribe.history() != null) {
      ReplayRow.set(replays.row(), subscribe.history());
      replays.add();
    }
  }

  private void update(Write.Update update) throws SQLException {
    if (update.newEndpoint() != null) {
      insert(update.newEndpoint());
    }
    SubscriptionRow.setChanged(updated.row(), update.subscription(), seals);
    updated.add();
  }

  /** An event of our own is kept like any other. */
  private void announced(@Nullable AcceptedEvent event) throws SQLException {
    if (event != null) {
      insert(event);
    }
  }

  private void progress(Write.Progress progress) throws SQLException {
    ReplayRow.set(replays.row(), progress.replay());
    replays.add();
    for (Write.Remade made : progress.made()) {
      Message message = made.message();
      findEvent.setLong(1, message.event());
      try (ResultSet row = findEvent.executeQuery()) {
        if (!row.next()) {
          throw new IllegalArgumentException("event " + message.event() + " is kept no longer");
        }
      }
      insert(message);
      PreparedStatement row = replayed.row();
      row.setLong(1, message.event());
      row.setLong(2, made.original());
      row.setLong(3, message.id());
      row.setLong(4, Remaking.sum(message.event(), made.original(), message.id()));
      replayed.add();
    }
  }

  private AcceptResult accept(List<AcceptedEvent> accepted) throws SQLException {
    List<Receipt> receipts = new ArrayList<>(accepted.size());
    List<Event> claimed = null;
    for (int index = 0; index < accepted.size(); index++) {
      Event event = accepted.get(index).event();
      int messages = accepted.get(index).total();
      if (event.callerId() == null) {
        receipts.add(new Receipt(event.id(), event.publicId(), messages, false));
        continue;
      }
      byte[] content = digest.of(event);
      if (claim(event, content)) {
        if (claimed == null) {
          claimed = new ArrayList<>();
        }
        claimed.add(event);
        claimedNow.put(event.id(), messages);
        receipts.add(new Receipt(event.id(), event.publicId(), messages, false));
      } else {
        Receipt first = firstReceipt(event, content);
        if (first == null) {
          unclaim(claimed == null ? List.of() : claimed);
          return new AcceptResult.Conflict(index);
        }
        receipts.add(first);
      }
    }
    for (int index = 0; index < accepted.size(); index++) {
      if (!receipts.get(index).repeat()) {
        insert(accepted.get(index));
      }
    }
    return new AcceptResult.Kept(receipts);
  }

  /** Takes the caller's id for this event, unless it is taken. */
  private boolean claim(Event event, byte[] content) throws SQLException {
    claimKey.setString(1, event.tenant());
    claimKey.setString(2, event.callerId());
    claimKey.setLong(3, event.id());
    claimKey.setBytes(4, content);
    claimKey.setLong(5, new Key(event.tenant(), event.callerId(), event.id(), content).sum());
    return claimKey.executeUpdate() == 1;
  }

  private void unclaim(List<Event> claimed) throws SQLException {
    for (Event event : claimed) {
      claimedNow.remove(event.id());
      unclaimKey.setString(1, event.tenant());
      unclaimKey.setString(2, event.callerId());
      unclaimKey.executeUpdate();
    }
  }

  /** What the caller was told of the event that took the id, or null if that was another one. */
  private @Nullable Receipt firstReceipt(Event event, byte[] content) throws SQLException {
    findKey.setString(1, event.tenant());
    findKey.setString(2, event.callerId());
    Key first;
    try (ResultSet row = findKey.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("a caller's id was taken and is not there");
      }
      first = Key.from(row);
    }
    return Arrays.equals(content, first.content())
        ? new Receipt(first.event(), event.publicId(), messagesOf(first.event()), true)
        : null;
  }

  private int messagesOf(long event) throws SQLException {
    Integer now = claimedNow.get(event);
    if (now != null) {
      return now;
    }
    countMessages.setLong(1, event);
    try (ResultSet row = countMessages.executeQuery()) {
      if (!row.next()) {
        throw new Damaged("a caller's id leads to no event");
      }
      return Rows.eventHead(row, 1).messages();
    }
  }

  private void insert(AcceptedEvent accepted) throws SQLException {
    Event event = accepted.event();
    tenants.change(event.tenant(), 1, event.size());
    index.accept(event.id(), event.tenant());
    PreparedStatement row = events.row();
    row.setLong(1, event.id());
    row.setString(2, event.tenant());
    row.setString(3, event.type());
    row.setString(4, event.subject());
    row.setString(5, event.occurredAt() == null ? null : event.occurredAt().toString());
    row.setString(6, event.callerId());
    row.setString(7, event.traceparent());
    row.setInt(8, accepted.total());
    row.setLong(9, Rows.EventHead.of(event, accepted.total()).sum());
    row.setLong(10, Rows.bodySum(event));
    row.setBytes(11, event.data());
    row.setBytes(12, event.previous());
    events.add();
    for (FanOut step : accepted.later()) {
      FanOutRow.set(fanOuts.row(), step);
      fanOuts.add();
    }
    long expected = event.id();
    for (Message message : accepted.messages()) {
      expected += Id.STRIDE;
      if (message.id() != expected || message.event() != event.id()) {
        throw new IllegalArgumentException(
            "message " + message.id() + " does not follow its event " + event.id());
      }
      insert(message);
    }
  }

  private void insert(Message message) throws SQLException {
    boolean isPlain = message.status() == Status.PENDING && message.version() == null;
    Gathered rows = isPlain ? pending : otherOpen;
    PreparedStatement row = rows.row();
    row.setLong(1, message.id());
    row.setLong(2, message.event());
    row.setLong(3, message.subscription());
    row.setLong(4, message.endpoint());
    if (isPlain) {
      row.setInt(5, message.attempts());
      row.setInt(6, message.slot());
      row.setInt(7, message.size());
      row.setLong(8, Rows.sum(message));
    } else {
      row.setInt(5, Rows.code(message.status()));
      row.setInt(6, message.attempts());
      row.setInt(7, message.slot());
      Rows.setTime(row, 8, message.base());
      Rows.setTime(row, 9, message.due());
      Rows.setTime(row, 10, message.notBefore());
      Rows.setTime(row, 11, message.lastAttemptAt());
      row.setInt(12, message.size());
      row.setLong(13, Rows.sum(message));
      Rows.setVersion(row, 14, message.version());
    }
    rows.add();
  }

  private void change(Message message) throws SQLException {
    PreparedStatement row = changed.row();
    row.setLong(1, message.endpoint());
    row.setInt(2, Rows.code(message.status()));
    row.setInt(3, message.attempts());
    row.setInt(4, message.slot());
    Rows.setTime(row, 5, message.base());
    Rows.setTime(row, 6, message.due());
    Rows.setTime(row, 7, message.notBefore());
    Rows.setTime(row, 8, message.lastAttemptAt());
    row.setLong(9, Rows.sum(message));
    row.setLong(10, message.id());
    changed.add();
  }

  private void deliver() throws SQLException {
    delivers.sort(BY_MESSAGE);
    for (Write.Deliver deliver : delivers) {
      deliver(deliver);
    }
    delivers.clear();
  }

  private void deliver(Write.Deliver deliver) throws SQLException {
    Message message = deliver.message();
    Attempt attempt = deliver.attempt();
    if (!(attempt.outcome() instanceof Outcome.Success success)) {
      throw new IllegalArgumentException(
          "message " + message.id() + " is delivered without a success");
    }
    finish(message, false);
    if (message.version() != null) {
      insertFinished(message, null, attempt, deliver.at());
      return;
    }
    PreparedStatement row = delivered.row();
    row.setLong(1, message.id());
    row.setLong(2, message.event());
    row.setLong(3, message.subscription());
    row.setLong(4, message.endpoint());
    row.setLong(5, Rows.micros(deliver.at()));
    row.setInt(6, attempt.number());
    row.setLong(7, Rows.micros(attempt.at()));
    row.setLong(8, attempt.durationMillis());
    row.setInt(9, attempt.scheduled() ? 1 : 0);
    row.setInt(10, success.status());
    row.setBytes(11, success.response());
    row.setLong(12, Finished.of(message, null, deliver.at(), attempt.number()).sum());
    row.setLong(13, Rows.sum(attempt));
    delivered.add();
  }

  private void drop(Write.Drop drop) throws SQLException {
    finish(drop.message(), true);
    insertFinished(drop.message(), drop.reason(), drop.attempt(), drop.at());
  }

  private void insertFinished(
      Message message, @Nullable DropReason reason, @Nullable Attempt attempt, Instant at)
      throws SQLException {
    PreparedStatement row = otherFinished.row();
    row.setLong(1, message.id());
    row.setLong(2, message.event());
    row.setLong(3, message.subscription());
    row.setLong(4, message.endpoint());
    row.setString(5, reason == null ? null : reason.name());
    row.setLong(6, Rows.micros(at));
    int attemptsMade = attempt == null ? message.attempts() : attempt.number();
    row.setInt(7, attemptsMade);
    if (attempt == null) {
      for (int column = 8; column <= 14; column++) {
        row.setNull(column, Types.NULL);
      }
      row.setNull(16, Types.BIGINT);
    } else {
      Rows.setAttempt(row, 8, attempt);
      row.setLong(16, Rows.sum(attempt));
    }
    row.setLong(15, Finished.of(message, reason, at, attemptsMade).sum());
    Rows.setVersion(row, 17, message.version());
    otherFinished.add();
  }

  private void finish(Message message, boolean isDropped) throws SQLException {
    finished.row().setLong(1, message.id());
    finished.add();
    index.finish(message, isDropped);
  }

  private void insert(Endpoint endpoint) throws SQLException {
    PreparedStatement row = newEndpoints.row();
    row.setLong(1, endpoint.id());
    row.setString(2, endpoint.tenant());
    row.setString(3, seals.digest(endpoint));
    row.setLong(4, Rows.micros(endpoint.health().createdAt()));
    Rows.setChanging(row, 5, endpoint);
    row.setBytes(20, seals.seal(endpoint));
    newEndpoints.add();
  }

  /** What is sealed of an endpoint changes only when somebody changes its settings. */
  private void sealAgain(Endpoint endpoint) throws SQLException {
    PreparedStatement row = sealedAgain.row();
    row.setBytes(1, seals.seal(endpoint));
    row.setLong(2, endpoint.id());
    sealedAgain.add();
  }

  private void keepHealth(Endpoint endpoint) throws SQLException {
    PreparedStatement row = health.row();
    Rows.setChanging(row, 1, endpoint);
    row.setLong(16, endpoint.id());
    health.add();
  }

  @Override
  public synchronized void close() throws SQLException {
    connection.close();
  }

  /** Lets the writer's own connection be used between two transactions. */
  synchronized <T> T between(Between<T> work) throws SQLException {
    return work.run(connection);
  }

  interface Between<T> {
    T run(Connection connection) throws SQLException;
  }

  /** A statement and the rows that it will be executed with. */
  private static final class Gathered {
    private final PreparedStatement statement;

    /** Said when a row does not touch exactly one row of the table, unless that is fine. */
    private final @Nullable String otherwise;

    private int rows;

    Gathered(PreparedStatement statement, @Nullable String otherwise) {
      this.statement = statement;
      this.otherwise = otherwise;
    }

    PreparedStatement row() {
      return statement;
    }

    void add() throws SQLException {
      statement.addBatch();
      rows++;
    }

    void flush() throws SQLException {
      if (rows == 0) {
        return;
      }
      rows = 0;
      long[] touched = statement.executeLargeBatch();
      if (otherwise != null) {
        for (long count : touched) {
          if (count != 1) {
            throw new IllegalArgumentException(otherwise);
          }
        }
      }
    }

    void clear() throws SQLException {
      rows = 0;
      statement.clearBatch();
    }
  }
}
