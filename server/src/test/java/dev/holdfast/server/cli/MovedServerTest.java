package dev.holdfast.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What was accepted with an embedded store is delivered from the database that it was moved to. */
@Timeout(120)
final class MovedServerTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path data;

  private final Typed typed = new Typed();
  private final BlockingQueue<String> arrived = new LinkedBlockingQueue<>();
  private final AtomicInteger answer = new AtomicInteger(503);

  @Test
  void unfinished_messages_go_on_after_the_move() throws Exception {
    HttpServer receiver =
        HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
    receiver.createContext(
        "/",
        exchange -> {
          String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
          exchange.sendResponseHeaders(answer.get(), -1);
          exchange.close();
          arrived.add(answer.get() + " " + body);
        });
    receiver.start();
    String url = TestDatabases.fresh();
    try {
      try (RunningServer server = new RunningServer(data, "retry.unit=3s")) {
        typed.at(server.url(), RunningServer.KEY);
        try (ApiClient api =
            new ApiClient(
                URI.create(server.url()),
                new ApiClient.Key(RunningServer.KEY, "test"),
                null,
                null)) {
          api.post(
              "/v1/subscriptions",
              "{\"url\":\"http://127.0.0.1:%d/\",\"types\":[\"*\"]}"
                  .formatted(receiver.getAddress().getPort()));
        }
        assertThat(typed.run("send", "--type", "order.paid", "--data", "{\"moved\":1}")).isZero();
        assertThat(arrived.poll(30, TimeUnit.SECONDS)).startsWith("503");
      }
      answer.set(204);
      Typed mover = new Typed();
      assertThat(mover.run("migrate", "--from", data.toString(), "--to", url, "--user", "postgres"))
          .as(mover.err)
          .isZero();
      assertThat(mover.out).contains("1 messages are unfinished");
      try (RunningServer server =
          new RunningServer(data, "retry.unit=3s", "store.url=" + url, "store.user=postgres")) {
        assertThat(arrived.poll(60, TimeUnit.SECONDS)).startsWith("204").contains("moved");
        typed.at(server.url(), RunningServer.KEY);
        assertThat(typed.run("send", "--type", "order.paid", "--data", "{\"new\":1}")).isZero();
        assertThat(arrived.poll(30, TimeUnit.SECONDS)).startsWith("204").contains("new");
      }
    } finally {
      receiver.stop(0);
    }
  }
}
