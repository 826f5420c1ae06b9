package dev.holdfast.core.filter;

import org.jspecify.annotations.Nullable;

/** The two states of an event, read when a filter asks for them, and no more than once. */
public final class Payload {
  private final byte[] data;
  private final byte @Nullable [] previous;

  public Payload(byte[] data, byte @Nullable [] previous) {
    this.data = data;
    this.previous = previous;
  }

  @Override
  public String toString() {
    return "Payload[" + (data.length + (previous == null ? 0 : previous.length)) + " bytes]";
  }
}
