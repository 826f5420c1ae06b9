package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Store.DueCursor;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Knows which messages are due soon.
 *
 * <p>All messages that are due up to {@code loadedThrough} are held here; later ones are rows in
 * the store and are loaded as the time comes near. So it does not matter how many wait.
 */
final class RetryTimer {
  private static final int LOAD_AT_ONCE = 2_000;

  private final int most;
  private final Duration horizon;
  private final Loads loads;
  private final PriorityQueue<Alarm> alarms = new PriorityQueue<>();
  private int live;

  private DueCursor loadedThrough = DueCursor.START;
  private @Nullable Instant loadingThrough;
  private @Nullable DueCursor rewindTo;

  RetryTimer(int most, Duration horizon, Loads loads) {
    this.most = most;
    this.horizon = horizon;
    this.loads = loads;
  }

  /** When to look at a message. It is void once the message is elsewhere. */
  record Alarm(Instant at, long id, Held held) implements Comparable<Alarm> {
    @Override
    public int compareTo(Alarm other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(id, other.id);
    }

    @SuppressWarnings("ReferenceEquality") // a later alarm of the same message may look the same
    boolean isVoid() {
      return held.alarm != this;
    }
  }

  /** Asks for what is due soon and is not here yet. */
  void load(Turn turn) {
    if (loadingThrough != null || live >= most / 2 || !loads.hasRoom()) {
      return;
    }
    Instant through = turn.now().plus(horizon);
    if (loadedThrough.due().isAfter(turn.now().plus(horizon.dividedBy(2)))) {
      return;
    }
    loadingThrough = through;
    loads.start(new Load.Due(loadedThrough, through, Math.min(LOAD_AT_ONCE, most)), turn);
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
    if (rewind != null && rewind.due().isBefore(loadedThrough.due())) {
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

  boolean hasRoom() {
    return live < most;
  }

  /** Lets a load bring again what is due then and later, because there is no room for it now. */
  void rewind(Instant due, long id) {
    DueCursor before = new DueCursor(due, id - 1);
    if (loadingThrough != null && (rewindTo == null || due.isBefore(rewindTo.due()))) {
      rewindTo = before;
    }
    if (due.isBefore(loadedThrough.due())
        || (due.equals(loadedThrough.due()) && id <= loadedThrough.id())) {
      loadedThrough = before;
    }
  }

  void add(Held held, Instant at) {
    Alarm alarm = new Alarm(at, held.message.id(), held);
    held.place = Held.Place.TIMER;
    held.alarm = alarm;
    alarms.add(alarm);
    live++;
  }

  /** Takes a message out, to be used elsewhere. */
  void remove(Held held) {
    if (held.alarm != null) {
      held.alarm = null;
      live--;
    }
  }

  /** The next message that is due, taken out; absent when none is. */
  @Nullable Held poll(Instant now) {
    dropVoid();
    Alarm next = alarms.peek();
    if (next == null || next.at().isAfter(now)) {
      return null;
    }
    alarms.remove();
    remove(next.held());
    return next.held();
  }

  private void dropVoid() {
    for (Alarm next = alarms.peek(); next != null && next.isVoid(); next = alarms.peek()) {
      alarms.remove();
    }
  }

  int size() {
    return live;
  }

  /** When there is something to do here again; absent while a load is awaited. */
  @Nullable Instant nextWake() {
    dropVoid();
    Alarm next = alarms.peek();
    Instant alarm = next == null ? null : next.at();
    if (loadingThrough != null || live >= most / 2 || !loads.hasRoom()) {
      return alarm;
    }
    Instant reload = loadedThrough.due().minus(horizon.dividedBy(2));
    return alarm != null && alarm.isBefore(reload) ? alarm : reload;
  }
}
