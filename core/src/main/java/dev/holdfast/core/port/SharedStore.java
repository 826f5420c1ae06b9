package dev.holdfast.core.port;

import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Snapshot.Stored;
import java.util.Map;

/**
 * A store that several nodes share. {@link #write} refuses whatever a node writes that has lost its
 * lease ({@link StoreException.Kind#FENCED}), in the transaction that would have written it.
 */
public interface SharedStore extends Store {

  /** What every node knows and has changed after a version. */
  Known changes(long since) throws StoreException;

  /**
   * What is in shards that are this node's from now on. All that was left for their node is in it,
   * and does not arrive any more.
   */
  Holdings holdings(Shards shards) throws StoreException;

  /**
   * What was left for this node and has not arrived yet, each once; whoever asks again has taken in
   * what came before.
   */
  Arrivals arrivals(Shards ours, int limit) throws StoreException;

  /** What is kept of each tenant's events, by all nodes. */
  Map<String, Stored> stored() throws StoreException;
}
