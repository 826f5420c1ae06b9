package dev.holdfast.proof.model;

import java.time.Instant;

/**
 * What may keep the engine from doing something at once, each with the last moment at which it did.
 * Whatever is late must be late for one of these.
 */
public final class Obstacles {
  private final int inFlightMost;
  private final int unprovenMost;
  private final long bytesMost;

  private int inFlight;
  private int unproven;
  private long bytes;
  private long unprovenBytes;

  /** The largest message so far: a limit is looked at before one is sent, not after. */
  private long largest;

  private Instant noPlace = Instant.MIN;
  private Instant noUnprovenPlace = Instant.MIN;

  private boolean committing;
  private Instant committingUntil = Instant.MIN;
  private boolean storeFails;
  private Instant storeFailedUntil = Instant.MIN;
  private int reading;
  private Instant readingUntil = Instant.MIN;
  private Instant readFailedAt = Instant.MIN;
  private Instant crowdedUntil = Instant.MIN;
  private Instant startedAt = Instant.MIN;
  private Instant leaptAt = Instant.MIN;
  private Instant slowAt = Instant.MIN;

  /**
   * The engine's limits.
   *
   * @param inFlightMost attempts at once
   * @param unprovenMost of these, to endpoints whose last attempt did not succeed
   * @param bytesMost bytes being sent; half of them for such endpoints
   */
  public Obstacles(int inFlightMost, int unprovenMost, long bytesMost) {
    this.inFlightMost = inFlightMost;
    this.unprovenMost = unprovenMost;
    this.bytesMost = bytesMost;
  }

  void sends(boolean isUnproven, long size, Instant now) {
    inFlight++;
    bytes += size;
    largest = Math.max(largest, size);
    if (isUnproven) {
      unproven++;
      unprovenBytes += size;
    }
    look(now);
  }

  void sent(boolean wasUnproven, long size, Instant now) {
    look(now);
    inFlight--;
    bytes -= size;
    if (wasUnproven) {
      unproven--;
      unprovenBytes -= size;
    }
  }

  private void look(Instant now) {
    if (!hasUnprovenPlace()) {
      noUnprovenPlace = now;
    }
    if (!hasPlace()) {
      noPlace = now;
    }
  }

  /** Whether attempts that succeed could not start: those that fail do not count against them. */
  private boolean hasPlace() {
    boolean byCount = inFlight < inFlightMost || inFlight - unproven < inFlightMost - unprovenMost;
    boolean byBytes = bytes < bytesMost || bytes - unprovenBytes + largest < bytesMost / 2;
    return byCount && byBytes;
  }

  private boolean hasUnprovenPlace() {
    return inFlight < inFlightMost
        && bytes < bytesMost
        && unproven < unprovenMost
        && unprovenBytes < bytesMost / 2;
  }

  public void commitStarts() {
    committing = true;
  }

  public void commitEnds(boolean failed, Instant now) {
    committing = false;
    committingUntil = now;
    if (storeFails || failed) {
      storeFailedUntil = now;
    }
    storeFails = failed;
  }

  public void readStarts() {
    reading++;
  }

  public void readEnds(Instant now) {
    reading--;
    readingUntil = now;
  }

  public void readFailed(boolean wasInTheWay, Instant now) {
    if (wasInTheWay) {
      readEnds(now);
    }
    readFailedAt = now;
  }

  /**
   * The engine holds as much as it may, so that what is due later keeps out what is due earlier.
   */
  public void crowded(Instant now) {
    crowdedUntil = now;
  }

  /** The clock was set: what has become due by that is many things at once. */
  public void leapt(Instant now) {
    leaptAt = now;
  }

  /** The store takes its time. */
  public void slow(Instant now) {
    slowAt = now;
  }

  void starts(Instant now) {
    startedAt = now;
    slowAt = Instant.MIN;
    leaptAt = Instant.MIN;
    noPlace = Instant.MIN;
    noUnprovenPlace = Instant.MIN;
    committingUntil = Instant.MIN;
    storeFailedUntil = Instant.MIN;
    readingUntil = Instant.MIN;
    crowdedUntil = Instant.MIN;
    readFailedAt = Instant.MIN;
    inFlight = 0;
    unproven = 0;
    bytes = 0;
    unprovenBytes = 0;
    committing = false;
    storeFails = false;
    reading = 0;
  }

  /**
   * Whether endpoints that fail leave places to those that do not.
   *
   * @param taken messages that may have been given a place before their endpoint failed
   */
  boolean leavesPlaces(int taken) {
    return inFlight <= inFlightMost && unproven <= unprovenMost + taken;
  }

  @Override
  public String toString() {
    return inFlight
        + " of "
        + inFlightMost
        + " in flight, "
        + unproven
        + " of "
        + unprovenMost
        + " to endpoints that have not proven themselves";
  }

  /** Until when an attempt could not be started; {@code MAX} when it cannot now. */
  Instant ofSending(boolean proven) {
    boolean place = proven ? hasPlace() : hasUnprovenPlace();
    if (!place || storeFails || reading > 0) {
      return Instant.MAX;
    }
    Instant until = Contract.later(proven ? noPlace : noUnprovenPlace, readingUntil);
    return Contract.later(until, crowdedUntil);
  }

  /** Until when something could not be written; {@code MAX} when it cannot now. */
  Instant ofWriting() {
    if (committing || storeFails || reading > 0) {
      return Instant.MAX;
    }
    Instant until = Contract.later(committingUntil, readingUntil);
    return Contract.later(until, crowdedUntil);
  }

  /** Until when what takes many reads and commits, one after the other, was held up. */
  Instant ofManySteps() {
    return Contract.later(Contract.later(lastTrouble(), slowAt), crowdedUntil);
  }

  boolean isCommitting() {
    return committing;
  }

  /** When the last trouble ended from which the engine needs a while to recover. */
  Instant lastTrouble() {
    return Contract.later(
        Contract.later(storeFailedUntil, readFailedAt), Contract.later(startedAt, leaptAt));
  }
}
