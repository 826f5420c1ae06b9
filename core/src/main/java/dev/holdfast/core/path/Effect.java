package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Load;
import java.util.function.Consumer;

/** What the {@link Loop} wants done. Each is carried out once, in the order given. */
public sealed interface Effect {

  /** Keep this. Answered by Committed or CommitFailed; one batch is under way at a time. */
  record Commit(Batch batch) implements Effect {}

  /** Make this attempt. Answered by AttemptEnded. */
  record Send(Delivery delivery) implements Effect {}

  /** Read this. Answered by Loaded, EventsLoaded or LoadFailed. */
  record Fetch(Load load) implements Effect {}

  record Reply(Consumer<Answer> to, Answer answer) implements Effect {}

  /** An endpoint has answered 410 Gone for the first time, or otherwise again: tell people. */
  record GoneChanged(Endpoint endpoint) implements Effect {}

  /** What is free on the store's disk has another meaning than before: tell people. */
  record SpaceChanged(Space space, long freeBytes) implements Effect {}

  /** What is done and what is not while so much is free on the store's disk. */
  enum Space {
    ENOUGH,
    /** Nothing new is accepted. */
    LOW,
    /** No attempt starts either. */
    GONE
  }

  /** All that was under way for these shards has ended and is on disk: others may have them. */
  record LetGo(Shards shards) implements Effect {}

  /** An endpoint's state has changed: tell people. */
  record StateChanged(Endpoint endpoint, Health before) implements Effect {}
}
