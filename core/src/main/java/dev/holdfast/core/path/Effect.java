package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
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

  /** An endpoint's state has changed: tell people. */
  record StateChanged(Endpoint endpoint, Health before) implements Effect {}
}
