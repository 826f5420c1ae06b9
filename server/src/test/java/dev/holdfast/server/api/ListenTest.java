package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

final class ListenTest {

  /** Clients that wait for the server to come back connect at the very moment that it listens. */
  @Test
  @Timeout(60)
  void whoever_can_connect_while_the_server_starts_is_answered() throws Exception {
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    root.addAppender(logged);
    List<String> failures = new CopyOnWriteArrayList<>();
    Vertx vertx = Vertx.vertx();
    try {
      for (int i = 0; i < 10; i++) {
        int port = freePort();
        AtomicBoolean enough = new AtomicBoolean();
        List<Thread> clients = new ArrayList<>();
        for (int c = 0; c < 2; c++) {
          clients.add(Thread.ofPlatform().start(() -> knock(port, enough, failures)));
        }
        TestServer server = TestServer.start(new FakeEngine(vertx), port);
        try {
          assertThat(server.get("/health/live").status()).isEqualTo(200);
        } finally {
          enough.set(true);
          for (Thread client : clients) {
            client.join();
          }
          server.close();
        }
      }
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
      root.detachAppender(logged);
    }
    assertThat(failures).isEmpty();
    assertThat(logged.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .noneMatch(message -> message.contains("accepted channel"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void knock(int port, AtomicBoolean enough, List<String> failures) {
    while (!enough.get()) {
      try (RawClient client = new RawClient(port)) {
        client.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").answer();
      } catch (ConnectException _) {
        // Not listening yet.
        LockSupport.parkNanos(200_000);
      } catch (IOException e) {
        failures.add(String.valueOf(e));
      }
    }
  }
}
