package dev.holdfast.core.port;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Shards;
import java.util.List;
import java.util.Map;

/**
 * What is kept by one transaction and one fsync, in this order.
 *
 * @param endpoints each endpoint whose health or settings have changed, once, as it is after all
 *     writes
 * @param deeds what somebody did that is on disk with this batch, in the order of its time
 * @param ours the shards that the node decides for. What the batch brings into others is left for
 *     their nodes to find ({@link SharedStore#arrivals}); of an endpoint in others it may tell
 *     settings, and never health
 * @param basis for each tenant whose subscriptions and endpoints the batch goes by, the version of
 *     what everyone knows ({@link Known#version}) that it was decided by. The store refuses it as
 *     stale if something of such a tenant has changed since, and says whose
 */
public record Batch(
    List<Write> writes,
    List<Endpoint> endpoints,
    List<Deed> deeds,
    Shards ours,
    Map<String, Long> basis) {

  /** What a node decides that shares its store with nobody. */
  public Batch(List<Write> writes, List<Endpoint> endpoints, List<Deed> deeds) {
    this(writes, endpoints, deeds, Shards.ALL, Map.of());
  }

  /** What nobody in particular did. */
  public Batch(List<Write> writes, List<Endpoint> endpoints) {
    this(writes, endpoints, List.of());
  }
}
