package dev.holdfast.proof.bench;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A server that keeps nothing: enough of the API for the benchmark to be tried against.
 *
 * <p>The setting {@code fake.lose=N} makes it forget every Nth event that it accepted, {@code
 * fake.repeat=N} makes it deliver every Nth twice, and with {@code fake.room=N} it takes no more
 * than N.
 */
final class FakeServer {
  private final HttpClient client;
  private final Map<String, String> urls = new HashMap<>();
  private final Map<String, Deque<Buffer>> missed = new HashMap<>();
  private final int lose;
  private final int repeat;
  private final int room;
  private int accepted;

  private FakeServer(Vertx vertx, int lose, int repeat, int room) {
    this.client = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(256));
    this.lose = lose;
    this.repeat = repeat;
    this.room = room;
  }

  public static void main(String[] args) {
    List<String> arguments = Arrays.asList(args);
    int port = Integer.parseInt(arguments.get(arguments.indexOf("--port") + 1));
    Vertx vertx = Control.vertx();
    FakeServer server =
        new FakeServer(
            vertx,
            setting(arguments, "fake.lose"),
            setting(arguments, "fake.repeat"),
            setting(arguments, "fake.room"));
    vertx
        .createHttpServer()
        .requestHandler(request -> request.body().onSuccess(body -> server.handle(request, body)))
        .listen(port, Control.LOCALHOST);
  }

  private static int setting(List<String> arguments, String name) {
    return arguments.stream()
        .filter(argument -> argument.startsWith(name + "="))
        .mapToInt(argument -> Integer.parseInt(argument.substring(name.length() + 1)))
        .findFirst()
        .orElse(0);
  }

  private void handle(HttpServerRequest request, Buffer body) {
    String path = String.valueOf(request.path());
    switch (path) {
      case "/health/ready" -> request.response().end();
      case "/v1/subscriptions" -> {
        JsonObject subscription = body.toJsonObject();
        urls.put(subscription.getJsonArray("types").getString(0), subscription.getString("url"));
        request.response().setStatusCode(201).end("{}");
      }
      case "/v1/endpoints" -> {
        JsonArray items = new JsonArray();
        urls.forEach(
            (type, url) ->
                items.add(
                    new JsonObject().put("id", type).put("url", url).put("state", "enabled")));
        request.response().end(new JsonObject().put("items", items).putNull("next").encode());
      }
      case "/v1/events" -> {
        if (room > 0 && accepted >= room) {
          request.response().setStatusCode(503).end("urn:holdfast:problem:store-full");
          return;
        }
        accept(body.toJsonObject());
        request.response().setStatusCode(202).end("{\"id\":\"evt_1\",\"messages\":1}");
      }
      case "/v1/events/batch" -> {
        JsonArray events = body.toJsonObject().getJsonArray("events");
        for (int i = 0; i < events.size(); i++) {
          accept(events.getJsonObject(i));
        }
        request.response().setStatusCode(202).end("{\"events\":[]}");
      }
      default -> {
        if (path.endsWith("/enable")) {
          recover(path.split("/", -1)[3]);
        }
        request.response().end("{}");
      }
    }
  }

  private void accept(JsonObject event) {
    accepted++;
    if (lose > 0 && accepted % lose == 0) {
      return;
    }
    deliver(event.getString("type"), event.toBuffer());
    if (repeat > 0 && accepted % repeat == 0) {
      deliver(event.getString("type"), event.toBuffer());
    }
  }

  private void deliver(String type, Buffer body) {
    RequestOptions options =
        new RequestOptions().setAbsoluteURI(urls.get(type)).setMethod(HttpMethod.POST);
    options.setIdleTimeout(1_000);
    client
        .request(options)
        .compose(request -> request.send(body))
        .onFailure(_ -> missed.computeIfAbsent(type, _ -> new ArrayDeque<>()).add(body));
  }

  private void recover(String type) {
    Deque<Buffer> bodies = missed.remove(type);
    if (bodies != null) {
      bodies.forEach(body -> deliver(type, body));
    }
  }
}
