package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import org.jspecify.annotations.Nullable;

/**
 * An unfinished message that is held in memory. It is in exactly one {@link Place}; what is not
 * held is a row in the store and is found again through the due index or its endpoint.
 */
final class Held {

  enum Place {
    /** In its lane, before its first attempt. */
    FIRST,
    /** In its lane, due again. */
    RETRY,
    /** In the timer, due soon. */
    TIMER,
    /** Beside its lane, until this node has heard of its subscription. */
    UNHEARD,
    /** Taken from its lane: its event is being read, or its attempt is under way. */
    SENDING,
    /** What became of it is being written. */
    WRITING
  }

  final Lane lane;

  /** As decided; the store may be one batch behind. */
  Message message;

  /** As the store has it. */
  Status stored;

  Place place;

  /** Its event, if that is in memory. */
  BodyCache.@Nullable Body body;

  /** Its entry in the timer while it is there. */
  RetryTimer.@Nullable Alarm alarm;

  /** This attempt does not wait for its lane: it is a probe, or made by hand. */
  boolean urgent;

  /** This attempt probes a disabled endpoint. */
  boolean probe;

  /** This attempt takes a place among those for endpoints that have not proven themselves. */
  boolean unproven;

  Held(Lane lane, Message message, Place place) {
    this.lane = lane;
    this.message = message;
    this.stored = message.status();
    this.place = place;
  }

  @Nullable Event event() {
    return body == null ? null : body.event();
  }
}
