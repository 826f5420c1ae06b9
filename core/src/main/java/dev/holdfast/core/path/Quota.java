package dev.holdfast.core.path;

/**
 * How much one tenant may send and have kept.
 *
 * @param eventsPerSecond {@link #ANY} for any number
 * @param storedBytes the bytes of its events that are kept, as {@link
 *     dev.holdfast.core.model.Event#size} reckons them; {@link #ANY} for any number
 */
public record Quota(long eventsPerSecond, long storedBytes) {
  public static final long ANY = 0;
  public static final Quota NONE = new Quota(ANY, ANY);

  public Quota {
    if (eventsPerSecond < 0 || storedBytes < 0) {
      throw new IllegalArgumentException("a quota is not negative");
    }
  }
}
