package dev.holdfast.core.rules;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import java.time.Instant;
import java.util.Comparator;

/**
 * Which message probes a disabled endpoint: the parked one with the fewest attempts, then the
 * oldest; if none is parked, the waiting one with the fewest attempts.
 */
public final class ProbeChoice {

  /** The first in this order is chosen. */
  public static final Comparator<Message> ORDER =
      Comparator.comparing((Message message) -> message.status() != Status.PARKED)
          .thenComparingInt(Message::attempts)
          .thenComparingLong(Message::id);

  private ProbeChoice() {}

  /** A message whose endpoint asked to be left alone is not chosen until then. */
  public static boolean allows(Message message, Instant now) {
    return message.status() != Status.PENDING
        && message.status() != Status.PAUSED
        && (message.notBefore() == null || !now.isBefore(message.notBefore()));
  }
}
