package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/** Messages of accepted events that are still to be made, each once. */
final class Steps {
  /** On disk, by the id of the first message. */
  private final Map<Long, FanOut> planned = new TreeMap<>();

  private Instant gotOnAt = Instant.MIN;

  void plan(Collection<FanOut> steps) {
    for (FanOut step : steps) {
      unless(planned.put(step.message(0), step) == null, "ids are given once", step);
    }
  }

  /** The engine writes the messages of a step. */
  void check(Write.Spread write) {
    FanOut step = write.step();
    unless(
        step.equals(planned.get(step.message(0))),
        "a step makes the messages that are planned and not made",
        write);
    unless(
        write.messages().size() == step.targets().size(),
        "an event has a message for each subscription that wants it",
        write);
    for (int i = 0; i < step.targets().size(); i++) {
      Message message = write.messages().get(i);
      unless(
          message.id() == step.message(i)
              && message.event() == step.event()
              && message.subscription() == step.targets().get(i).subscription(),
          "an event has a message for each subscription that wants it",
          write);
      unless(
          message.version() == step.targets().get(i).version(),
          "a message keeps its version",
          () -> message + " of " + step);
    }
  }

  void made(Write.Spread write) {
    planned.remove(write.step().message(0));
  }

  /** The engine has heard of something that lets it go on. */
  void goesOn(Instant now) {
    gotOnAt = now;
  }

  Instant gotOnAt() {
    return gotOnAt;
  }

  boolean isEmpty() {
    return planned.isEmpty();
  }

  @Override
  public String toString() {
    return planned.values().toString();
  }
}
