package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.holdfast.engine.egress.EndpointUrl;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * A server with a real engine, and what must hold of it whatever is sent to it: no answer says that
 * it failed, every refusal is a problem document, nothing is logged that should not be, and no
 * connection or body stays behind.
 *
 * <p>Endpoints are checked as they always are, but whatever host they name, it is this machine:
 * fuzzing must not reach others.
 */
final class FuzzedServer implements AutoCloseable {
  private static final Pattern CONNECTIONS =
      Pattern.compile("(?m)^holdfast_http_connections ([0-9.]+)$");

  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final List<String> complaints = new CopyOnWriteArrayList<>();
  private final LocalReceiver receiver = new LocalReceiver();
  private final RealEngine engine;
  final TestServer server;

  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          String line =
              event.getFormattedMessage()
                  + "\n"
                  + (event.getThrowableProxy() == null
                      ? ""
                      : ThrowableProxyUtil.asString(event.getThrowableProxy()));
          boolean isTold = event.getLevel().isGreaterOrEqual(Level.WARN);
          if (isTold || line.contains(TestServer.ADMIN_KEY)) {
            complaints.add(event.getLevel() + " " + line);
          }
        }
      };

  FuzzedServer(Path data, ApiLimits limits) throws Exception {
    appender.start();
    root.addAppender(appender);
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), limits, FuzzedServer::onThisMachine);
    assertThat(
            server
                .post(
                    "/v1/subscriptions",
                    "{\"url\":\"" + receiver.url("/") + "\",\"types\":[\"order.*\"]}")
                .status())
        .isEqualTo(201);
  }

  private static String onThisMachine(String url) {
    return switch (EndpointUrl.check(url)) {
      case EndpointUrl.Checked.Accepted accepted -> {
        String normal = accepted.url().normalised();
        boolean isLocal = normal.startsWith("http://127.0.0.1:");
        yield isLocal ? normal : "http://127.0.0.1:9/" + Integer.toHexString(normal.hashCode());
      }
      case EndpointUrl.Checked.Refused refused ->
          throw new IllegalArgumentException(refused.problem());
    };
  }

  int port() {
    return server.port();
  }

  /** Checks an answer to a request that was framed as it should be. */
  static void check(int status, String head, byte[] body, boolean isHead) {
    assertThat(head).doesNotContain(TestServer.ADMIN_KEY);
    if (status == 503) {
      assertThat(head).containsPattern("(?i)retry-after: \\d+");
    } else {
      assertThat(status).isBetween(200, 499);
    }
    if (status >= 400) {
      assertThat(head).contains("content-type: application/problem+json");
      if (!isHead) {
        JsonNode problem = TestServer.MAPPER.readTree(body);
        assertThat(problem.get("status").asInt()).isEqualTo(status);
        assertThat(problem.get("type").asString()).startsWith("urn:holdfast:problem:");
        assertThat(problem.get("title").asString()).isNotBlank();
        assertThat(problem.get("detail").asString()).matches("(?s)\\S.* .*\\.");
        assertThat(problem.toString()).doesNotContain(TestServer.ADMIN_KEY);
      }
    }
  }

  /** How many messages the event has; -1 when there is no such event. */
  int messagesOf(String eventId, String tenant) throws Exception {
    Reply reply = server.get("/v1/events/" + eventId, "Holdfast-Tenant", tenant);
    if (reply.status() == 404) {
      return -1;
    }
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().get("messages").size();
  }

  /** Whether it does what it is there for. */
  void assertServes(String eventId) throws Exception {
    Reply reply =
        server.post(
            "/v1/events",
            "{\"type\":\"order.paid\",\"id\":\"" + eventId + "\",\"data\":{\"n\":1}}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(202);
    assertThat(messagesOf(eventId, "default"))
        .isEqualTo(reply.json().get("messages").asInt())
        .isPositive();
  }

  /** To be called when the senders of all requests are gone. */
  void assertNothingLeft() throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (connections() > 1 && System.nanoTime() < until) {
      Thread.sleep(20);
    }
    assertThat(connections()).as("connections, with our own").isLessThanOrEqualTo(1);
    assertThat(server.get("/metrics").text()).contains("holdfast_http_held_bytes 0.0");
    assertThat(server.get("/health/ready").status()).isEqualTo(200);
    assertThat(complaints).isEmpty();
  }

  private double connections() throws Exception {
    Matcher metric = CONNECTIONS.matcher(server.get("/metrics").text());
    assertThat(metric.find()).isTrue();
    return Double.parseDouble(metric.group(1));
  }

  @Override
  public void close() {
    try (receiver;
        engine) {
      server.close();
    } finally {
      root.detachAppender(appender);
    }
  }
}
