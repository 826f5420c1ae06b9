package dev.holdfast.engine.cluster;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the database that one thing has for itself, so that it waits for nobody. It is
 * made when it is needed, and anew after something went wrong with it.
 */
final class Link implements AutoCloseable {
  private final Connecting connecting;
  private @Nullable Connection connection;
  private boolean closed;

  Link(Connecting connecting) {
    this.connecting = connecting;
  }

  /** Something to be done with a connection. Each statement is a transaction of its own. */
  @FunctionalInterface
  interface Work<T> {
    T with(Connection connection) throws SQLException;
  }

  synchronized <T> T run(Work<T> work) throws SQLException {
    if (closed) {
      throw new SQLException("the node is stopping");
    }
    Connection present = connection;
    if (present == null) {
      present = connecting.connect();
      connection = present;
    }
    try {
      return work.with(present);
    } catch (SQLException | RuntimeException e) {
      drop();
      throw e;
    }
  }

  /**
   * Does what may be done twice. A connection that was there before may have been lost long ago, so
   * then it is tried with another.
   */
  synchronized <T> T look(Work<T> work) throws SQLException {
    boolean isOld = connection != null;
    try {
      return run(work);
    } catch (SQLException e) {
      if (isOld && !closed) {
        return run(work);
      }
      throw e;
    }
  }

  private void drop() {
    Connection present = connection;
    connection = null;
    if (present != null) {
      try {
        present.close();
      } catch (SQLException _) {
        // It is of no use any more, closed or not.
      }
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    drop();
  }
}
