package dev.holdfast.engine;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.path.Delays.Percentiles;
import dev.holdfast.core.path.View.TenantNow;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Somebody who watches what happens of a tenant's. Called on the engine's event loop. */
public interface Watcher {

  /** Once a second, and once when the watching begins. */
  void now(Now now);

  /** An endpoint has come into the state that its health tells. */
  void changed(Endpoint endpoint);

  /**
   * What has happened in the last second, and what there is.
   *
   * @param at until when
   * @param delays of what was delivered in the last minute; absent when nothing was
   * @param droppedToday messages since midnight, UTC
   */
  record Now(
      Instant at,
      long accepted,
      long delivered,
      long failed,
      @Nullable Percentiles delays,
      TenantNow there,
      long droppedToday) {}

  /** Goes on until it is closed, which can be repeated. */
  interface Watching extends AutoCloseable {
    @Override
    void close();
  }
}
