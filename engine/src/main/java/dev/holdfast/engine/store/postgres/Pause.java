package dev.holdfast.engine.store.postgres;

import java.time.Duration;

/** Lets others work between two tries. */
final class Pause {
  private Pause() {}

  /** Whether it is over; not if nobody waits for the next try any more. */
  static boolean of(Duration time) {
    try {
      Thread.sleep(time);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
