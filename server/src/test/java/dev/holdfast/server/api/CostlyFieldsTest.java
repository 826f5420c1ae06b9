package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which requests are read on the event loop, and which on other threads. */
@Timeout(60)
class CostlyFieldsTest {
  private static final String PLAIN = "\"url\":\"https://127.0.0.1:9/%s\",\"types\":[\"a\"]";

  /** The threads that have read a URL. */
  private final List<String> threads = new CopyOnWriteArrayList<>();

  private final RealEngine engine;
  private final TestServer server;

  CostlyFieldsTest(@TempDir Path data) throws Exception {
    engine = new RealEngine(data);
    server =
        TestServer.start(
            Engine.of(engine.holdfast),
            ApiLimits.defaults(),
            url -> {
              threads.add(Thread.currentThread().getName());
              return url;
            });
  }

  @AfterEach
  void close() throws Exception {
    server.close();
    engine.close();
  }

  private int send(String method, String path, String body) throws Exception {
    threads.clear();
    String type = method.equals("PATCH") ? "application/merge-patch+json" : "application/json";
    return server.send(method, path, body.getBytes(UTF_8), "Content-Type", type).status();
  }

  private void assertReadApart(boolean isApart) {
    assertThat(threads)
        .isNotEmpty()
        .allMatch(name -> name.contains("worker") == isApart, isApart ? "apart" : "on the loop");
  }

  @Test
  void what_makes_or_brings_pairs_of_keys_or_certificates_is_read_apart() throws Exception {
    String plain = PLAIN.formatted("1");
    for (String more :
        List.of(
            "\"signature\":\"v1a\"",
            "\"sign\\u0061ture\":\"v1\\u0061\"",
            "\"tls\":null",
            "\"\\u0074ls\":null")) {
      assertThat(send("POST", SubscriptionsApi.PATH, "{" + more + "," + plain + "}"))
          .as(more)
          .isIn(201, 409);
      assertReadApart(true);
    }
    assertThat(
            send(
                "POST",
                SubscriptionsApi.PATH,
                "{" + plain + ",\"secret\":\"whsk_" + "A".repeat(88) + "\"}"))
        .as("it is no pair")
        .isEqualTo(400);
    assertReadApart(true);
    assertThat(send("PATCH", SubscriptionsApi.PATH + "/sub_1", "{\"tls\":null," + plain + "}"))
        .isEqualTo(404);
    assertReadApart(true);
  }

  @Test
  void an_import_is_read_apart_however_small() throws Exception {
    assertThat(
            send(
                "POST",
                SubscriptionsApi.PATH + "/import",
                "{\"subscriptions\":[{" + PLAIN.formatted("2") + "}]}"))
        .isEqualTo(200);
    assertReadApart(true);
  }

  @Test
  void a_plain_subscription_is_read_on_the_event_loop() throws Exception {
    String plain = PLAIN.formatted("3");
    assertThat(send("POST", SubscriptionsApi.PATH, "{" + plain + "}")).isEqualTo(201);
    assertReadApart(false);
    assertThat(send("PATCH", SubscriptionsApi.PATH + "/sub_1", "{" + plain + "}")).isEqualTo(404);
    assertReadApart(false);
  }

  @Test
  void what_is_cut_off_is_not_taken_for_more() {
    for (String body : List.of("", "t", "tl", "v1", "whsk", "\\", "\\n", "{\"title\":1}")) {
      assertThat(CostlyFields.mayBeIn(body.getBytes(UTF_8))).as(body).isFalse();
    }
    for (String body : List.of("tls", "ttls", "vv1a", "wwhsk_", "\\\\u")) {
      assertThat(CostlyFields.mayBeIn(body.getBytes(UTF_8))).as(body).isTrue();
    }
  }
}
