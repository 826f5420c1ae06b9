package dev.holdfast.core.rules;

import dev.holdfast.core.model.Message;

/** What happens to a message whose time has come. */
public sealed interface Arrival {

  /** Its endpoint takes deliveries: it is tried. */
  record Try() implements Arrival {}

  /** Its endpoint takes none: it is parked, as {@code message} says. */
  record Park(Message message) implements Arrival {}

  /** Its deadline has passed while its endpoint took none. */
  record Expire() implements Arrival {}
}
