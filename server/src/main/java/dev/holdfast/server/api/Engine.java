package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.core.path.View.Gauges;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.ActivityReport;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Holdfast.Tested;
import dev.holdfast.engine.Measurements;
import dev.holdfast.engine.Watcher;
import dev.holdfast.engine.cluster.ClusterState;
import dev.holdfast.engine.http.ShownRequest;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.EndpointReads.EndpointPage;
import dev.holdfast.engine.store.EndpointReads.Outline;
import dev.holdfast.engine.store.StoreVault;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the HTTP interface needs of {@link Holdfast}, so that tests can stand in for it. */
interface Engine {

  Context context();

  void ask(Request request, Actor by, Consumer<Answer> replyTo);

  /** Looks at what is known, with all that other nodes have changed until now. */
  <T> Future<T> look(Function<View, T> question);

  /** What this node counts. */
  Future<Gauges> gauges();

  /** An endpoint as it is now, whichever node decides for it. */
  Future<Optional<EndpointNow>> endpoint(String tenant, long id);

  /** Endpoints as the database has them; empty when this node knows all of them. */
  Optional<Future<EndpointPage>> endpoints(
      String tenant, Health.@Nullable State state, long before, int limit);

  /** What endpoints can be sorted by, as the database has it; empty when this node knows it. */
  Optional<Future<List<Outline>>> outlines(String tenant, int most);

  /** Those of these endpoints that the tenant has, as they are now, in any order. */
  Future<List<EndpointNow>> endpoints(String tenant, List<Long> ids);

  /** The request that an attempt sends; empty if its URL cannot be sent to. */
  Optional<ShownRequest> shown(Delivery delivery);

  /** Whether it can accept and deliver now. */
  boolean isReady();

  Future<ClusterState> cluster();

  <T> Future<T> read(Holdfast.HistoryRead<T> question);

  Future<Optional<Tested>> test(String tenant, long endpoint);

  Future<Measurements> measure();

  /** What has happened of a tenant's lately. */
  Future<ActivityReport> activity(String tenant, ActivityReport.Span span);

  /** Tells somebody what happens of a tenant's. To be called on the event loop. */
  Watcher.Watching watch(String tenant, Watcher watcher);

  /** What secrets are sealed with. */
  StoreVault vault();

  Future<Audit.Found> audit(Audit.Query query);

  /** Where it is kept who has signed in. Blocking. */
  SessionRows sessions();

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
        return holdfast.lookAtLatest(question);
      }

      @Override
      public Future<Gauges> gauges() {
        return holdfast.look(View::gauges);
      }

      @Override
      public Future<Optional<EndpointNow>> endpoint(String tenant, long id) {
        return holdfast.endpoint(tenant, id);
      }

      @Override
      public Optional<Future<EndpointPage>> endpoints(
          String tenant, Health.@Nullable State state, long before, int limit) {
        return holdfast.endpoints(tenant, state, before, limit);
      }

      @Override
      public Optional<Future<List<Outline>>> outlines(String tenant, int most) {
        return holdfast.outlines(tenant, most);
      }

      @Override
      public Future<List<EndpointNow>> endpoints(String tenant, List<Long> ids) {
        return holdfast.endpoints(tenant, ids);
      }

      @Override
      public Optional<ShownRequest> shown(Delivery delivery) {
        return holdfast.shown(delivery);
      }

      @Override
      public boolean isReady() {
        return holdfast.isReady();
      }

      @Override
      public Future<ClusterState> cluster() {
        return holdfast.cluster();
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
      public Future<ActivityReport> activity(String tenant, ActivityReport.Span span) {
        return holdfast.activity(tenant, span);
      }

      @Override
      public Watcher.Watching watch(String tenant, Watcher watcher) {
        return holdfast.watch(tenant, watcher);
      }

      @Override
      public StoreVault vault() {
        return holdfast.vault();
      }

      @Override
      public Future<Audit.Found> audit(Audit.Query query) {
        return holdfast.audit(query);
      }

      @Override
      public SessionRows sessions() {
        return SessionRows.of(holdfast.sessions());
      }
    };
  }
}
