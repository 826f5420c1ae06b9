package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConnection;

/**
 * A connection that only reads, one read at a time.
 *
 * <p>A read must close what it opens: a row set that stays open would keep the log from being
 * emptied. It can be interrupted by another thread.
 */
final class Reader implements AutoCloseable {
  private final Connection connection;
  private final Map<String, PreparedStatement> statements = new HashMap<>();
  private final Object interrupting = new Object();

  /** Why the read under way was interrupted, if it was; guarded by {@link #interrupting}. */
  private @Nullable String interruption;

  /** When the read under way began; 0 when there is none. Guarded by {@link #interrupting}. */
  private long beganNanos;

  Reader(Path file) throws SQLException {
    connection = Sqlite.reader(file);
  }

  <T> T read(String doing, Transactions.Read<T> read) throws StoreException {
    synchronized (this) {
      begin();
      try {
        return read.from(this::prepare);
      } catch (SQLException e) {
        throw failure(doing, e);
      } catch (RuntimeException e) {
        throw nonsense(doing, e);
      } finally {
        end();
      }
    }
  }

  /** Reads with several statements that all see the same moment. */
  <T> T readAtOnce(String doing, Transactions.Read<T> read) throws StoreException {
    return read(
        doing,
        statements -> {
          statements.prepare("BEGIN").execute();
          try {
            return read.from(statements);
          } finally {
            statements.prepare("ROLLBACK").execute();
          }
        });
  }

  private PreparedStatement prepare(String sql) throws SQLException {
    PreparedStatement statement = statements.get(sql);
    if (statement == null) {
      statement = connection.prepareStatement(sql);
      statements.put(sql, statement);
    }
    return statement;
  }

  private void begin() {
    synchronized (interrupting) {
      beganNanos = System.nanoTime() | 1;
      interruption = null;
    }
  }

  private void end() {
    synchronized (interrupting) {
      beganNanos = 0;
    }
  }

  /** Ends the read under way, if it has been for longer than {@code nanos}. */
  void interruptIfLongerThan(long nanos, String reason) {
    synchronized (interrupting) {
      if (beganNanos != 0 && interruption == null && System.nanoTime() - beganNanos >= nanos) {
        interruption = reason;
        try {
          connection.unwrap(SQLiteConnection.class).getDatabase().interrupt();
        } catch (SQLException e) {
          throw new IllegalStateException("interrupting a read", e);
        }
      }
    }
  }

  private StoreException failure(String doing, SQLException e) {
    synchronized (interrupting) {
      return interruption != null && Sqlite.isInterrupt(e)
          ? new StoreException(StoreException.Kind.REFUSED, doing + ": " + interruption, e)
          : Sqlite.failure(doing, e);
    }
  }

  /** A row that nobody here can have written: the file was damaged, or changed by somebody else. */
  private static StoreException nonsense(String doing, RuntimeException e) {
    return new StoreException(
        StoreException.Kind.BROKEN, doing + ": what is stored there makes no sense: " + e, e);
  }

  /** Ends the read under way. */
  @Override
  public void close() throws SQLException {
    interruptIfLongerThan(0, "the store is being closed");
    synchronized (this) {
      connection.close();
    }
  }
}
