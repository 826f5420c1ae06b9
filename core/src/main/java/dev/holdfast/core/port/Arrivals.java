package dev.holdfast.core.port;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What other nodes have left for this one.
 *
 * @param fanOuts steps in which messages are to be made
 * @param replays those that somebody has asked another node for
 * @param isMore whether there may be more
 */
public record Arrivals(
    List<Arrived> messages, List<FanOut> fanOuts, List<Replay> replays, boolean isMore) {
  public static final Arrivals NOTHING = new Arrivals(List.of(), List.of(), List.of(), false);

  /**
   * A message that another node has made, or moved here.
   *
   * @param status as it was left
   * @param message as it is; absent when it is finished already
   */
  public record Arrived(long id, long endpoint, Message.Status status, @Nullable Message message) {}
}
