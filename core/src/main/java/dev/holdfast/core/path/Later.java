package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Requests that have to wait for something that is being written, since they would be answered by
 * what may not come to be. They are asked again, in their order, when a batch is on disk or is not
 * going to be.
 */
final class Later {
  private List<Input.Asked> waiting = new ArrayList<>();

  void ask(Request request, Actor by, Consumer<Answer> replyTo) {
    waiting.add(new Input.Asked(request, by, replyTo));
  }

  /** All that wait; who still has to wait is put here once more. */
  List<Input.Asked> take() {
    List<Input.Asked> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }
}
