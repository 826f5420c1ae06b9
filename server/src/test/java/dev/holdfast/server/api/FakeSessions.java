package dev.holdfast.server.api;

import dev.holdfast.engine.store.Session;
import dev.holdfast.engine.store.Sessions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Sessions that are kept in memory. */
final class FakeSessions implements SessionRows {
  private final List<Session> all = new CopyOnWriteArrayList<>();

  @Override
  public boolean isShared() {
    return false;
  }

  @Override
  public void put(Session session) {
    all.add(session);
  }

  @Override
  public void delete(byte[] hash) {
    all.removeIf(session -> Arrays.equals(session.hash(), hash));
  }

  @Override
  public List<Session> all() {
    return List.copyOf(all);
  }

  @Override
  public Optional<Session> find(byte[] hash) {
    return all.stream().filter(session -> Arrays.equals(session.hash(), hash)).findFirst();
  }

  @Override
  public Sessions.Mark mark() {
    return new Sessions.Mark(all.size(), 0);
  }
}
