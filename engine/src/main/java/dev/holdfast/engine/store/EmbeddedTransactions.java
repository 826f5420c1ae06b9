package dev.holdfast.engine.store;

import dev.holdfast.core.port.StoreException;
import java.sql.Connection;

/** Reads and writes of the embedded store, which has one writer: it needs no locks. */
record EmbeddedTransactions(Writer writer, Reader reader) implements Transactions {

  @Override
  public <T> T read(String doing, Read<T> read) throws StoreException {
    return reader.read(doing, read);
  }

  @Override
  public void transact(String doing, Doing work) throws StoreException {
    writer.transact(doing, work);
  }

  @Override
  public void transactBehind(String doing, Doing work) throws StoreException {
    writer.transactBehind(doing, work);
  }

  @Override
  public void lock(Connection connection, Lock lock) {}

  @Override
  public boolean isShared() {
    return false;
  }
}
