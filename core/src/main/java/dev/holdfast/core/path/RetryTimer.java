package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Store.DueCursor;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Knows which messages are due soon.
 *
 * <p>All messages that are due up to {@code loadedThrough} are held here; later ones are rows in
 * the store and are loaded as the time comes near. So it does not matter how many wait. When there
 * are more than may be held, those that are due last are left to the store again.
 */
final class RetryTimer {
  private static final int LOAD_AT_ONCE = 2_000;

  private final int most;
  private final Duration horizon;
  private final Loads loads;
  private final TreeSet<Alarm> alarms = new TreeSet<>();
  private int storedAlarms;

  private DueCursor loadedThrough = DueCursor.START;
  private @Nullable Instant loadingThrough;
  private @Nullable DueCursor rewindTo;

  /** Whose messages are loaded. */
  private Shards ours;

  /** What was let go since the load under way was asked for. */
  private Shards lost = Shards.NONE;

  RetryTimer(int most, Duration horizon, Loads loads, Shards ours) {
    this.most = most;
    this.horizon = horizon;
    this.loads = loads;
    this.ours = ours;
  }

  /** Messages in other shards are loaded from now on, and those due in new ones from the start. */
  void loadFor(Shards shards) {
    boolean isMore = !shards.minus(ours).isEmpty();
    lost = lost.plus(ours.minus(shards));
    ours = shards;
    if (isMore) {
      rewindTo = loadingThrough == null ? null : DueCursor.START;
      loadedThrough = DueCursor.START;
    }
  }

  /** Whether a load that has answered may know too little of a message. */
  boolean isLost(Message message) {
    return lost.has(message.endpoint());
  }

  /**
   * When to look at a message.
   *
   * @param stored whether the store knows the time too, so that a load would bring the message
   */
  record Alarm(Instant at, long id, boolean stored, Held held) implements Comparable<Alarm> {
    @Override
    public int compareTo(Alarm other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(id, other.id);
    }
  }

  /** Asks for what is due soon and is not here yet. */
  void load(Turn turn) {
    if (!mayLoad()) {
      return;
    }
    Instant through = turn.now().plus(horizon);
    if (loadedThrough.due().isAfter(turn.now().plus(horizon.dividedBy(2)))) {
      return;
    }
    loadingThrough = through;
    lost = Shards.NONE;
    loads.start(new Load.Due(ours, loadedThrough, through, Math.min(LOAD_AT_ONCE, most)), turn);
  }

  /** Many alarms put off a load, but not when something that only the store has is due earlier. */
  private boolean mayLoad() {
    return loadingThrough == null
        && loads.hasRoom()
        && (storedAlarms < most / 2 || isBehind())
        && !ours.isEmpty();
  }

  private boolean isBehind() {
    Alarm last = lastStored();
    return last != null && loadedThrough.due().isBefore(last.at());
  }

  private @Nullable Alarm lastStored() {
    for (Alarm alarm : alarms.descendingSet()) {
      if (alarm.stored()) {
        return alarm;
      }
    }
    return null;
  }

  /** Notes how far the timer is loaded now. */
  void loaded(Load.Due load, List<Message> messages) {
    loadingThrough = null;
    if (messages.size() < load.limit()) {
      loadedThrough = new DueCursor(load.through(), Long.MAX_VALUE);
    } else {
      Message last = messages.getLast();
      Instant due = last.due();
      loadedThrough = new DueCursor(due == null ? load.through() : due, last.id());
    }
    DueCursor rewind = rewindTo;
    if (rewind != null && rewind.compareTo(loadedThrough) < 0) {
      loadedThrough = rewind;
    }
    rewindTo = null;
  }

  /** Whether a message due then has to be held, since no load will bring it. */
  boolean covers(Instant due, long id) {
    Instant through = loadingThrough != null ? loadingThrough : loadedThrough.due();
    int order = due.compareTo(through);
    return order < 0 || (order == 0 && (loadingThrough != null || id <= loadedThrough.id()));
  }

  /** Lets a load bring again what is due then and later. */
  void rewind(Instant due, long id) {
    DueCursor before = new DueCursor(due, id - 1);
    if (loadingThrough != null && (rewindTo == null || before.compareTo(rewindTo) < 0)) {
      rewindTo = before;
    }
    if (before.compareTo(loadedThrough) < 0) {
      loadedThrough = before;
    }
  }

  /** Takes a message in; returns the one that there is no room for then. */
  @Nullable Held add(Held held, Instant at) {
    boolean stored = at.equals(held.message.due());
    Alarm alarm = new Alarm(at, held.message.id(), stored, held);
    held.place = Held.Place.TIMER;
    held.alarm = alarm;
    alarms.add(alarm);
    storedAlarms += stored ? 1 : 0;
    Alarm last = storedAlarms > most ? lastStored() : null;
    if (last == null) {
      return null;
    }
    remove(last.held());
    rewind(last.at(), last.id());
    return last.held();
  }

  /** Takes a message out, to be used elsewhere. */
  void remove(Held held) {
    if (held.alarm != null) {
      alarms.remove(held.alarm);
      storedAlarms -= held.alarm.stored() ? 1 : 0;
      held.alarm = null;
    }
  }

  /** The next message that is due, taken out; absent when none is. */
  @Nullable Held poll(Instant now) {
    if (alarms.isEmpty() || alarms.first().at().isAfter(now)) {
      return null;
    }
    Held next = alarms.first().held();
    remove(next);
    return next;
  }

  int size() {
    return alarms.size();
  }

  /** When there is something to do here again; absent while a load is awaited. */
  @Nullable Instant nextWake() {
    Instant alarm = alarms.isEmpty() ? null : alarms.first().at();
    if (!mayLoad()) {
      return alarm;
    }
    Instant reload = loadedThrough.due().minus(horizon.dividedBy(2));
    return alarm != null && alarm.isBefore(reload) ? alarm : reload;
  }
}
