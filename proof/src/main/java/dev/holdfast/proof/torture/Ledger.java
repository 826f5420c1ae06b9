package dev.holdfast.proof.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What was acknowledged and what arrived, noted outside the server.
 *
 * <p>A message counts as taken when the listener has decided to answer it with a 2xx. An arrival
 * after that is a repeat, and has to have a reason: a kill at which the message had been taken and
 * the store did not have it as delivered yet, an attempt that the store has as failed though the
 * listener did not refuse it (a time-out), or a time of trouble, in which nobody could write down
 * that it was taken. Everything may be called by any thread.
 */
final class Ledger {
  /** Each event goes to one of the listener's endpoints by its type, and to the one for all. */
  static final int MESSAGES_PER_EVENT = 2;

  private static final int PROBLEMS_SHOWN = 20;

  /** What was taken so long before a time of trouble has been written down. */
  private static final long LONGEST_RECORD_NANOS = Duration.ofSeconds(1).toNanos();

  private final Plan plan;
  private final LongSupplier nanos;
  private final List<Trouble> troubles = new ArrayList<>();
  private final Set<Integer> watched = new HashSet<>();
  private final BitSet sent = new BitSet();
  private final BitSet acknowledged = new BitSet();
  private final BitSet refused = new BitSet();
  private final Map<Long, Entry> byMessage = new HashMap<>();
  private final Map<Long, Long> messageByKey = new HashMap<>();
  private final Set<Long> awaited = new HashSet<>();
  private final List<String> problems = new ArrayList<>();
  private int next;
  private int taken;
  private int takenOfAcknowledged;
  private long arrivals;
  private long repeats;
  private long unrecordedAtKills;
  private long mostUnrecordedAtKill;
  private int kills;
  private long lastKillNanos;

  private long watchedAtNanos;
  private boolean refusalsUncertain;
  private int refusedAndArrived;
  private long unrecordedRepeats;

  Ledger(Plan plan) {
    this(plan, System::nanoTime);
  }

  Ledger(Plan plan, LongSupplier nanos) {
    this.plan = plan;
    this.nanos = nanos;
  }

  /** A time in which what was taken at some endpoints may not have been written down. */
  private record Trouble(long fromNanos, long toNanos, Set<Integer> endpoints) {
    boolean explains(Entry entry) {
      return endpoints.contains(entry.endpoint)
          && entry.takenAtNanos - (fromNanos - LONGEST_RECORD_NANOS) >= 0
          && entry.takenAtNanos - toNanos <= 0;
    }
  }

  /** What is known of one message. */
  private static final class Entry {
    final int event;
    final int endpoint;
    long takenAtNanos;
    int arrivals;
    int refusals;
    boolean taken;

    /** Arrivals after it was taken. */
    int repeats;

    /** Kills at which it was taken and not recorded as delivered. */
    int unrecorded;

    /** Kills before it was taken, at each of which one refusal may not have been recorded. */
    int unrecordedRefusals;

    Entry(int event, int endpoint) {
      this.event = event;
      this.endpoint = endpoint;
    }
  }

  /** What is to be answered to an arrival. */
  record Verdict(boolean taken, long delayMillis) {}

  /** Sums over everything so far. */
  record Counts(
      int sent,
      int acknowledged,
      int refused,
      int taken,
      long arrivals,
      long repeats,
      int kills,
      long unrecordedAtKills,
      long mostUnrecordedAtKill) {}

  /** The numbers of the next events to be sent. */
  synchronized int[] send(int count) {
    int[] numbers = new int[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = next++;
      sent.set(numbers[i]);
    }
    return numbers;
  }

  /** The server has answered 202, or 200 for a repeat of what it had accepted before. */
  synchronized void acknowledged(int... events) {
    for (int event : events) {
      if (!acknowledged.get(event)) {
        acknowledged.set(event);
        for (int i = 0; i < MESSAGES_PER_EVENT; i++) {
          takenOfAcknowledged += isTaken(event, i) ? 1 : 0;
        }
      }
    }
  }

  /** The server has said that it did not keep these. */
  synchronized void refused(int... events) {
    for (int event : events) {
      refused.set(event);
    }
  }

  /** Something that must not happen. */
  synchronized void problem(String problem) {
    if (problems.size() < PROBLEMS_SHOWN) {
      problems.add(problem);
    } else if (problems.size() == PROBLEMS_SHOWN) {
      problems.add("and more");
    }
  }

  /** A message has arrived: notes it and decides what to answer. */
  synchronized Verdict arrived(long message, int event, int subscription) {
    arrivals++;
    awaited.remove(message);
    long key = key(event, subscription);
    Long known = messageByKey.putIfAbsent(key, message);
    if (known != null && known != message) {
      problem("event %d came as two messages: it was accepted twice".formatted(event));
    }
    if (!sent.get(event)) {
      problem("event %d arrived and was never sent".formatted(event));
    }
    int endpoint = subscription == 0 ? event % Listener.ENDPOINTS : Listener.ALL_EVENTS;
    if (watched.remove(endpoint)) {
      watchedAtNanos = nanos.getAsLong();
    }
    Entry entry = byMessage.computeIfAbsent(message, _ -> new Entry(event, endpoint));
    long delay = plan.delayMillis(event, subscription, entry.arrivals);
    entry.arrivals++;
    if (entry.taken) {
      entry.repeats++;
      repeats++;
      return new Verdict(true, delay);
    }
    if (entry.refusals < plan.refusals(event, subscription)) {
      entry.refusals++;
      return new Verdict(false, delay);
    }
    entry.taken = true;
    entry.takenAtNanos = nanos.getAsLong();
    taken++;
    if (acknowledged.get(event)) {
      takenOfAcknowledged++;
    }
    return new Verdict(true, delay);
  }

  /**
   * The server was killed and its last request has been read: from now on each message that was
   * taken, and that its store does not have as delivered, may come once more.
   *
   * @param unfinished the ids of the messages that the store has as unfinished
   */
  synchronized void killed(Iterable<Long> unfinished) {
    kills++;
    lastKillNanos = nanos.getAsLong();
    long unrecorded = 0;
    for (long message : unfinished) {
      Entry entry = byMessage.get(message);
      if (entry != null && entry.taken) {
        entry.unrecorded++;
        unrecorded++;
      } else if (entry != null && entry.unrecordedRefusals < entry.refusals) {
        entry.unrecordedRefusals++;
      }
    }
    unrecordedAtKills += unrecorded;
    mostUnrecordedAtKill = Math.max(mostUnrecordedAtKill, unrecorded);
  }

  /**
   * There was a time of trouble: what was taken in it at these endpoints, or right before it, may
   * come once more.
   */
  synchronized void trouble(long fromNanos, long toNanos, Set<Integer> endpoints) {
    troubles.add(new Trouble(fromNanos, toNanos, Set.copyOf(endpoints)));
  }

  /**
   * From now on an event may have been kept though it was refused: who refused it could not ask the
   * database any more.
   */
  synchronized void refusalsAreUncertain() {
    refusalsUncertain = true;
  }

  /** How many events were refused and arrived all the same, as far as that is allowed. */
  synchronized int refusedAndArrived() {
    return refusedAndArrived;
  }

  /**
   * How often a message came again after a success that was not recorded, as far as that is known
   * from an audit: no failure is recorded that would explain it.
   */
  synchronized long unrecordedRepeats() {
    return unrecordedRepeats;
  }

  /** From now on it is noted when something has arrived at each of these endpoints. */
  synchronized void watch(Set<Integer> endpoints) {
    watched.clear();
    watched.addAll(endpoints);
  }

  /** At how many of the watched endpoints nothing has arrived. */
  synchronized int watched() {
    return watched.size();
  }

  /** When something had arrived at the last of them. */
  synchronized long watchedAtNanos() {
    return watchedAtNanos;
  }

  /** From now on it is noted which of these messages arrive. */
  synchronized void await(Set<Long> messages) {
    awaited.clear();
    awaited.addAll(messages);
  }

  /** How many of the awaited messages have not arrived. */
  synchronized int awaited() {
    return awaited.size();
  }

  synchronized List<String> problems() {
    return List.copyOf(problems);
  }

  /** Messages of acknowledged events that have not been taken yet. */
  synchronized int missing() {
    return acknowledged.cardinality() * MESSAGES_PER_EVENT - takenOfAcknowledged;
  }

  synchronized Counts counts() {
    return new Counts(
        next,
        acknowledged.cardinality(),
        refused.cardinality(),
        taken,
        arrivals,
        repeats,
        kills,
        unrecordedAtKills,
        mostUnrecordedAtKill);
  }

  /**
   * Compares the ledger with what the store says in the end, and tells everything that is wrong.
   */
  synchronized List<String> audit(StoreLook.Contents store) {
    for (int event = acknowledged.nextSetBit(0);
        event >= 0;
        event = acknowledged.nextSetBit(event + 1)) {
      for (int subscription = 0; subscription < MESSAGES_PER_EVENT; subscription++) {
        if (!isTaken(event, subscription)) {
          problem(
              "NOT ARRIVED: event %d was acknowledged%s"
                  .formatted(event, whereabouts(event, subscription, store)));
        }
      }
    }
    refused.stream()
        .filter(event -> isKnown(event) && !acknowledged.get(event))
        .forEach(this::auditRefused);
    if (!store.unfinished().isEmpty()) {
      problem("%d messages are unfinished in the end".formatted(store.unfinished().size()));
    }
    store.finished().forEach(this::auditFinished);
    byMessage.forEach((message, entry) -> auditRepeats(entry, store.finished().get(message)));
    return List.copyOf(problems);
  }

  private void auditRefused(int event) {
    refusedAndArrived++;
    if (!refusalsUncertain) {
      problem("event %d was refused and arrived all the same".formatted(event));
    }
  }

  private void auditFinished(long message, StoreLook.Finished finished) {
    Entry entry = byMessage.get(message);
    if (finished.reason() != null) {
      problem("message %d was dropped as %s".formatted(message, finished.reason()));
    } else if (entry == null || !entry.taken) {
      problem("message %d is recorded as delivered and never arrived".formatted(message));
    }
  }

  private void auditRepeats(Entry entry, StoreLook.@Nullable Finished finished) {
    if (finished == null) {
      problem(
          "event %d arrived and the store does not have its message as finished"
              .formatted(entry.event));
      return;
    }
    int refusals = entry.refusals - entry.unrecordedRefusals;
    int otherFailures = Math.max(0, finished.attempts() - 1 - refusals);
    unrecordedRepeats += Math.max(0, entry.repeats - otherFailures);
    long inTrouble = troubles.stream().filter(trouble -> trouble.explains(entry)).count();
    if (entry.repeats > entry.unrecorded + otherFailures + inTrouble) {
      problem(
          "event %d came %d times after endpoint %d had taken it; %d kills, %d recorded failures and %d times of trouble allow for it%s"
              .formatted(
                  entry.event,
                  entry.repeats,
                  entry.endpoint,
                  entry.unrecorded,
                  otherFailures,
                  inTrouble,
                  kills == 0
                      ? ""
                      : "; it was taken %,d ms after the last kill was noted"
                          .formatted(
                              Duration.ofNanos(entry.takenAtNanos - lastKillNanos).toMillis())));
    }
  }

  private String whereabouts(int event, int subscription, StoreLook.Contents store) {
    Long message = messageByKey.get(key(event, subscription));
    if (message == null) {
      return ", nor was it ever tried";
    }
    return store.unfinished().contains(message)
        ? ", it is unfinished"
        : store.finished().containsKey(message) ? ", it is finished" : ", the store has lost it";
  }

  private boolean isKnown(int event) {
    return messageByKey.containsKey(key(event, 0)) || messageByKey.containsKey(key(event, 1));
  }

  private boolean isTaken(int event, int subscription) {
    Long message = messageByKey.get(key(event, subscription));
    Entry entry = message == null ? null : byMessage.get(message);
    return entry != null && entry.taken;
  }

  private static long key(int event, int subscription) {
    return (long) event * MESSAGES_PER_EVENT + subscription;
  }
}
