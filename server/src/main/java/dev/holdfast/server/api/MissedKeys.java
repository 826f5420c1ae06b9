package dev.holdfast.server.api;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashSet;

/**
 * Says which unknown keys, or cookies, are worth looking for in a store that others write into,
 * too: each of them once, and few in a second. What was made meanwhile is learned every second
 * anyway, so whoever sends many that are nobody's makes others wait that long at most. May be used
 * by any thread.
 */
public final class MissedKeys {
  private static final int MOST = 1_000;
  private static final int IN_A_SECOND = 50;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  /** Hashes of keys that were looked for, the earliest first. */
  private final LinkedHashSet<ByteBuffer> looked = new LinkedHashSet<>();

  private boolean isBegun;
  private long since;
  private int times;

  /**
   * Whether a key is to be looked for now; then it is not again.
   *
   * @param now monotonic, in nanoseconds
   */
  public synchronized boolean mayLook(byte[] hash, long now) {
    ByteBuffer key = ByteBuffer.wrap(hash);
    if (looked.contains(key)) {
      return false;
    }
    if (!isBegun || now - since >= SECOND) {
      isBegun = true;
      since = now;
      times = 0;
    }
    if (times >= IN_A_SECOND) {
      return false;
    }
    times++;
    looked.add(key);
    if (looked.size() > MOST) {
      looked.removeFirst();
    }
    return true;
  }
}
