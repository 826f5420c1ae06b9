package dev.holdfast.server.cli;

import java.time.Duration;

/** Waits, unless somebody wants the command to end. */
@FunctionalInterface
interface Patience {

  /** Waits this long; true as soon as the command is asked to end. */
  boolean askedToEndWithin(Duration time);
}
