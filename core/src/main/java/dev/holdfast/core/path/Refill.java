package dev.holdfast.core.path;

import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.rules.Recovery;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: asks the store for more when a lane's window runs low and the store has what the
 * lane does not hold. What comes back is taken in by {@link Loop}.
 */
final class Refill {
  private final Limits limits;
  private final Recovery recovery;
  private final Lanes lanes;
  private final Loads loads;
  private final Deque<Lane> line = new ArrayDeque<>();

  Refill(Limits limits, Recovery recovery, Lanes lanes, Loads loads) {
    this.limits = limits;
    this.recovery = recovery;
    this.lanes = lanes;
    this.loads = loads;
  }

  /** Something of the lane is due, but only in the store: it is looked for from the start. */
  void expectBacklog(Lane lane) {
    lane.backlog = true;
    lane.backlogPass++;
    lane.backlogCursor = BacklogCursor.START;
    want(lane);
  }

  /** A part of the backlog has been taken in; the rest is behind {@code next}. */
  void backlogLoaded(Lane lane, @Nullable BacklogCursor next) {
    boolean startedOver = lane.backlogPass != lane.loadingBacklogPass;
    if (!startedOver && next != null) {
      lane.backlogCursor = next;
    } else if (!startedOver) {
      lane.backlog = false;
      lane.leftBehind = null;
    }
    want(lane);
  }

  /** Looks at the lane when there is room for a load. */
  void want(Lane lane) {
    if (!lane.wantsRefill && (lacksPending(lane) || lacksBacklog(lane))) {
      lane.wantsRefill = true;
      line.add(lane);
    }
  }

  void run(Turn turn) {
    while (loads.hasRoom() && !line.isEmpty()) {
      Lane lane = line.remove();
      lane.wantsRefill = false;
      if (lacksPending(lane)) {
        lane.loadingPending = true;
        loads.start(new Load.Pending(lane.endpoint.id(), lane.pendingHeld + window()), turn);
      }
      if (lacksBacklog(lane) && loads.hasRoom()) {
        lane.loadingBacklog = true;
        lane.loadingBacklogPass = lane.backlogPass;
        loads.start(
            new Load.Backlog(
                lane.endpoint.id(),
                recovery.triedBefore(lane.health()),
                lane.backlogCursor,
                turn.now(),
                Math.max(1, window() / 2)),
            turn);
      }
      want(lane);
    }
  }

  /** How many messages a lane may hold in each queue now. */
  int window() {
    return lanes.heldCount() < limits.held() ? limits.laneWindow() : limits.laneMinimum();
  }

  private boolean lacksPending(Lane lane) {
    int queued = lane.isOpen() ? lane.firstSize() : lane.pendingHeld;
    return lane.ours && lane.pendingUnheld() > 0 && !lane.loadingPending && queued <= window() / 2;
  }

  private boolean lacksBacklog(Lane lane) {
    return lane.backlog
        && lane.ours
        && lane.isOpen()
        && !lane.loadingBacklog
        && lane.retrySize() <= window() / 2;
  }
}
