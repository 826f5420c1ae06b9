package dev.holdfast.core.port;

import java.util.List;

/**
 * What became of a batch that is now on disk.
 *
 * @param accepts one result for each {@link Write.Accept} of the batch, in order
 * @param version as {@link Known#version}, the one that this batch has made; 0 when it has changed
 *     nothing that every node knows, or when nobody shares the store
 */
public record Written(List<AcceptResult> accepts, long version) {

  /** What has changed nothing that other nodes would have to know. */
  public Written(List<AcceptResult> accepts) {
    this(accepts, 0);
  }

  /** What became of the events of one request. */
  public sealed interface AcceptResult {

    /** Each event is on disk, now or from before. */
    record Kept(List<Receipt> receipts) implements AcceptResult {}

    /** Nothing was kept: the event at {@code index} has a known id and other content. */
    record Conflict(int index) implements AcceptResult {}
  }

  /**
   * What the sender of an event is told.
   *
   * @param repeat whether the event was known already; {@code event} and {@code messages} are then
   *     those of the first time
   */
  public record Receipt(long event, String publicId, int messages, boolean repeat) {}
}
