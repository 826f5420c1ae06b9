package dev.holdfast.engine.store;

import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A store with all that people ask of it beside the path of a message. */
public interface Database extends Store, History {

  /** The latest time that anything in the store tells of: it was now once. */
  Instant latestTime();

  /** What the secrets in it are sealed with. */
  StoreVault vault();

  /** The keys of the API. */
  ApiKeys apiKeys();

  /** The browsers that have signed in with one of them. */
  Sessions sessions();

  /** What people and keys have changed. */
  Audit audit();

  /** What has happened in each minute. */
  ActivityRows activity();

  /** Looks how much there is: a few sizes and the first entries of two indexes. */
  Extent extent() throws StoreException;

  /**
   * How much there is.
   *
   * @param freeBytes what the disk has left; the greatest number when that cannot be known
   * @param oldestUnfinished when the oldest unfinished message was accepted
   * @param earliestDue when the first of all that wait is due
   */
  record Extent(
      long databaseBytes,
      long logBytes,
      long freeBytes,
      @Nullable Instant oldestUnfinished,
      @Nullable Instant earliestDue) {}

  /**
   * Does a little of the work that nobody waits for: a few milliseconds at most. Called by the
   * thread that writes, between two batches.
   *
   * @param retention what is to be kept
   * @param now the time, which goes on as the engine's does
   */
  Upkept upkeep(Retention retention, Instant now) throws StoreException;
}
