package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.AuditChains;
import dev.holdfast.engine.store.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Reads and writes of a database that several nodes share. */
record PostgresTransactions(Connections connections) implements Transactions {
  /** "Keys" in ASCII: what the numbers of our locks begin with. */
  private static final int LOCKS = 0x4b657973;

  @Override
  public <T> T read(String doing, Read<T> read) throws StoreException {
    return connections.read(
        doing, connection -> read.from(sql -> connection.prepareStatement(sql)));
  }

  @Override
  public void transact(String doing, Doing work) throws StoreException {
    connections
        .transact(
            doing,
            connection -> {
              AuditChains chains = AuditChains.shared(connection, this);
              work.run(connection, chains);
              return chains;
            })
        .committed();
  }

  @Override
  public void lock(Connection connection, Lock lock) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT pg_advisory_xact_lock(?, ?)")) {
      statement.setInt(1, LOCKS);
      statement.setInt(
          2,
          switch (lock) {
            case DATA_KEYS -> 1;
            case API_KEYS -> 2;
            case AUDIT -> 3;
          });
      statement.execute();
    }
  }

  @Override
  public boolean isShared() {
    return true;
  }
}
