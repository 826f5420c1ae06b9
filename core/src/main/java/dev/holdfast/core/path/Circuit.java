package dev.holdfast.core.path;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.path.Commit.Entry;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.rules.Pace;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gives an endpoint its new health, and acts on a change of its state: a lane that closes has its
 * queues parked and is probed; one that opens recovers, slowly at first.
 */
final class Circuit {
  private final Limits limits;
  private final Commit commit;
  private final Dispatch dispatch;
  private final Park park;
  private final Probe probe;
  private final Refill refill;
  private final Announce announce;

  Circuit(
      Limits limits,
      Commit commit,
      Dispatch dispatch,
      Park park,
      Probe probe,
      Refill refill,
      Announce announce) {
    this.limits = limits;
    this.commit = commit;
    this.dispatch = dispatch;
    this.park = park;
    this.probe = probe;
    this.refill = refill;
    this.announce = announce;
  }

  /**
   * Replaces the lane's health.
   *
   * @param replyTo who waits for the change of state to be on disk
   */
  void set(Lane lane, Health health, @Nullable Consumer<Answer> replyTo, Turn turn) {
    Health before = lane.health();
    lane.endpoint = lane.endpoint.with(health);
    lane.recount();
    commit.touch(lane);
    if (before.since().equals(health.since())
        && before.state() == health.state()
        && before.reason() == health.reason()) {
      probe.arm(lane);
      return;
    }
    Write change = new Write.ChangeState(lane.endpoint, announce.state(lane.endpoint, turn));
    commit.add(Entry.of(change, lane, replyTo));
    turn.effect(new Effect.StateChanged(lane.endpoint, before));
    if (health.isEnabled()) {
      recover(lane);
    } else {
      dispatch.close(lane, turn);
      park.close(lane, turn);
      refill.want(lane);
      probe.arm(lane);
    }
  }

  private void recover(Lane lane) {
    lane.pace = Pace.slowStart(limits.laneInFlight());
    refill.expectBacklog(lane);
  }

  /** Goes on where the process was before it ended. */
  void resume(Lane lane) {
    if (lane.isOpen()) {
      boolean recovering =
          lane.tally.parked() > 0
              || (lane.tally.waiting() > 0 && lane.health().reason() != Health.Reason.CREATED);
      if (recovering) {
        recover(lane);
      }
    } else {
      probe.arm(lane);
    }
    refill.want(lane);
  }
}
