package dev.holdfast.engine;

import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.StoreException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.InstantSource;
import java.util.function.Consumer;
import java.util.function.Function;

/** A running engine: accepts, delivers, retries, until it is stopped. */
@SuppressWarnings("DoNotCallSuggester")
public final class Holdfast {

  /** Opens the store and starts delivering. Blocks until ready. */
  public static Holdfast open(Options options, Vertx vertx, InstantSource clock)
      throws StoreException {
    throw new IllegalStateException("being written");
  }

  /**
   * The event loop that the engine runs on. HTTP servers that share it hand over without a wake-up.
   */
  public Context context() {
    throw new IllegalStateException("being written");
  }

  /** Asks for something. May be called by any thread; the reply comes on {@link #context}. */
  public void ask(Request request, Consumer<Answer> replyTo) {
    throw new IllegalStateException("being written");
  }

  /** Looks at the present state. May be called by any thread; completes on {@link #context}. */
  public <T> Future<T> look(Function<View, T> question) {
    throw new IllegalStateException("being written");
  }

  /** Reads history on a reader's thread, with a time limit; completes on {@link #context}. */
  public <T> Future<T> read(HistoryRead<T> question) {
    throw new IllegalStateException("being written");
  }

  /**
   * Stops accepting and starting, lets what is in flight end, keeps the outcomes, closes the store.
   */
  public Future<Void> stop() {
    throw new IllegalStateException("being written");
  }

  /** A question about history. */
  @FunctionalInterface
  public interface HistoryRead<T> {
    T ask(History history) throws StoreException;
  }
}
