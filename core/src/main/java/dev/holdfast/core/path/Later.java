package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Requests that have to wait for something that is being written, since they would be answered by
 * what may not come to be. They are asked again, in their order, when a batch is on disk or is not
 * going to be; or, when another node has changed what they depend on, when that is known.
 */
final class Later {
  private List<Input.Asked> waiting = new ArrayList<>();
  private long bytes;

  void ask(Request request, Actor by, Consumer<Answer> replyTo) {
    ask(replyTo instanceof Input.Asked asked ? asked : new Input.Asked(request, by, replyTo));
  }

  void ask(Input.Asked asked) {
    waiting.add(asked);
    bytes += size(asked.request());
  }

  private static long size(Request request) {
    return request instanceof Request.Submit submit
        ? submit.events().stream().mapToLong(event -> event.data().length).sum()
        : 0;
  }

  int size() {
    return waiting.size();
  }

  /** The events' bytes of all that wait. */
  long bytes() {
    return bytes;
  }

  /** All that wait; who still has to wait is put here once more. */
  List<Input.Asked> take() {
    List<Input.Asked> taken = waiting;
    waiting = new ArrayList<>();
    bytes = 0;
    return taken;
  }
}
