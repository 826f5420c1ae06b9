package dev.holdfast.core.path;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Load;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Off the path, where nodes share a store: reads messages one by one of which this node cannot tell
 * how the store has them, and puts them where they belong.
 */
final class Look {
  private final Lanes lanes;
  private final Loads loads;
  private final Wait wait;
  private final HandOver handOver;
  private final Duration pause;
  private final Deque<Wanted> wanted = new ArrayDeque<>();
  private final IdentityHashMap<Load, Wanted> underWay = new IdentityHashMap<>();

  Look(Lanes lanes, Loads loads, Wait wait, HandOver handOver, Duration pause) {
    this.lanes = lanes;
    this.loads = loads;
    this.wait = wait;
    this.handOver = handOver;
    this.pause = pause;
  }

  /**
   * A message to be read.
   *
   * @param endpoint where it is counted
   * @param held the message if it stays in hand meanwhile
   */
  private record Wanted(long message, long endpoint, @Nullable Held held) {}

  /** A message has come, and this node has written it, but which was first is not known. */
  void at(long message, long endpoint) {
    wanted.add(new Wanted(message, endpoint, null));
  }

  /** The store has refused what became of a message: it may not have it any more. */
  void at(Held held) {
    wanted.add(new Wanted(held.message.id(), held.lane.endpoint.id(), held));
  }

  void run(Turn turn) {
    while (!wanted.isEmpty() && loads.hasRoom()) {
      Wanted next = wanted.remove();
      Load load = new Load.Unfinished(next.message());
      underWay.put(load, next);
      loads.start(load, turn);
    }
  }

  /** Whether the read is one of these. */
  boolean has(Load load) {
    return underWay.containsKey(load);
  }

  void loaded(Load.Unfinished load, List<Message> found, long number, Turn turn) {
    Wanted looked = underWay.remove(load);
    if (looked == null) {
      throw new IllegalStateException("nobody looks at message " + load.message());
    }
    Message message =
        found.isEmpty() || found.getFirst().endpoint() != looked.endpoint()
            ? null
            : found.getFirst();
    if (looked.held() != null) {
      goOn(looked.held(), message, turn);
    } else if (message != null && lanes.held(message.id()) == null) {
      if (loads.isOutOfTime(message.id(), number)) {
        wanted.add(looked);
      } else {
        handOver.found(message, turn);
      }
    }
  }

  /** What is there is tried again, by whoever decides for it then; what is not is let go. */
  private void goOn(Held held, @Nullable Message message, Turn turn) {
    if (message == null) {
      Lane lane = held.lane;
      lanes.finished(held);
      handOver.goOn(lane);
      return;
    }
    held.message = message;
    lanes.stored(held);
    if (held.lane.ours) {
      wait.keepUntil(held, turn.now().plus(pause));
    } else {
      lanes.letGo(held);
    }
  }

  /** Whether a read is about something of these shards that is not in hand. */
  boolean isAbout(Load load, Shards shards) {
    Wanted one = underWay.get(load);
    return one != null && isAbout(one, shards);
  }

  private static boolean isAbout(Wanted one, Shards shards) {
    return one.held() == null && shards.has(one.endpoint());
  }

  /** Shards are let go: whoever gets them finds what is there. */
  void letGo(Shards shards) {
    wanted.removeIf(one -> isAbout(one, shards));
    underWay.values().removeIf(one -> isAbout(one, shards));
  }
}
