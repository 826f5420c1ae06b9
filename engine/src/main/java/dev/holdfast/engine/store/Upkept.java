package dev.holdfast.engine.store;

/**
 * What a step of upkeep has done.
 *
 * @param isMore whether there is more to be done at once
 * @param removed what this step removed
 */
public record Upkept(boolean isMore, Removed removed) {

  /**
   * What was removed from history.
   *
   * @param events events that are gone, with everything that belongs to them
   * @param messages messages that are gone
   * @param bytes what the data of those events took
   */
  public record Removed(long events, long messages, long bytes) {
    public static final Removed NOTHING = new Removed(0, 0, 0);

    public boolean isNothing() {
      return events == 0 && messages == 0;
    }

    public Removed plus(Removed other) {
      return new Removed(events + other.events, messages + other.messages, bytes + other.bytes);
    }
  }
}
