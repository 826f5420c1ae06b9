package dev.holdfast.core.rules;

import dev.holdfast.core.model.Message;

/** What happens to a message after an attempt. */
public sealed interface Verdict {

  /** It has arrived, and is never sent again. */
  record Delivered() implements Verdict {}

  /** It waits for its next slot, as {@code message} says. */
  record Wait(Message message) implements Verdict {}

  /** It is given up and kept. */
  record Drop(Message.DropReason reason) implements Verdict {}
}
