package dev.holdfast.core.rules;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import java.time.Instant;
import java.util.Comparator;

/** What becomes due when an endpoint becomes enabled, and in which order. */
public enum Recovery {
  /** Everything parked and waiting becomes due. */
  DRAIN,
  /** Parked messages become due; waiting ones keep their slots. */
  SCHEDULE;

  /** Those with the fewest attempts first, then the oldest. */
  public static final Comparator<Message> ORDER =
      Comparator.comparingInt(Message::attempts).thenComparingLong(Message::id);

  /**
   * Whether a message of an enabled endpoint may be tried now. A waiting one whose last attempt was
   * before the endpoint became enabled is recovery's; each enabling tries it once.
   */
  public boolean isDue(Message message, Health health, Instant now) {
    return switch (message.status()) {
      case PENDING, PARKED -> true;
      case PAUSED -> false;
      case WAITING -> {
        if (message.notBefore() != null && now.isBefore(message.notBefore())) {
          yield false;
        }
        boolean slotHasCome = message.due() != null && !now.isBefore(message.due());
        yield slotHasCome
            || (message.lastAttemptAt() != null
                && message.lastAttemptAt().isBefore(triedBefore(health)));
      }
    };
  }

  /** Waiting messages last tried before this moment are due by recovery. */
  public Instant triedBefore(Health health) {
    return this == DRAIN && health.isEnabled() ? health.since() : Instant.EPOCH;
  }
}
