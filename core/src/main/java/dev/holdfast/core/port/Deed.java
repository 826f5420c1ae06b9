package dev.holdfast.core.port;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Subscription;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What somebody has done, to be written down with what it changes. What happens by itself is none,
 * and neither is what was refused.
 *
 * @param tenant whose things it is about
 */
public record Deed(Actor by, Instant at, String tenant, What what) {

  /** What was done, with what it was done to as it was before and as it is from then on. */
  public sealed interface What {}

  /**
   * A subscription was made.
   *
   * @param endpoint where its messages go
   * @param history brings it what was accepted before it
   */
  public record Subscribed(Subscription after, Endpoint endpoint, @Nullable Replay history)
      implements What {}

  /**
   * A subscription was changed.
   *
   * @param from where its messages went
   * @param to where they go now
   */
  public record Updated(Subscription before, Endpoint from, Subscription after, Endpoint to)
      implements What {}

  /** A subscription was ended. */
  public record Unsubscribed(Subscription before, Endpoint endpoint) implements What {}

  /** Something was set about an endpoint. */
  public record Configured(Endpoint before, Endpoint after) implements What {}

  /** An endpoint was enabled, disabled or frozen by hand. */
  public record Operated(Endpoint before, Endpoint after) implements What {}

  /** A replay was asked for. */
  public record Replayed(Replay replay) implements What {}

  /** The end of a replay was asked for; how far it was is in it. */
  public record Cancelled(Replay replay) implements What {}

  /** A message was tried by hand. */
  public record Retried(long message) implements What {}
}
