package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.postgres.Gathered.Type.LONG;
import static dev.holdfast.engine.store.postgres.Gathered.Type.TEXT;

import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.core.port.Written;
import dev.holdfast.engine.store.Acts;
import dev.holdfast.engine.store.AuditChains;
import dev.holdfast.engine.store.ContentDigest;
import dev.holdfast.engine.store.LatestTime;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import dev.holdfast.engine.store.Transactions;
import dev.holdfast.engine.store.postgres.Gathered.Form;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns a batch into one transaction. It has a connection of its own.
 *
 * <p>All statements of a batch go to the server at once, and it commits them at their end: that is
 * one round trip. Ids that callers gave take one before it, and one more if some were taken; what
 * changes rarely takes more.
 *
 * <p>Whether a commit that was not answered has happened is found out before anything else is
 * written: each batch leaves its number, and a number that is given up is not written any more,
 * even if it is still on its way.
 */
final class PostgresWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresWriter.class);

  private static final String BEGIN = "SELECT holdfast_begin(?, ?, ?, ?)";

  private static final Form STALE =
      Form.of(
          "SELECT holdfast_stale(array_agg(k.tenant)) FROM %s AS t(tenant, basis)"
              + " JOIN known_of_tenants k ON k.tenant = t.tenant"
              + " WHERE k.version > t.basis HAVING count(*) > 0",
          TEXT, LONG);

  private static final int MOST_TRIES = 5;
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

  /**
   * For how long it is looked whether a batch was committed. Giving up means that attempts are made
   * again whose outcomes were in it, so a restart of the server, or a standby's taking over, should
   * be over by then.
   */
  private static final Duration LONGEST_DOUBT = Duration.ofMinutes(10);

  private final Connections connections;
  private final Transactions transactions;
  private final Node node;
  private final Seals seals;
  private final ContentDigest digest = new ContentDigest();
  private final Consumer<SQLException> whenInDoubt;
  private final AtomicLong trips = new AtomicLong();

  private @Nullable Connection connection;
  private long batches;
  private volatile Instant latest;
  private volatile @Nullable StoreException broken;

  /**
   * A process that takes part.
   *
   * @param slot the number in the ids that it gives out
   */
  record Node(long id, int slot) {}

  PostgresWriter(
      Connections connections,
      Transactions transactions,
      Node node,
      Seals seals,
      Instant latest,
      Consumer<SQLException> whenInDoubt) {
    this.connections = connections;
    this.transactions = transactions;
    this.node = node;
    this.seals = seals;
    this.latest = latest;
    this.whenInDoubt = whenInDoubt;
  }

  /** What was written, and what others should hear of. */
  record Done(Written written, Shards leftFor, boolean isKnownChanged) {}

  /** How often the server was asked and its answer waited for. */
  long trips() {
    return trips.get();
  }

  Instant latestTime() {
    return latest;
  }

  synchronized Done write(Batch batch) throws StoreException {
    if (broken != null) {
      throw broken;
    }
    for (int tries = 1; ; tries++) {
      boolean isConnected = connection != null;
      Attempt attempt = new Attempt(batch, ++batches);
      try {
        return attempt.run();
      } catch (SQLException e) {
        if (attempt.isSent && SqlStates.isCutShort(e)) {
          letGo();
          if (isCommitted(attempt.number, e)) {
            return attempt.committed();
          }
          if (tries > 1) {
            throw SqlStates.writeFailure("writing a batch", e);
          }
          // The connection may have been lost long ago.
          continue;
        }
        undo(e);
        // A connection may have been lost long ago, and upkeep removes a table now and then.
        boolean isWorthOne =
            tries == 1 && (SqlStates.isAboutTables(e) || (isConnected && SqlStates.isCutShort(e)));
        if (tries == MOST_TRIES || !(isWorthOne || SqlStates.isWorthAnotherTry(e))) {
          StoreException failure = SqlStates.writeFailure("writing a batch", e);
          if (failure.kind() == Kind.BROKEN) {
            broken = failure;
          }
          throw failure;
        }
      } catch (IllegalArgumentException e) {
        undo(e);
        throw new StoreException(Kind.REFUSED, "writing a batch: " + e.getMessage(), e);
      } catch (RuntimeException e) {
        undo(e);
        throw e;
      }
    }
  }

  private Connection connection() throws SQLException {
    Connection open = connection;
    if (open == null) {
      open = connections.own();
      try {
        Connections.execute(open, Connections.ALONG_INDEXES);
        Connections.execute(open, limitTransactions());
        Holders.mark(open, node.id(), Holders.Until.SESSION);
      } catch (SQLException e) {
        open.close();
        throw e;
      }
      connection = open;
    }
    return open;
  }

  /** Servers that know this limit end a batch of which the rest does not come. */
  private String limitTransactions() {
    return "SELECT CASE WHEN current_setting('server_version_num')::int >= 170000 THEN"
        + " set_config('transaction_timeout', '"
        + connections.options().lease().toMillis()
        + "', false) END";
  }

  private void undo(Exception cause) {
    Connection open = connection;
    if (open == null) {
      return;
    }
    try {
      if (open.isClosed() || (cause instanceof SQLException e && SqlStates.isCutShort(e))) {
        letGo();
      } else if (!open.getAutoCommit()) {
        open.rollback();
        open.setAutoCommit(true);
      }
    } catch (SQLException e) {
      cause.addSuppressed(e);
      letGo();
    }
  }

  private void letGo() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        LOG.debug("store.connection-lost", e);
      }
    }
  }

  /**
   * Looks whether a batch was committed whose answer did not come. What is still on its way is not
   * committed after that: its number is given up.
   */
  private boolean isCommitted(long number, SQLException cause) throws StoreException {
    long end = System.nanoTime() + LONGEST_DOUBT.toNanos();
    LOG.warn("store.in-doubt batch={} next=\"looks whether it was committed\"", number, cause);
    whenInDoubt.accept(cause);
    while (true) {
      try (Connection looking = connections.own()) {
        // The rest of it does not come any more, and nothing can be known while it is waited for.
        Holders.endWaiting(looking, node.id());
        boolean isCommitted = looked(looking, number);
        LOG.info("store.decided batch={} committed={}", number, isCommitted);
        return isCommitted;
      } catch (SQLException e) {
        StoreException failure = SqlStates.failure("looking whether a batch was committed", e);
        if (failure.kind() == Kind.FENCED) {
          throw failure;
        }
        if (System.nanoTime() - end >= 0 || Thread.currentThread().isInterrupted()) {
          throw new StoreException(
              Kind.FENCED, "whether a batch was committed cannot be known: " + e.getMessage(), e);
        }
        LockSupport.parkNanos(BETWEEN_LOOKS.toNanos());
      }
    }
  }

  private boolean looked(Connection looking, long number) throws SQLException {
    looking.setAutoCommit(false);
    long last;
    try (PreparedStatement statement =
        looking.prepareStatement("SELECT batch FROM batches WHERE node = ? FOR UPDATE")) {
      statement.setLong(1, node.id());
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("node " + node.id() + " takes part no longer", SqlStates.FENCED);
        }
        last = row.getLong(1);
      }
    }
    batches = Math.max(batches, number + 1);
    if (last < number) {
      try (PreparedStatement statement =
          looking.prepareStatement("UPDATE batches SET batch = ? WHERE node = ?")) {
        statement.setLong(1, number + 1);
        statement.setLong(2, node.id());
        statement.executeUpdate();
      }
    }
    looking.commit();
    return last == number;
  }

  @Override
  public synchronized void close() {
    letGo();
  }

  /** A batch on its way. */
  private final class Attempt {
    private final Batch batch;
    private final long number;
    private final Set<String> changedTenants = new HashSet<>();
    private boolean isSent;
    private Written written = new Written(List.of());
    private Shards leftFor = Shards.NONE;
    private @Nullable AuditChains chains;
    private @Nullable KnownWrites known;

    Attempt(Batch batch, long number) {
      this.batch = batch;
      this.number = number;
    }

    Done run() throws SQLException {
      Claims claims = Claims.of(batch, digest);
      KnownWrites changes = KnownWrites.of(batch, seals);
      Connection own = connection();
      if (claims.isEmpty() && changes.isEmpty() && batch.deeds().isEmpty()) {
        Rowset rows = rows(claims.judge(batch));
        if (rows.fanOuts().isEmpty() && rows.replays().isEmpty()) {
          send(own, beginning(rows.highest()), rows.statements(), false);
          return committed();
        }
      }
      own.setAutoCommit(false);
      known = changes;
      // First what others may wait for, always in this order.
      if (!changes.isEmpty()) {
        changedTenants.addAll(changes.tenants());
        changes.lock(own);
        trips.incrementAndGet();
        check(own, stale(changes.tenants()));
      }
      if (!claims.isEmpty()) {
        claim(own, claims);
      }
      Claims.Verdicts verdicts = claims.judge(batch);
      Rowset rows = rows(verdicts);
      if (verdicts.correct(own)) {
        trips.addAndGet(2);
      }
      if (!batch.deeds().isEmpty()) {
        chains = AuditChains.shared(own, transactions);
        for (Deed deed : batch.deeds()) {
          chains.append(Acts.of(deed));
        }
      }
      trips.addAndGet(changes.write(own));
      trips.addAndGet(SeldomWrites.write(own, rows));
      send(own, beginning(rows.highest()), rows.statements(), true);
      own.setAutoCommit(true);
      return committed();
    }

    private Rowset rows(Claims.Verdicts verdicts) {
      Rowset rows = new Rowset(batch, verdicts.results(), node.slot());
      written = new Written(verdicts.results());
      leftFor = rows.leftFor();
      return rows;
    }

    /** What was told of is on disk. */
    Done committed() {
      Instant time = LatestTime.of(batch);
      if (time.isAfter(latest)) {
        latest = time;
      }
      if (chains != null) {
        chains.committed();
      }
      KnownWrites changes = known;
      boolean isKnownChanged = changes != null && !changes.isEmpty();
      if (changes != null && isKnownChanged) {
        written = new Written(written.accepts(), changes.version());
      }
      return new Done(written, leftFor, isKnownChanged);
    }

    private Beginning beginning(long highest) {
      return new Beginning(number, Rows.micros(LatestTime.of(batch)), highest);
    }

    private void check(Connection own, List<Gathered> checks) throws SQLException {
      for (Gathered rows : checks) {
        try (PreparedStatement statement = own.prepareStatement(rows.sql())) {
          rows.set(own, statement, 1);
          trips.incrementAndGet();
          statement.execute();
        }
      }
    }

    /** Claims the ids that callers gave, and learns whose those are that are taken. */
    private void claim(Connection own, Claims claims) throws SQLException {
      Gathered rows = claims.rows();
      try (PreparedStatement statement = own.prepareStatement(rows.sql())) {
        rows.set(own, statement, 1);
        trips.incrementAndGet();
        try (ResultSet claimed = statement.executeQuery()) {
          if (claims.learn(own, claimed)) {
            trips.incrementAndGet();
          }
        }
      }
    }

    /** Sends all at once, and commits it. */
    private void send(
        Connection own, Beginning beginning, List<Gathered> statements, boolean isBegun)
        throws SQLException {
      List<Gathered> all = new ArrayList<>(stale(relied()));
      all.addAll(statements);
      StringBuilder sql = new StringBuilder(BEGIN);
      for (Gathered rows : all) {
        sql.append("; ").append(rows.sql());
      }
      if (isBegun) {
        sql.append("; COMMIT");
      }
      try (PreparedStatement statement = own.prepareStatement(sql.toString())) {
        statement.setLong(1, node.id());
        statement.setLong(2, beginning.number());
        statement.setLong(3, beginning.latest());
        statement.setLong(4, beginning.highest());
        int next = 5;
        for (Gathered rows : all) {
          next = rows.set(own, statement, next);
        }
        isSent = true;
        trips.incrementAndGet();
        statement.execute();
      }
    }

    /** Tenants whose subscriptions and endpoints the batch goes by, and does not change. */
    private Set<String> relied() {
      Set<String> tenants = new HashSet<>(batch.basis().keySet());
      tenants.removeAll(changedTenants);
      return tenants;
    }

    /** Refuses the batch if another node has changed something of these tenants. */
    private List<Gathered> stale(Set<String> tenants) {
      Gathered rows = STALE.rows();
      boolean isAny = false;
      for (String tenant : tenants) {
        Long basis = batch.basis().get(tenant);
        if (basis != null) {
          rows.add(tenant, basis);
          isAny = true;
        }
      }
      return isAny ? List.of(rows) : List.of();
    }
  }

  private record Beginning(long number, long latest, long highest) {}
}
