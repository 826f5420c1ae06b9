package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * How that of a store is read and written which is beside the path of a message: keys, what they
 * open, and what was done with them. May be used by any thread; blocks.
 */
public interface Transactions {

  /** Reads something, and closes what it opens. */
  <T> T read(String doing, Read<T> read) throws StoreException;

  /** Does something in a transaction of its own, and writes down in it what was done. */
  void transact(String doing, Doing work) throws StoreException;

  /**
   * The same for what nobody waits for: where it finds damage, the store goes on without it.
   *
   * @see #transact
   */
  default void transactBehind(String doing, Doing work) throws StoreException {
    transact(doing, work);
  }

  /**
   * Keeps other transactions that lock the same out until the one under way has ended; from then on
   * they see what it has written.
   */
  void lock(Connection connection, Lock lock) throws SQLException;

  /** Whether others write into the store, too. */
  boolean isShared();

  /** The statements of a connection, each prepared once at most. */
  interface Statements {
    PreparedStatement prepare(String sql) throws SQLException;
  }

  /** Something to be read. */
  interface Read<T> {
    T from(Statements connection) throws SQLException;
  }

  /** What somebody does, and how it is written down. */
  interface Doing {
    void run(Connection connection, AuditChains chains) throws SQLException;
  }

  /** What only one transaction may do at a time, in the order in which one may do several. */
  enum Lock {
    DATA_KEYS,
    API_KEYS,
    AUDIT
  }
}
