package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreSource;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Moves a whole embedded store into a database of its own, and proves that all of it is there.
 *
 * <p>Rows go in the order of their keys, a chunk at a time. How far it is goes with each chunk in
 * one transaction, so whatever ends a move, the next one goes on behind the last row that is there.
 * While a move is not finished no node starts on the database.
 *
 * <p>In the end all rows are read again on both sides, and what is not equal is told. Only then the
 * move is finished.
 */
public final class Move {
  /** "Holdmove" in ASCII: whoever holds this lock of the database moves something into it. */
  private static final long LOCK = 0x486f6c646d6f7665L;

  private static final int FETCHED_ROWS = 2_000;

  private static final String ANEW =
      " Make an empty database and move the store into that one"
          + " (dropdb and createdb, or another name in the URL).";

  private final StoreSource source;
  private final Connection target;
  private final Parts parts;
  private final Retention retention;
  private final Limits limits;
  private final Observer observer;

  private Move(
      StoreSource source,
      Connection target,
      Parts parts,
      Retention retention,
      Limits limits,
      Observer observer) {
    this.source = source;
    this.target = target;
    this.parts = parts;
    this.retention = retention;
    this.limits = limits;
    this.observer = observer;
  }

  /** Is told how far it is, now and then. */
  public interface Observer {
    /** All of the embedded store is being read, to see whether it is damaged. */
    void checking();

    /**
     * Rows have been written, and are on disk if the next thing that is told is something else.
     *
     * @param rows how many of all, also by earlier runs
     */
    void moved(String table, long rows, long ofRows);

    /** All is moved, and is being read again; told by two threads. */
    void compared(long rows, long ofRows);
  }

  /**
   * How much is moved at a time.
   *
   * @param bytes a chunk ends with the row that brings it to so many
   */
  record Limits(int rows, int bytes) {
    static final Limits DEFAULT = new Limits(20_000, 16 << 20);
  }

  /**
   * A table on both sides.
   *
   * @param from a part of the digest of all its rows, as the embedded store has them
   * @param to the same, as the database has them
   */
  public record Compared(
      String table, long fromRows, long toRows, String from, String to, boolean isEqual) {}

  /**
   * What was done.
   *
   * @param tables all of them; none when it had been moved before
   * @param before when it had been moved before, if so
   * @param rows how many this run has moved
   * @param unfinished how many messages are not finished
   * @param upTo the latest time that anything in the store tells of
   * @param masterKey the id of the master key that the secrets are sealed under, if there are any
   */
  public record Result(
      List<Compared> tables,
      @Nullable Instant before,
      long rows,
      long unfinished,
      Instant upTo,
      @Nullable String masterKey) {

    /** Whether the database has everything that the store has, and nothing else. */
    public boolean isEqual() {
      return tables.stream().allMatch(Compared::isEqual);
    }
  }

  /**
   * Moves the store of a directory, which no server may be using, or goes on with it.
   *
   * @param options where the database is; its tables are made if it has none
   * @param retention how long servers will keep what is finished: it says where tables are cut
   */
  public static Result run(
      Path directory, PostgresOptions options, Retention retention, Observer observer)
      throws StoreRefused {
    return run(directory, options, retention, Limits.DEFAULT, observer);
  }

  static Result run(
      Path directory,
      PostgresOptions options,
      Retention retention,
      Limits limits,
      Observer observer)
      throws StoreRefused {
    try (StoreSource source = StoreSource.open(directory);
        Connections connections = new Connections(options)) {
      connections.reach();
      makeTables(connections);
      try (Connection target = connections.own()) {
        // What a node may not take long for, a move may.
        Connections.execute(
            target,
            "SET statement_timeout = 0; SET lock_timeout = '60s';"
                + " SET idle_in_transaction_session_timeout = 0");
        target.setNetworkTimeout(Runnable::run, 0);
        target.setAutoCommit(false);
        return new Move(source, target, new Parts(connections), retention, limits, observer).run();
      }
    } catch (SQLException | StoreException e) {
      throw new StoreRefused(
          "The store in "
              + directory
              + " was not moved to "
              + options.place()
              + ": "
              + e.getMessage()
              + ". What was moved until then is kept: do away with the cause and repeat the command,"
              + " which goes on where it was.",
          e);
    }
  }

  private static void makeTables(Connections connections) throws StoreException, StoreRefused {
    int version = Schema.version(connections);
    if (version != 0 && version < Schema.newest()) {
      throw new StoreRefused(
          connections.options().place() + " has tables of an earlier version of Holdfast." + ANEW);
    }
    Schema.make(connections);
  }

  private Result run() throws StoreRefused, SQLException, StoreException {
    lock();
    Instant before = begin();
    if (before != null) {
      return result(List.of(), before, 0);
    }
    List<Long> counts = new ArrayList<>();
    for (MovedTable table : MovedTable.ALL) {
      counts.add(number(source.connection(), "SELECT count(*) FROM " + table.name()));
    }
    long all = counts.stream().mapToLong(Long::longValue).sum();
    long already = number(target, "SELECT coalesce(sum(rows), 0)::bigint FROM moved");
    target.commit();
    makeParts();
    long rows = already;
    for (MovedTable table : MovedTable.ALL) {
      rows = move(table, rows, all);
    }
    List<Compared> compared = compare(all);
    if (compared.stream().allMatch(Compared::isEqual)) {
      finish();
    }
    return result(compared, null, rows - already);
  }

  private Result result(List<Compared> compared, @Nullable Instant before, long rows)
      throws SQLException {
    return new Result(
        compared,
        before,
        rows,
        number(source.connection(), "SELECT count(*) FROM open"),
        source.upTo(),
        source.masterKey());
  }

  private void lock() throws SQLException, StoreRefused {
    if (number(target, "SELECT pg_try_advisory_lock(" + LOCK + ")::int") == 0) {
      throw new StoreRefused(
          "Something is being moved into this database already. Wait until that has ended.");
    }
    target.commit();
  }

  /**
   * Sees to it that the database is empty or that this very store was begun to be moved into it.
   *
   * @return when it was moved, if it was
   */
  private @Nullable Instant begin() throws SQLException, StoreRefused {
    try (Statement statement = target.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT source, commits, origin, finished_at FROM moves")) {
      if (row.next()) {
        Instant finished = instant(row.getObject(4, OffsetDateTime.class));
        refuseOther(row.getString(1), row.getLong(2), row.getString(3), finished);
        target.commit();
        return finished;
      }
    }
    target.rollback();
    refuseUnlessEmpty();
    target.rollback();
    observer.checking();
    source.refuseDamaged();
    try (Statement lock = target.createStatement();
        PreparedStatement note =
            target.prepareStatement(
                "INSERT INTO moves (id, source, commits, origin, began_at)"
                    + " VALUES (0, ?, ?, ?, clock_timestamp())")) {
      lock.execute("LOCK TABLE nodes, data_keys, api_keys IN SHARE ROW EXCLUSIVE MODE");
      refuseUnlessEmpty();
      note.setString(1, source.identity());
      note.setLong(2, source.commits());
      note.setString(3, source.directory().toAbsolutePath().normalize().toString());
      note.executeUpdate();
      target.commit();
    }
    return null;
  }

  private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
    return time == null ? null : time.toInstant();
  }

  private void refuseOther(String identity, long commits, String origin, @Nullable Instant finished)
      throws StoreRefused {
    if (!identity.equals(source.identity())) {
      throw new StoreRefused(
          finished == null
              ? "Another store, from %s, was begun to be moved into this database. Go on with that one."
                      .formatted(origin)
                  + ANEW
              : "This database has another store already, which was moved from %s."
                      .formatted(origin)
                  + ANEW);
    }
    if (commits != source.commits()) {
      throw new StoreRefused(
          "The store in %s has been used since %s: the two are no longer the same."
                  .formatted(
                      source.directory(),
                      finished == null
                          ? "its move into this database began"
                          : "it was moved into this database at " + finished)
              + (finished == null
                  ? ANEW
                  : " If the database is what is in use now, do not start a server on the directory"
                      + " any more. If the directory is, move it again."
                      + ANEW));
    }
  }

  private void refuseUnlessEmpty() throws SQLException, StoreRefused {
    if (isThere("nodes")) {
      throw new StoreRefused(
          "Nodes are running on this database, or were until a moment ago. A store is moved into an"
              + " empty one."
              + ANEW);
    }
    for (MovedTable table : MovedTable.ALL) {
      if (isThere(table.name())) {
        throw new StoreRefused(
            "This database is not empty: it has rows in the table %s. A store is moved into an empty one."
                    .formatted(table.name())
                + ANEW);
      }
    }
  }

  private boolean isThere(String table) throws SQLException {
    return number(target, "SELECT EXISTS (SELECT 1 FROM " + table + ")::int") != 0;
  }

  /**
   * Cuts the tables as upkeep would have cut them, so that the oldest can be dropped bit by bit.
   * What should have been removed long ago stands together in the first part.
   */
  private void makeParts() throws SQLException, StoreException {
    Duration width = Parts.width(retention);
    Instant newest = Id.time(source.highestId());
    Instant oldest =
        Id.time(number(source.connection(), "SELECT coalesce(min(id), 0) FROM events"));
    Instant due = newest.minus(retention.age()).minus(width);
    Instant at = oldest.isBefore(due) ? due : oldest;
    for (; at.isBefore(newest.plus(width)); at = at.plus(width)) {
      if (!parts.make(width, at, at)) {
        throw new SQLException("somebody else is at work with the tables");
      }
    }
  }

  /** How far a table is. */
  private record Far(long rows, @Nullable List<String> through, boolean isDone) {}

  private Far far(MovedTable table) throws SQLException {
    try (PreparedStatement find =
        target.prepareStatement("SELECT rows, through, is_done FROM moved WHERE name = ?")) {
      find.setString(1, table.name());
      try (ResultSet row = find.executeQuery()) {
        if (!row.next()) {
          return new Far(0, null, false);
        }
        Array through = row.getArray(2);
        return new Far(
            row.getLong(1),
            through == null ? null : List.of((String[]) through.getArray()),
            row.getBoolean(3));
      }
    }
  }

  /**
   * Moves what is left of a table.
   *
   * @return how many rows of all are moved then
   */
  private long move(MovedTable table, long moved, long all) throws SQLException {
    Far far = far(table);
    target.commit();
    if (far.isDone()) {
      return moved;
    }
    long rows = far.rows();
    long total = moved;
    CopiedRows chunk = new CopiedRows(table);
    try (PreparedStatement select =
        source.connection().prepareStatement(table.fromSourceInOrder(far.through() != null))) {
      for (int i = 0; far.through() != null && i < far.through().size(); i++) {
        if (table.key().get(i).kind() == MovedTable.Kind.TEXT) {
          select.setString(i + 1, far.through().get(i));
        } else {
          select.setLong(i + 1, Long.parseLong(far.through().get(i)));
        }
      }
      List<String> through = far.through();
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          @Nullable Object[] values = table.source(row);
          through = table.keyOf(values);
          refuseOrphan(table, values, through);
          chunk.add(values);
          if (chunk.rows() >= limits.rows() || chunk.size() >= limits.bytes()) {
            rows += chunk.rows();
            total += chunk.rows();
            write(table, chunk, new Far(rows, through, false), total, all);
          }
        }
      }
      rows += chunk.rows();
      total += chunk.rows();
      write(table, chunk, new Far(rows, through, true), total, all);
    }
    return total;
  }

  private static void refuseOrphan(MovedTable table, @Nullable Object[] values, List<String> key)
      throws SQLException {
    for (int i = 0; i < values.length; i++) {
      MovedTable.Column column = table.columns().get(i);
      if (values[i] == null && column.source().equals("e.tenant")) {
        throw new SQLException(
            "the row %s of the table %s belongs to nothing that is there"
                .formatted(String.join(", ", key), table.name()));
      }
    }
  }

  /** Writes a chunk, and how far the table is then, in one transaction. */
  private void write(MovedTable table, CopiedRows chunk, Far far, long moved, long all)
      throws SQLException {
    if (chunk.rows() > 0) {
      chunk.flush(target);
    }
    try (PreparedStatement note =
        target.prepareStatement(
            "INSERT INTO moved (name, rows, through, is_done) VALUES (?, ?, ?, ?)"
                + " ON CONFLICT (name) DO UPDATE SET rows = excluded.rows,"
                + " through = excluded.through, is_done = excluded.is_done")) {
      note.setString(1, table.name());
      note.setLong(2, far.rows());
      note.setArray(
          3,
          far.through() == null
              ? null
              : target.createArrayOf("text", far.through().toArray(String[]::new)));
      note.setBoolean(4, far.isDone());
      note.executeUpdate();
    }
    observer.moved(table.name(), moved, all);
    target.commit();
  }

  /** Reads all rows again on both sides, at the same time. */
  private List<Compared> compare(long all) throws SQLException {
    AtomicLong read = new AtomicLong();
    FutureTask<List<RowsDigest.Result>> reading =
        new FutureTask<>(
            () -> {
              List<RowsDigest.Result> results = new ArrayList<>();
              for (MovedTable table : MovedTable.ALL) {
                results.add(ofTarget(table, read, 2 * all));
              }
              return results;
            });
    Thread reader = Thread.ofPlatform().daemon().name("holdfast-move-compare").start(reading);
    List<RowsDigest.Result> inSource = new ArrayList<>();
    for (MovedTable table : MovedTable.ALL) {
      inSource.add(ofSource(table, read, 2 * all));
    }
    List<RowsDigest.Result> inTarget = end(reader, reading);
    target.commit();
    List<Compared> compared = new ArrayList<>();
    for (int i = 0; i < inTarget.size(); i++) {
      RowsDigest.Result from = inSource.get(i);
      RowsDigest.Result to = inTarget.get(i);
      compared.add(
          new Compared(
              MovedTable.ALL.get(i).name(),
              from.rows(),
              to.rows(),
              from.shown(),
              to.shown(),
              from.equals(to)));
    }
    return List.copyOf(compared);
  }

  private static <T> T end(Thread thread, FutureTask<T> task) throws SQLException {
    try {
      thread.join();
      return task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SQLException cause) {
        throw cause;
      }
      throw new IllegalStateException("reading what was moved", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException("interrupted while reading what was moved", e);
    }
  }

  private RowsDigest.Result ofSource(MovedTable table, AtomicLong read, long all)
      throws SQLException {
    RowsDigest digest = new RowsDigest();
    try (Statement statement = source.connection().createStatement();
        ResultSet rows = statement.executeQuery(table.fromSource())) {
      while (rows.next()) {
        digest.add(table.source(rows));
        tell(read, all);
      }
    }
    return digest.result();
  }

  private RowsDigest.Result ofTarget(MovedTable table, AtomicLong read, long all)
      throws SQLException {
    RowsDigest digest = new RowsDigest();
    try (Statement statement = target.createStatement()) {
      statement.setFetchSize(FETCHED_ROWS);
      try (ResultSet rows = statement.executeQuery(table.fromTarget())) {
        while (rows.next()) {
          digest.add(table.target(rows));
          tell(read, all);
        }
      }
    }
    return digest.result();
  }

  private void tell(AtomicLong read, long all) {
    long rows = read.incrementAndGet();
    if (rows % FETCHED_ROWS == 0) {
      observer.compared(rows, all);
    }
  }

  /** Lets nodes start on the database. */
  private void finish() throws SQLException {
    try (Statement statement = target.createStatement()) {
      // Without them the first statements would be planned for empty tables.
      statement.execute("ANALYZE");
      target.commit();
      for (String table : List.of("audit", "endpoint_changes")) {
        statement.execute(
            "SELECT setval(pg_get_serial_sequence('%1$s', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM %1$s), false)"
                .formatted(table));
      }
      statement.executeUpdate("UPDATE known SET version = " + MovedTable.VERSION);
      statement.executeUpdate(
          "INSERT INTO known_of_tenants (tenant, version) SELECT tenant, "
              + MovedTable.VERSION
              + " FROM (SELECT tenant FROM endpoints UNION SELECT tenant FROM subscriptions) t");
      statement.executeUpdate(
          "INSERT INTO batches (node, batch, latest, highest) VALUES (0, 0, "
              + Rows.micros(source.upTo())
              + ", "
              + source.highestId()
              + ")");
      statement.executeUpdate("UPDATE moves SET finished_at = clock_timestamp()");
      target.commit();
    }
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        throw new SQLException("no answer to: " + sql);
      }
      return row.getLong(1);
    }
  }
}
