package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Holdfast.Tested;
import dev.holdfast.engine.Measurements;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.StoreVault;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** What the HTTP interface needs of {@link Holdfast}, so that tests can stand in for it. */
interface Engine {

  Context context();

  void ask(Request request, Actor by, Consumer<Answer> replyTo);

  <T> Future<T> look(Function<View, T> question);

  <T> Future<T> read(Holdfast.HistoryRead<T> question);

  Future<Optional<Tested>> test(String tenant, long endpoint);

  Future<Measurements> measure();

  /** What secrets are sealed with. */
  StoreVault vault();

  Future<Audit.Found> audit(Audit.Query query);

  static Engine of(Holdfast holdfast) {
    return new Engine() {
      @Override
      public Context context() {
        return holdfast.context();
      }

      @Override
      public void ask(Request request, Actor by, Consumer<Answer> replyTo) {
        holdfast.ask(request, by, replyTo);
      }

      @Override
      public <T> Future<T> look(Function<View, T> question) {
        return holdfast.look(question);
      }

      @Override
      public <T> Future<T> read(Holdfast.HistoryRead<T> question) {
        return holdfast.read(question);
      }

      @Override
      public Future<Optional<Tested>> test(String tenant, long endpoint) {
        return holdfast.test(tenant, endpoint);
      }

      @Override
      public Future<Measurements> measure() {
        return holdfast.measure();
      }

      @Override
      public StoreVault vault() {
        return holdfast.vault();
      }

      @Override
      public Future<Audit.Found> audit(Audit.Query query) {
        return holdfast.audit(query);
      }
    };
  }
}
