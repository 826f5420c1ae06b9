package dev.holdfast.server.cli;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.Holdfast;
import dev.holdfast.engine.Options;
import dev.holdfast.engine.http.EndpointUrl;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.server.api.ApiLimits;
import dev.holdfast.server.api.ApiServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Puts the parts of a server together. */
final class Wiring {

  private Wiring() {}

  static Server start(Settings settings, InstantSource clock, PrintWriter out) throws CannotStart {
    Options options = settings.options(Runtime.getRuntime().maxMemory(), Version.NUMBER);
    Vertx vertx =
        Vertx.vertx(new VertxOptions().setPreferNativeTransport(true).setEventLoopPoolSize(1));
    Holdfast engine = null;
    try {
      engine =
          Holdfast.open(options, vertx, clock, _ -> Runtime.getRuntime().halt(ExitCode.BROKEN));
      Keys keys = Keys.open(settings, engine.apiKeys(), clock, out);
      ApiServer api = ApiServer.start(engine, apiOptions(settings, options, keys));
      return new Running(vertx, engine, api, keys.source());
    } catch (StoreRefused e) {
      vertx.close();
      throw new CannotStart(String.valueOf(e.getMessage()));
    } catch (StoreException e) {
      stop(engine, vertx);
      throw new CannotStart("The store in %s: %s".formatted(options.data(), e.getMessage()));
    } catch (IOException e) {
      stop(engine, vertx);
      throw CannotStart.listening(
          settings.get(Settings.SERVER_HOST), settings.get(Settings.SERVER_PORT), e);
    }
  }

  private static ApiServer.Options apiOptions(Settings settings, Options options, Keys keys) {
    return new ApiServer.Options(
        settings.get(Settings.SERVER_HOST),
        settings.get(Settings.SERVER_PORT),
        limits(settings),
        options.schedule(),
        Wiring::normalised,
        keys,
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
  }

  private static ApiLimits limits(Settings settings) {
    ApiLimits limits =
        ApiLimits.defaults().withMessageBytes(settings.get(Settings.MESSAGE_MAX_BYTES));
    long most = settings.get(Settings.OVERLOAD_MAX_BYTES);
    return most == 0 ? limits : limits.withReceivingBytes(most);
  }

  private static String normalised(String url) {
    return switch (EndpointUrl.check(url)) {
      case EndpointUrl.Checked.Accepted accepted -> accepted.url().normalised();
      case EndpointUrl.Checked.Refused refused ->
          throw new IllegalArgumentException(refused.problem());
    };
  }

  private static void stop(@Nullable Holdfast engine, Vertx vertx) {
    Future<Void> stopped = engine == null ? Future.succeededFuture() : engine.stop();
    stopped.eventually(vertx::close).await();
  }

  private record Running(Vertx vertx, Holdfast engine, ApiServer api, String adminKey)
      implements Server {
    @Override
    public int port() {
      return api.port();
    }

    @Override
    public Future<Void> stop() {
      return api.stop().eventually(engine::stop).eventually(vertx::close);
    }
  }
}
