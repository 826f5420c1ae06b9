package dev.holdfast.engine;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.path.Delays.Percentiles;
import dev.holdfast.core.path.View.TenantNow;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Somebody who watches what happens of a tenant's. Called on the engine's event loop. */
public interface Watcher {

  /** Once a second, and once when the watching begins. */
  void now(Now now);

  /**
   * What has happened in the last second, and what there is.
   *
   * @param at until when
   * @param delays of what was delivered in the last minute; absent when nothing was
   * @param droppedToday messages since midnight, UTC
   * @param changed endpoints that have come into the state that their health tells, in that order;
   *     one can be there several times
   * @param moreChanged whether others have that are left out
   */
  record Now(
      Instant at,
      long accepted,
      long delivered,
      long failed,
      @Nullable Percentiles delays,
      TenantNow there,
      long droppedToday,
      List<Endpoint> changed,
      boolean moreChanged) {}

  /** Goes on until it is closed, which can be repeated. */
  interface Watching extends AutoCloseable {
    @Override
    void close();
  }
}
