package dev.holdfast.engine.cluster;

import java.sql.Connection;
import java.sql.SQLException;

/** Makes a connection. */
@FunctionalInterface
public interface Connecting {
  /** Makes one. */
  Connection connect() throws SQLException;
}
