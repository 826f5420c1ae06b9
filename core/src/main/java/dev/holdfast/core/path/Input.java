package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Arrivals;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Holdings;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Written;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** What can happen to the {@link Loop}. */
public sealed interface Input {

  /**
   * Somebody wants something and waits for the answer. It takes its own answer, so that whoever has
   * to answer it can also ask it again.
   */
  record Asked(Request request, Actor by, Consumer<Answer> replyTo)
      implements Input, Consumer<Answer> {

    /** Asked by a program that the loop runs in. */
    public Asked(Request request, Consumer<Answer> replyTo) {
      this(request, Actor.PROGRAM, replyTo);
    }

    @Override
    public void accept(Answer answer) {
      replyTo.accept(answer);
    }
  }

  /** An attempt has ended. */
  record AttemptEnded(Delivery delivery, Outcome outcome, long durationMillis) implements Input {}

  /** A batch is on disk. */
  record Committed(Batch batch, Written written) implements Input {}

  /**
   * A batch is not on disk, and nothing of it is.
   *
   * @param tenants whose entries have to be decided anew; nobody if it may be everybody's
   */
  record CommitFailed(Batch batch, StoreException.Kind kind, String detail, Set<String> tenants)
      implements Input {

    /** What is no one tenant's. */
    public CommitFailed(Batch batch, StoreException.Kind kind, String detail) {
      this(batch, kind, detail, Set.of());
    }
  }

  /** Messages were read from the store. */
  record Loaded(Load load, List<Message> messages) implements Input {}

  /** A part of a backlog was read from the store. */
  record BacklogLoaded(Load.Backlog load, Store.Backlog backlog) implements Input {}

  /** Messages or events that a replay is of were read from the store. */
  record OriginalsLoaded(Load.OfReplay load, Store.Originals found) implements Input {}

  /** Events were read from the store. */
  record EventsLoaded(Load.Events load, List<Event> events) implements Input {}

  /** The store could not be read. */
  record LoadFailed(Load load) implements Input {}

  /** So many bytes are free on the store's disk. */
  record SpaceLeft(long bytes) implements Input {}

  /** So much of each tenant's events was removed from the store, since it was old enough. */
  record Removed(Map<String, Snapshot.Stored> events) implements Input {}

  /** Another node may have left something for this one: it is to be looked for. */
  record Woken() implements Input {}

  /** What other nodes have left was read from the store. */
  record ArrivalsLoaded(Load.Arrivals load, Arrivals arrivals) implements Input {}

  /**
   * Other nodes have changed what everyone knows.
   *
   * @param since the version after which all changes are in it
   */
  record Learned(long since, Known changes) implements Input {}

  /** What is kept of each tenant's events, by all nodes. */
  record StoredByAll(Map<String, Snapshot.Stored> events) implements Input {}

  /** The node decides for these shards from now on. */
  record Gained(Shards shards, Holdings holdings) implements Input {}

  /**
   * The node is to decide for these shards no longer. Nothing more is started for them; when all
   * that was under way has ended and is on disk, that is answered by LetGo.
   */
  record Release(Shards shards) implements Input {}

  /** Attempts may start before this time, as others may decide for the same endpoints after it. */
  record Leased(Instant until) implements Input {}

  /**
   * Others decide for everything now: whoever waits is refused. Nothing comes of this loop any
   * more.
   */
  record Abandoned() implements Input {}

  /** The process is to end: nothing new is accepted or started. */
  record StopRequested() implements Input {}
}
