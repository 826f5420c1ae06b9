package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.TestServer.Reply;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Charts and changes of a real engine. */
class ActivityApiTest {
  private final RealEngine engine;
  private final TestServer server;

  ActivityApiTest(@TempDir Path data) throws Exception {
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), TestServer.keys());
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  private static long sum(JsonNode report, String name) {
    long sum = 0;
    for (JsonNode step : report.get("items")) {
      sum += step.get(name).asLong();
    }
    return sum;
  }

  @Test
  void what_was_accepted_and_delivered_is_in_the_chart_of_its_tenant() throws Exception {
    try (LocalReceiver receiver = new LocalReceiver()) {
      Reply made =
          server.post(
              "/v1/subscriptions", "{\"types\":[\"t\"],\"url\":\"" + receiver.url("/") + "\"}");
      assertThat(made.status()).isEqualTo(201);
      for (int i = 0; i < 3; i++) {
        assertThat(server.post("/v1/events", "{\"type\":\"t\",\"data\":1}").status())
            .isEqualTo(202);
      }
      for (String span : List.of("hour", "day")) {
        JsonNode report =
            server.eventually("/v1/activity?span=" + span, found -> sum(found, "delivered") == 3);
        assertThat(sum(report, "accepted")).isEqualTo(3);
        assertThat(sum(report, "failed")).isZero();
        assertThat(report.get("items").get(0).get("p50Millis").isNull()).isTrue();
      }
    }
    JsonNode other =
        server.get("/v1/activity", "Authorization", "Bearer " + TestServer.ACME_KEY).json();
    assertThat(sum(other, "accepted")).isZero();
    assertThat(other.get("span").asString()).isEqualTo("hour");
    assertThat(other.get("stepSeconds").asInt()).isEqualTo(60);
    assertThat(other.get("items")).hasSize(60);
    JsonNode day = server.get("/v1/activity?span=day").json();
    assertThat(day.get("stepSeconds").asInt()).isEqualTo(900);
    assertThat(day.get("items")).hasSize(96);
  }

  @Test
  void another_span_is_refused_with_those_that_there_are() throws Exception {
    Reply refused = server.get("/v1/activity?span=week");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("hour, day");
  }

  private String subscribe(String url, String key) throws Exception {
    Reply made =
        server.post(
            "/v1/subscriptions",
            "{\"types\":[\"t\"],\"url\":\"" + url + "\"}",
            "Authorization",
            "Bearer " + key);
    assertThat(made.status()).isEqualTo(201);
    return made.json().get("endpoint").asString();
  }

  private void operate(String endpoint, String verb, String key) throws Exception {
    assertThat(
            server
                .post(
                    "/v1/endpoints/" + endpoint + "/" + verb,
                    "{}",
                    "Authorization",
                    "Bearer " + key)
                .status())
        .isEqualTo(200);
  }

  @Test
  void changes_of_all_endpoints_are_listed_newest_first_page_by_page() throws Exception {
    String key = TestServer.ADMIN_KEY;
    String one = subscribe("https://one.test/?token=secret", key);
    String two = subscribe("https://two.test/", key);
    String acme = subscribe("https://acme.test/", TestServer.ACME_KEY);
    operate(one, "disable", key);
    operate(acme, "disable", TestServer.ACME_KEY);
    operate(two, "freeze", key);
    operate(one, "enable", key);
    JsonNode all = server.get("/v1/changes").json();
    assertThat(all.get("items")).hasSize(3);
    List<String> seen = new ArrayList<>();
    for (JsonNode item : all.get("items")) {
      seen.add(item.get("endpoint").asString() + " " + item.get("state").asString());
    }
    assertThat(seen).containsExactly(one + " enabled", two + " frozen", one + " disabled");
    assertThat(all.toString()).doesNotContain("secret", "acme.test");
    assertThat(all.get("items").get(0).get("url").asString()).startsWith("https://one.test/");
    List<JsonNode> paged = new ArrayList<>();
    String next = "";
    do {
      JsonNode page = server.get("/v1/changes?limit=1" + next).json();
      page.get("items").forEach(paged::add);
      next = page.get("next").isNull() ? "" : "&cursor=" + page.get("next").asString();
    } while (!next.isEmpty());
    assertThat(paged).hasSize(3);
    assertThat(paged).containsExactlyElementsOf(all.get("items"));
    String at = all.get("items").get(1).get("at").asString();
    assertThat(server.get("/v1/changes?since=" + at).json().get("items")).hasSize(2);
    assertThat(server.get("/v1/changes?until=" + at).json().get("items")).hasSize(1);
    assertThat(server.get("/v1/changes?since=" + Instant.now().plusSeconds(60)).json().get("items"))
        .isEmpty();
    JsonNode acmes =
        server.get("/v1/changes", "Authorization", "Bearer " + TestServer.ACME_KEY).json();
    assertThat(acmes.get("items")).hasSize(1);
    assertThat(server.get("/v1/changes?cursor=nonsense").status()).isEqualTo(400);
  }
}
