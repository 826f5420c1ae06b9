package dev.holdfast.proof.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/** What goes wrong with the disk, and how long everything takes on it. */
final class Disk {
  private final World world;
  private final Set<Long> poisonedEvents = new HashSet<>();
  private Instant fullUntil = Instant.MIN;
  private Instant poisonUntil = Instant.MIN;
  private int poisonOneIn = 1;
  private Instant slowUntil = Instant.MIN;
  private Duration slowCommits = Duration.ZERO;
  private Duration slowReads = Duration.ZERO;
  private Instant readsFailUntil = Instant.MIN;
  private int readsFailOneIn = 1;
  private boolean loseNext;
  private boolean lostIsWritten;
  private Duration lostDown = Duration.ZERO;
  private boolean healed;
  private boolean committing;
  private long rolls;

  Disk(World world) {
    this.world = world;
  }

  /** What happens to a commit. */
  sealed interface Fate {
    record Works(Duration takes) implements Fate {}

    record Fails(StoreException.Kind kind, Duration takes) implements Fate {}

    record Lost(boolean written, Duration down, Duration takes) implements Fate {}
  }

  Fate fateOf(Batch batch, Instant now) {
    Duration takes = upTo(now.isBefore(slowUntil) ? slowCommits : world.commitTime());
    if (loseNext) {
      loseNext = false;
      return new Fate.Lost(lostIsWritten, lostDown, takes);
    }
    if (now.isBefore(fullUntil)) {
      return new Fate.Fails(StoreException.Kind.FULL, takes);
    }
    boolean refused = batch.writes().stream().anyMatch(write -> isPoisoned(write, now));
    return refused ? new Fate.Fails(StoreException.Kind.REFUSED, takes) : new Fate.Works(takes);
  }

  private boolean isPoisoned(Write write, Instant now) {
    return switch (write) {
      case Write.Accept accept ->
          accept.events().stream()
              .anyMatch(
                  e ->
                      poisonedEvents.contains(
                          Long.parseLong(new String(e.event().data(), UTF_8).strip())));
      case Write.Deliver deliver -> isPoisoned(deliver.message().id(), now);
      case Write.Retry retry -> isPoisoned(retry.message().id(), now);
      case Write.Park park -> isPoisoned(park.message().id(), now);
      case Write.Drop drop -> isPoisoned(drop.message().id(), now);
      case Write.Move move -> isPoisoned(move.message().id(), now);
      case Write.Spread spread -> isPoisoned(spread.step().message(0), now);
      case Write.Progress progress -> isPoisoned(progress.replay().id(), now);
      case Write.Subscribe _,
          Write.Import _,
          Write.Update _,
          Write.Unsubscribe _,
          Write.Forget _,
          Write.Configure _,
          Write.ChangeState _ ->
          false;
    };
  }

  private boolean isPoisoned(long message, Instant now) {
    return now.isBefore(poisonUntil) && (message >>> 10) % poisonOneIn == 0;
  }

  boolean failsRead(Instant now) {
    return now.isBefore(readsFailUntil) && roll().nextInt(readsFailOneIn) == 0;
  }

  boolean isSlow(Instant now) {
    return now.isBefore(slowUntil);
  }

  Duration readTime(Instant now) {
    return upTo(now.isBefore(slowUntil) ? slowReads : world.readTime());
  }

  /** When, while it is under way, a read sees the disk. */
  Duration readsAt(Duration takes, Instant now) {
    return now.isBefore(slowUntil) ? upTo(takes) : takes.dividedBy(2);
  }

  private Duration upTo(Duration most) {
    long micros = most.toNanos() / 1_000;
    return Duration.ofNanos(1_000 * roll().nextLong(1, Math.max(2, micros)));
  }

  private SplittableRandom roll() {
    return new SplittableRandom(world.seed() * 0x9E3779B97F4A7C15L + rolls++);
  }

  void starts() {
    committing = false;
  }

  void commitStarts() {
    committing = true;
  }

  void commitEnds() {
    committing = false;
  }

  boolean isIdle() {
    return !committing;
  }

  void poison(long event) {
    if (!healed) {
      poisonedEvents.add(event);
    }
  }

  void fill(Instant until) {
    fullUntil = until;
  }

  void poison(Instant until, int oneIn) {
    poisonUntil = until;
    poisonOneIn = oneIn;
  }

  void loseNext(boolean written, Duration down) {
    loseNext = true;
    lostIsWritten = written;
    lostDown = down;
  }

  void slow(Instant until, Duration commits, Duration reads) {
    slowUntil = until;
    slowCommits = commits;
    slowReads = reads;
  }

  void failReads(Instant until, int oneIn) {
    readsFailUntil = until;
    readsFailOneIn = oneIn;
  }

  /** How long the trouble that is known of goes on. */
  Duration troubleLeft(Instant now) {
    Instant until = now;
    for (Instant one : new Instant[] {fullUntil, slowUntil, poisonUntil, readsFailUntil}) {
      until = one.isAfter(until) ? one : until;
    }
    Duration left = Duration.between(now, until);
    return isSlow(now) ? left.plus(slowCommits.multipliedBy(100)) : left;
  }

  void heal() {
    healed = true;
    loseNext = false;
    fullUntil = Instant.MIN;
    poisonUntil = Instant.MIN;
    slowUntil = Instant.MIN;
    readsFailUntil = Instant.MIN;
    poisonedEvents.clear();
  }
}
