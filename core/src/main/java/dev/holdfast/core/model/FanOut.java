package dev.holdfast.core.model;

import dev.holdfast.core.model.Form.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Messages of an accepted event that are still to be made: one step of those of an event that very
 * many subscriptions want.
 *
 * @param event the event, whose messages have the ids right after its own
 * @param eventSize the bytes that the event takes in memory
 * @param first the place of the first of them among all messages of the event, from 0
 * @param targets for whom they are
 */
public record FanOut(long event, int eventSize, int first, List<Target> targets) {

  public FanOut {
    targets = List.copyOf(targets);
    if (targets.isEmpty()) {
      throw new IllegalArgumentException("a step makes at least one message: " + event);
    }
  }

  /**
   * A subscription that wanted the event when it was accepted, with its endpoint then.
   *
   * @param version as {@link Message#version}
   */
  public record Target(long subscription, long endpoint, @Nullable Version version) {}

  /** The id of the message for the target at {@code index}. */
  public long message(int index) {
    return event + (first + index + 1L) * Id.STRIDE;
  }

  public long lastMessage() {
    return message(targets.size() - 1);
  }
}
