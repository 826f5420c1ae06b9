package dev.holdfast.core.path;

import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.port.Snapshot.Unfinished;

/** How many messages the store has, by status. */
final class Tally {
  private int pending;
  private int waiting;
  private int parked;
  private int paused;

  int pending() {
    return pending;
  }

  int waiting() {
    return waiting;
  }

  int parked() {
    return parked;
  }

  int paused() {
    return paused;
  }

  void add(Status status, int change) {
    switch (status) {
      case PENDING -> pending += change;
      case WAITING -> waiting += change;
      case PARKED -> parked += change;
      case PAUSED -> paused += change;
    }
  }

  void add(Unfinished unfinished) {
    pending += unfinished.pending();
    waiting += unfinished.waiting();
    parked += unfinished.parked();
    paused += unfinished.paused();
  }

  Unfinished unfinished() {
    return new Unfinished(pending, waiting, parked, paused);
  }
}
