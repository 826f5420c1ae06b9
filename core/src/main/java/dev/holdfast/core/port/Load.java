package dev.holdfast.core.port;

import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import java.time.Instant;
import java.util.List;

/** Something that the path wants read from the {@link Store}; each has a read of the same name. */
public sealed interface Load {

  record Due(Shards shards, DueCursor after, Instant through, int limit) implements Load {}

  record Pending(long endpoint, int limit) implements Load {}

  record Backlog(long endpoint, Instant triedBefore, BacklogCursor after, Instant now, int limit)
      implements Load {}

  record Probe(long endpoint, Instant now) implements Load {}

  record OfSubscription(long endpoint, long subscription, Which which, int limit) implements Load {}

  /** Something that a replay is made of. */
  sealed interface OfReplay extends Load {
    Replay replay();
  }

  record Originals(Replay replay, int limit) implements OfReplay {}

  record Past(Replay replay, Interest interest, int limit) implements OfReplay {}

  record Unfinished(long message) implements Load {}

  /** What other nodes have left for this one. */
  record Arrivals(Shards ours, int limit) implements Load {}

  record Events(List<Long> ids) implements Load {}
}
