package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/**
 * A process that sends events by a {@link LoadPlan}.
 *
 * <p>{@code /control/start?…} begins with a plan, {@code /control/stats} tells the counts, {@code
 * /control/mark} forgets how long answers took until now, and {@code /control/stop} ends sending.
 */
final class LoadGenerator {
  private final Vertx vertx;
  private @Nullable Traffic traffic;

  private LoadGenerator(Vertx vertx) {
    this.vertx = vertx;
  }

  public static void main(String[] args) throws Exception {
    Vertx vertx = Control.vertx();
    LoadGenerator generator = new LoadGenerator(vertx);
    vertx
        .createHttpServer(new HttpServerOptions().setHost(Control.LOCALHOST).setPort(0))
        .requestHandler(generator::handle)
        .listen()
        .onSuccess(Control::ready)
        .onFailure(
            failure -> {
              failure.printStackTrace();
              System.exit(1);
            });
    Control.waitForEnd();
    System.exit(0);
  }

  private void handle(HttpServerRequest request) {
    StringBuilder text = new StringBuilder();
    switch (String.valueOf(request.path())) {
      case "/control/start" -> start(LoadPlan.parse(request.params()));
      case "/control/stop" -> {
        if (traffic != null) {
          traffic.stop();
        }
      }
      case "/control/mark" -> {
        if (traffic != null) {
          traffic.mark();
        }
      }
      case "/control/stats" -> {
        if (traffic != null) {
          traffic.describe(text);
        }
      }
      default -> request.response().setStatusCode(404);
    }
    request.response().end(text.toString());
  }

  private void start(LoadPlan plan) {
    if (traffic != null) {
      traffic.close();
    }
    Traffic started =
        switch (plan.kind()) {
          case CLOSED_LOOP -> new ClosedLoop(vertx, plan);
          case OPEN_LOOP -> new OpenLoop(vertx, plan);
          case BARE_CLIENT -> new BareClient(vertx, plan);
        };
    traffic = started;
    vertx.setTimer(plan.get(Setting.MAX_SECONDS) * 1_000L, _ -> started.stop());
    started.start();
  }
}
