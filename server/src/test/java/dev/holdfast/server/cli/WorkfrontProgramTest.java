package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Programs that were written for the event subscriptions of Adobe Workfront, as they are: of
 * Holdfast they know nothing but its address and a key, which they take for a session.
 */
@Timeout(120)
class WorkfrontProgramTest {
  @TempDir private Path directory = Path.of("");

  private RunningServer server;
  private WorkfrontProgram program;
  private WorkfrontReceiver receiver;

  @SuppressWarnings("NullAway.Init")
  WorkfrontProgramTest() {}

  @BeforeEach
  void start() throws Exception {
    server = new RunningServer(directory.resolve("data"));
    program = new WorkfrontProgram(server.url(), RunningServer.KEY);
    receiver = new WorkfrontReceiver("EauthTokenWorkfrontRocks1234_");
  }

  @AfterEach
  void stop() {
    receiver.close();
    server.close();
  }

  private String subscriptionTo(String objCode, String eventType) {
    return """
        {"objCode":"%s","eventType":"%s","url":"%s","authToken":"EauthTokenWorkfrontRocks1234_"}"""
        .formatted(objCode, eventType, receiver.url());
  }

  private static String event(String eventType, String objId, String newState) {
    return """
        {"objCode":"PROJ","eventType":"%s","objId":"%s","newState":%s,"oldState":{}}"""
        .formatted(eventType, objId, newState);
  }

  @Test
  void a_program_looks_for_its_subscription_creates_it_receives_and_deletes_it() throws Exception {
    assertThat(ownSubscription("PROJ", "UPDATE")).isEmpty();

    HttpResponse<String> created =
        program.call("POST", "/subscriptions", subscriptionTo("PROJ", "UPDATE"));
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    URI location = URI.create(created.headers().firstValue("Location").orElseThrow());
    String id = location.getPath().substring(location.getPath().lastIndexOf('/') + 1);
    assertThat(program.json(created).get("id").asString()).isEqualTo(id);
    assertThat(program.json(created).get("version").asString()).isEqualTo("v2");
    assertThat(program.at("GET", location).statusCode()).isEqualTo(200);

    JsonNode own = ownSubscription("PROJ", "UPDATE").orElseThrow();
    assertThat(own.get("id").asString()).isEqualTo(id);
    assertThat(own.get("authToken").asString()).isEqualTo("****234_");
    assertThat(own.get("objId").isNull()).isTrue();
    LocalDateTime made = LocalDateTime.parse(own.get("dateCreated").asString());
    assertThat(made).isEqualTo(LocalDateTime.parse(own.get("date_created").asString()));
    assertThat(
            program.call("POST", "/subscriptions", subscriptionTo("PROJ", "UPDATE")).statusCode())
        .isEqualTo(409);

    program.send(event("CREATE", "p1", "{\"ID\":\"p1\"}"));
    program.send(event("UPDATE", "p1", "{\"ID\":\"p1\",\"name\":\"Grüße\"}"));
    JsonNode message = receiver.next();
    assertThat(message.get("eventType").asString()).isEqualTo("UPDATE");
    assertThat(message.get("subscriptionId").asString()).isEqualTo(id);
    assertThat(message.get("newState").get("name").asString()).isEqualTo("Grüße");
    assertThat(message.get("oldState").isObject()).isTrue();
    assertThat(message.get("eventTime").get("epochSecond").asLong()).isPositive();

    assertThat(program.call("DELETE", "/subscriptions/" + id, null).statusCode()).isEqualTo(200);
    assertThat(program.call("DELETE", "/subscriptions/" + id, null).statusCode()).isEqualTo(404);
    assertThat(ownSubscription("PROJ", "UPDATE")).isEmpty();
    JsonNode nobody = program.send(event("UPDATE", "p1", "{\"ID\":\"p1\"}"));
    assertThat(nobody.get("messages").asInt()).isZero();
    assertThat(receiver.unauthorized()).isZero();
  }

  /** Page by page, as such programs do, by what they know of themselves. */
  private Optional<JsonNode> ownSubscription(String objCode, String eventType) throws Exception {
    int pages = 1;
    for (int page = 1; page <= pages; page++) {
      JsonNode answer =
          program.json(program.call("GET", "/subscriptions?page=" + page + "&limit=2", null));
      pages = answer.get("meta").get("page_count").asInt();
      for (JsonNode subscription : answer.get("subscriptions")) {
        if (subscription.get("objCode").asString().equals(objCode)
            && subscription.get("eventType").asString().equals(eventType)
            && subscription.get("url").asString().equals(receiver.url())) {
          return Optional.of(subscription);
        }
      }
    }
    return Optional.empty();
  }

  @Test
  void it_finds_its_own_among_many_pages_and_in_the_old_list() throws Exception {
    List<String> codes = List.of("TASK", "OPTASK", "PORT", "PRGM", "USER", "HOUR", "PROJ");
    for (String code : codes) {
      program.call("POST", "/subscriptions", subscriptionTo(code, "DELETE"));
    }
    assertThat(ownSubscription("PROJ", "DELETE")).isPresent();
    JsonNode old = program.json(program.call("GET", "/subscriptions/list", null));
    List<String> found = new ArrayList<>();
    old.forEach(subscription -> found.add(subscription.get("obj_code").asString()));
    assertThat(found).isEqualTo(codes);
  }

  @Test
  void it_finds_itself_by_its_url_however_that_is_written_also_after_a_restart() throws Exception {
    String url = receiver.url().replace("http://", "HTTP://");
    program.call(
        "POST", "/subscriptions", subscriptionTo("PROJ", "UPDATE").replace(receiver.url(), url));
    server.close();
    server = new RunningServer(directory.resolve("data"));
    program = new WorkfrontProgram(server.url(), RunningServer.KEY);
    JsonNode answer = program.json(program.call("GET", "/subscriptions", null));
    assertThat(answer.get("subscriptions").get(0).get("url").asString()).isEqualTo(url);
  }

  @Test
  void it_changes_its_version_and_misses_nothing() throws Exception {
    HttpResponse<String> created =
        program.call(
            "POST",
            "/subscriptions",
            subscriptionTo("PROJ", "UPDATE").replace("}", ",\"version\":\"v1\"}"));
    String id = program.json(created).get("id").asString();
    String state =
        "{\"ID\":\"p1\",\"tags\":[\"one\"],\"parameterValues\":{\"DE:Colours\":[\"red\"]}}";
    program.send(event("UPDATE", "p1", state));
    JsonNode before = receiver.next();
    assertThat(before.get("eventVersion").asString()).isEqualTo("v1");
    assertThat(before.get("newState").get("tags").asString()).isEqualTo("one");
    assertThat(before.get("newState").get("parameterValues").get("DE:Colours").asString())
        .isEqualTo("red");

    HttpResponse<String> changed =
        program.call("PUT", "/subscriptions/" + id + "/version", "{\"version\":\"v2\"}");
    assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
    JsonNode sent = program.send(event("UPDATE", "p1", state));
    assertThat(sent.get("messages").asInt()).isEqualTo(2);
    List<String> versions = new ArrayList<>();
    for (JsonNode message : List.of(receiver.next(), receiver.next())) {
      versions.add(message.get("eventVersion").asString());
      assertThat(message.get("subscriptionVersion").asString()).isEqualTo("v2");
      assertThat(message.get("newState").get("tags").isArray())
          .isEqualTo(message.get("eventVersion").asString().equals("v2"));
    }
    assertThat(versions).containsExactlyInAnyOrder("v1", "v2");
  }

  @Test
  void without_an_admins_key_it_gets_nowhere() throws Exception {
    for (String session : new String[] {"", "nonsense"}) {
      WorkfrontProgram stranger = new WorkfrontProgram(server.url(), session);
      assertThat(stranger.call("GET", "/subscriptions", null).statusCode()).isEqualTo(401);
      assertThat(
              stranger
                  .call("POST", "/subscriptions", subscriptionTo("PROJ", "UPDATE"))
                  .statusCode())
          .isEqualTo(401);
    }
    String viewer = key("viewer");
    assertThat(new WorkfrontProgram(server.url(), viewer).call("GET", "/subscriptions", null))
        .extracting(HttpResponse::statusCode)
        .isEqualTo(403);
    WorkfrontProgram publisher = new WorkfrontProgram(server.url(), key("publisher"));
    assertThat(
            publisher.call("POST", "/subscriptions", subscriptionTo("PROJ", "UPDATE")).statusCode())
        .isEqualTo(403);
    assertThat(publisher.send(event("UPDATE", "p1", "{}")).get("messages").asInt()).isZero();
    assertThat(ownSubscription("PROJ", "UPDATE")).isEmpty();
  }

  private String key(String role) {
    Typed typed = new Typed().at(server.url(), RunningServer.KEY);
    assertThat(typed.run("key", "create", "--tenant", "default", "--role", role, "--json"))
        .as(typed.err)
        .isZero();
    return new ObjectMapper().readTree(typed.out).get("key").asString();
  }
}
