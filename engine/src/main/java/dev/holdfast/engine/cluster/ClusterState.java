package dev.holdfast.engine.cluster;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What people see of a cluster.
 *
 * @param self which of the nodes was asked
 * @param known the version of what everyone knows
 * @param oldestHandover how long ago the oldest was left for a node that has not taken it; absent
 *     when nothing is left
 */
public record ClusterState(
    long self,
    List<Node> nodes,
    List<Shard> shards,
    long known,
    long handovers,
    long calls,
    @Nullable Duration oldestHandover) {

  /**
   * A node.
   *
   * @param since when it was started
   * @param leaseLeft how long it keeps its shards if it is not heard of any more; below zero when
   *     that is over. Absent when it shares its store with nobody
   * @param report what it last told of itself; absent when it has not yet
   */
  public record Node(
      long id,
      String name,
      String version,
      Instant since,
      @Nullable Duration leaseLeft,
      int shards,
      @Nullable Report report) {}

  /**
   * What a node tells of itself.
   *
   * @param at when it did
   * @param clockOffsetMillis by how much the database's clock is ahead of the node's own
   */
  public record Report(
      Instant at,
      int inFlight,
      long pending,
      long waiting,
      long parked,
      long eventsAccepted,
      long messagesAccepted,
      long delivered,
      long known,
      long clockOffsetMillis) {}

  /**
   * A shard.
   *
   * @param node absent when nobody decides for it now
   * @param epoch how often that has changed
   */
  public record Shard(int shard, @Nullable Long node, long epoch) {}

  /**
   * What a node finds of itself, for measurements.
   *
   * @param leaseLeft until attempts stop if it cannot be renewed; zero when they have
   * @param arrivals messages that other nodes have left for this one and it has taken
   * @param handedOver batches of this node that have left something for others
   * @param calls what this node has asked others for
   * @param fenced how often others had taken over from it
   */
  public record Own(
      int nodes,
      int shards,
      Duration leaseLeft,
      boolean isAway,
      long arrivals,
      long handedOver,
      long calls,
      long fenced,
      long known,
      Duration clockOffset) {}
}
