package dev.holdfast.core.path;

import dev.holdfast.core.model.Event;

/**
 * The events that are kept in memory from acceptance until they are sent, up to a number of bytes.
 *
 * <p>When it is full nothing is thrown out for something newer: older messages are sent first, so
 * what is in has the better use of the place. What is not in is read when its turn comes.
 */
final class BodyCache {
  private final long mostBytes;
  private long bytes;

  BodyCache(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /** An event in memory, shared by all its messages that are held. */
  static final class Body {
    private final Event event;
    private final boolean counted;
    private int holders;

    private Body(Event event, boolean counted) {
      this.event = event;
      this.counted = counted;
    }

    Event event() {
      return event;
    }
  }

  boolean hasRoomFor(Event event) {
    return bytes + event.size() <= mostBytes;
  }

  /** Wraps an event that is kept, once it has {@linkplain #hold holders}. */
  Body keep(Event event) {
    return new Body(event, true);
  }

  /** Wraps an event that was read for its attempt: the bytes of attempts are counted there. */
  static Body read(Event event) {
    return new Body(event, false);
  }

  void hold(Held held, Body body) {
    if (body.counted && body.holders == 0) {
      bytes += body.event.size();
    }
    body.holders++;
    held.body = body;
  }

  void letGo(Held held) {
    Body body = held.body;
    if (body == null) {
      return;
    }
    held.body = null;
    body.holders--;
    if (body.counted && body.holders == 0) {
      bytes -= body.event.size();
    }
  }

  long bytes() {
    return bytes;
  }
}
