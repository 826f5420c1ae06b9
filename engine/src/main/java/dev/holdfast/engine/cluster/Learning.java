package dev.holdfast.engine.cluster;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.SharedStore;
import dev.holdfast.core.port.StoreException;
import java.util.function.Consumer;

/**
 * Learns what other nodes have changed of what everyone knows. What is learned is told in the order
 * of its versions, whoever asked for it.
 */
final class Learning {
  private final SharedStore store;
  private final Consumer<Input> told;
  private long known;

  Learning(SharedStore store, Consumer<Input> told) {
    this.store = store;
    this.told = told;
  }

  /** Begins anew with a path that knows all up to a version. */
  synchronized void begin(long version) {
    known = version;
  }

  /** Learns what there is to be learned; when it returns, the path has been told. */
  void learn() throws StoreException {
    learn(false);
  }

  /** The same; the path is told also if that is nothing, as it waits for it. */
  void learnForSure() throws StoreException {
    learn(true);
  }

  private synchronized void learn(boolean isAwaited) throws StoreException {
    Known changes = store.changes(known);
    if (isAwaited || changes.version() > known) {
      known = changes.version();
      told.accept(new Input.Learned(changes));
    }
  }

  synchronized long version() {
    return known;
  }
}
