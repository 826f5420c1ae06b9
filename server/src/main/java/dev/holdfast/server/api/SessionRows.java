package dev.holdfast.server.api;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Session;
import dev.holdfast.engine.store.Sessions;
import java.util.List;
import java.util.Optional;

/** What is needed of {@link Sessions}, so that tests can stand in for them. Blocking. */
interface SessionRows {

  /** Whether others begin and end sessions, too. */
  boolean isShared();

  void put(Session session) throws StoreException;

  void delete(byte[] hash) throws StoreException;

  List<Session> all() throws StoreException;

  Optional<Session> find(byte[] hash) throws StoreException;

  Sessions.Mark mark() throws StoreException;

  static SessionRows of(Sessions stored) {
    return new SessionRows() {
      @Override
      public boolean isShared() {
        return stored.isShared();
      }

      @Override
      public void put(Session session) throws StoreException {
        stored.put(session, ApiLimits.KEY_SESSIONS, ApiLimits.SESSIONS);
      }

      @Override
      public void delete(byte[] hash) throws StoreException {
        stored.delete(hash);
      }

      @Override
      public List<Session> all() throws StoreException {
        return stored.all();
      }

      @Override
      public Optional<Session> find(byte[] hash) throws StoreException {
        return stored.find(hash);
      }

      @Override
      public Sessions.Mark mark() throws StoreException {
        return stored.mark();
      }
    };
  }
}
