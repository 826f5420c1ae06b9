package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.holdfast.core.filter.FilterLimits;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Operator;
import dev.holdfast.core.filter.State;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.port.History;
import dev.holdfast.server.api.Documented.Operation;
import dev.holdfast.server.api.Documented.Place;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Whether the OpenAPI document is one, and says what the code says. */
class OpenApiTest {
  private static final String PREFIX = "#/components/";

  /** Where a class path holds the schemas of OpenAPI documents, by the address that names them. */
  private static String openApiSchema(String address) {
    String resource = address.replace("https://", "/");
    try (InputStream file = OpenApiTest.class.getResourceAsStream(resource)) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Error> problems(JsonNode document) {
    Map<String, String> schemas = new HashMap<>();
    for (String name :
        List.of("schema/2022-10-07", "schema-base/2022-10-07", "dialect/base", "meta/base")) {
      String address = "https://spec.openapis.org/oas/3.1/" + name;
      schemas.put(address, openApiSchema(address));
    }
    SchemaRegistry registry =
        SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12, builder -> builder.schemas(schemas));
    SchemaLocation location =
        SchemaLocation.of("https://spec.openapis.org/oas/3.1/schema-base/2022-10-07");
    return registry.getSchema(location).validate(document);
  }

  @Test
  void it_is_an_openapi_document() {
    assertThat(problems(Documented.DOCUMENT)).isEmpty();
    for (String place :
        List.of("/info", "/paths/~1v1~1events/post", "/components/schemas/Problem")) {
      JsonNode other = Documented.DOCUMENT.deepCopy();
      ((ObjectNode) other.at(place)).put("required", "of something that it cannot be");
      assertThat(problems(other)).as("a mistake in " + place).isNotEmpty();
    }
  }

  // ---- it says what the code says

  /** A call in the words that the document and the code have in common. */
  private record Call(
      Set<String> roles,
      Set<String> schemes,
      Set<String> path,
      Set<String> query,
      int bodyBytes,
      boolean needsBody) {

    static Call of(Route route) {
      Set<String> roles = new TreeSet<>();
      Set<String> schemes = new TreeSet<>();
      if (route.access() != Access.OPEN) {
        schemes.add(
            switch (route.credential()) {
              case BEARER -> "key";
              case SESSION_ID -> "session";
            });
        for (Role role : Role.values()) {
          if (route.access().allows(role)) {
            roles.add(Json.kebab(role));
          }
        }
      }
      return new Call(
          roles,
          schemes,
          route.path().contains("{id}") ? Set.of("id") : Set.of(),
          new TreeSet<>(route.parameters()),
          route.bodyBytes(),
          route.body() == Route.Body.JSON);
    }

    static Call of(Operation operation) {
      Set<String> roles = new TreeSet<>();
      Set<String> schemes = new TreeSet<>();
      for (JsonNode alternative : operation.place().node().get("security")) {
        assertThat(alternative.size()).as("alternatives of one scheme").isEqualTo(1);
        String scheme = alternative.propertyNames().iterator().next();
        assertThat(alternative.get(scheme).size()).as("alternatives of one role").isEqualTo(1);
        schemes.add(scheme);
        roles.add(alternative.get(scheme).get(0).asString());
      }
      JsonNode body = operation.place().child("requestBody").followed().node();
      return new Call(
          roles,
          schemes,
          operation.parameters("path").keySet(),
          new TreeSet<>(operation.parameters("query").keySet()),
          body.path("x-max-bytes").asInt(0),
          body.path("required").asBoolean(false));
    }
  }

  @Test
  void it_describes_what_is_served_and_nothing_else() throws Exception {
    Map<String, Call> served = new TreeMap<>();
    Vertx vertx = Vertx.vertx();
    try (TestServer server = TestServer.start(new FakeEngine(vertx), ApiLimits.defaults())) {
      for (Route route : server.api.routes()) {
        served.put(route.method() + " " + route.path(), Call.of(route));
      }
    } finally {
      vertx.close().await();
    }
    Map<String, Call> described = new TreeMap<>();
    for (Operation operation : Documented.operations()) {
      String method = operation.method().toUpperCase(Locale.ROOT);
      described.put(method + " " + operation.path(), Call.of(operation));
    }
    assertThat(described).isEqualTo(served);
  }

  @Test
  void a_call_that_needs_a_key_can_name_a_tenant_and_can_be_refused_for_it() {
    for (Operation operation : Documented.operations()) {
      boolean needsKey = !operation.place().node().get("security").isEmpty();
      assertThat(operation.parameters("header").containsKey("Holdfast-Tenant"))
          .as("%s %s", operation.method(), operation.path())
          .isEqualTo(needsKey);
      boolean bySession = operation.place().node().get("security").toString().contains("session");
      operation
          .responses(401)
          .forEach(
              response ->
                  assertThat(response.pointer())
                      .endsWith(bySession ? "/SessionUnauthenticated" : "/Unauthenticated"));
      boolean takesKey = needsKey || operation.path().equals("/v1/session");
      for (int status : new int[] {401, 403}) {
        assertThat(operation.responses(status).isEmpty()).isNotEqualTo(takesKey);
      }
    }
  }

  @Test
  void every_problem_is_described_under_its_status() {
    Set<String> described = new TreeSet<>();
    Place responses = Place.at("components").child("responses");
    for (String name : responses.names()) {
      Place schema =
          responses.child(name).child("content").child("application/problem+json").child("schema");
      if (schema.exists()) {
        JsonNode properties = schema.node().get("properties");
        String status = properties.get("status").get("const").asString();
        JsonNode type = properties.get("type");
        if (type.has("const")) {
          described.add(status + " " + type.get("const").asString());
        } else {
          type.get("enum").forEach(one -> described.add(status + " " + one.asString()));
        }
      }
    }
    Set<String> known = new TreeSet<>();
    for (Problem.Kind kind : Problem.Kind.values()) {
      known.add(kind.status + " " + kind.type);
    }
    assertThat(described).isEqualTo(known);
  }

  private static JsonNode at(String pointer) {
    JsonNode node = Documented.DOCUMENT.at(pointer);
    assertThat(node.isMissingNode()).as(pointer).isFalse();
    return node;
  }

  @Test
  void its_limits_are_those_of_the_code() {
    Map<String, Integer> limits = new TreeMap<>();
    limits.put("/components/schemas/Type/maxLength", ApiLimits.TYPE_CHARS);
    limits.put("/components/schemas/TypePattern/maxLength", ApiLimits.TYPE_CHARS);
    limits.put("/components/schemas/SubjectOrNull/maxLength", ApiLimits.SUBJECT_CHARS);
    limits.put("/components/schemas/GivenUrl/maxLength", ApiLimits.URL_CHARS);
    limits.put("/components/schemas/Cursor/maxLength", ApiLimits.CURSOR_CHARS);
    limits.put("/components/schemas/NextCursor/maxLength", ApiLimits.CURSOR_CHARS);
    limits.put("/components/schemas/NewEvents/properties/events/maxItems", ApiLimits.BATCH_EVENTS);
    limits.put("/components/schemas/Problem/properties/index/maximum", ApiLimits.BATCH_EVENTS - 1);
    limits.put(
        "/components/schemas/WishHead/properties/types/maxItems", ApiLimits.SUBSCRIPTION_TYPES);
    limits.put("/components/schemas/WishHead/properties/headers/maxProperties", ApiLimits.HEADERS);
    limits.put(
        "/components/schemas/Import/properties/subscriptions/maxItems",
        ApiLimits.IMPORT_SUBSCRIPTIONS);
    limits.put(
        "/components/schemas/StoredPreview/properties/items/maxItems", ApiLimits.PREVIEW_EVENTS);
    limits.put("/components/schemas/Filters/maxItems", FilterLimits.FILTERS);
    limits.put(
        "/components/schemas/Comparison/properties/fieldName/maxLength",
        FilterLimits.NAME_CHARACTERS);
    limits.put(
        "/components/schemas/FilterGroup/properties/filters/minItems", FilterLimits.GROUP_LEAST);
    limits.put(
        "/components/schemas/FilterGroup/properties/filters/maxItems", FilterLimits.GROUP_MOST);
    limits.put("/components/parameters/Limit/schema/maximum", ApiLimits.LIST_ITEMS);
    limits.put("/components/parameters/Limit/schema/default", ApiLimits.LIST_ITEMS_DEFAULT);
    limits.put("/components/parameters/Page/schema/maximum", ApiLimits.PAGES);
    limits.put("/components/schemas/ObjIdOrNull/maxLength", ApiLimits.SUBJECT_CHARS);
    limits.put(
        "/components/schemas/WorkfrontVersionsWish/properties/subscriptionIds/maxItems",
        ApiLimits.VERSION_CHANGES);
    limits.put(
        "/components/schemas/WorkfrontVersionOfMany/properties/subscription_ids/maxItems",
        ApiLimits.VERSION_CHANGES);
    limits.put("/components/schemas/WorkfrontWholeList/maxItems", ApiLimits.WHOLE_LIST_ITEMS);
    limits.forEach(
        (pointer, limit) -> assertThat(at(pointer).asInt()).as(pointer).isEqualTo(limit));
    assertThat(at("/components/schemas/GivenIdOrNull/pattern").asString())
        .contains("{1," + ApiLimits.ID_CHARS + "}");
    assertThat(at("/components/parameters/Tenant/schema/pattern").asString())
        .contains("{1," + ApiLimits.TENANT_CHARS + "}");
    assertThat(at("/components/schemas/AuthTokenOrNull/pattern").asString())
        .contains("{1," + ApiLimits.AUTH_TOKEN_CHARS + "}");
    assertThat(at("/components/schemas/WorkfrontWish/properties/authToken/pattern").asString())
        .contains("{1," + ApiLimits.AUTH_TOKEN_CHARS + "}");
    assertThat(at("/components/schemas/ObjCode/pattern").asString())
        .contains("{1," + ApiLimits.OBJ_CODE_CHARS + "}");
    assertThat(at("/components/schemas/HeaderName/pattern").asString())
        .contains("{1," + ApiLimits.HEADER_NAME_CHARS + "}");
    assertThat(at("/components/schemas/HeaderValue/pattern").asString())
        .contains("{0," + (ApiLimits.HEADER_VALUE_CHARS - 2) + "}");
  }

  @Test
  void its_constants_are_those_of_the_code() {
    assertConstants("EndpointState/enum", Health.State.values());
    assertConstants("EndpointReason/enum", Health.Reason.values());
    assertConstants("MessageStatus/enum", History.Status.values());
    assertConstants("MessageHead/properties/reason/enum", DropReason.values());
    assertConstants("AttemptError/enum", Outcome.Failure.Kind.values());
    assertConstants("Format/enum", Form.Format.values());
    assertConstants("Replay/properties/state/enum", Replay.State.values());
    assertConstants("Version/enum", Form.Version.values());
    assertWords(
        "WorkfrontEventType/enum", Arrays.stream(ObjectEvent.Kind.values()).map(Enum::name));
    assertWords("FilterConnector/enum", Arrays.stream(Connector.values()).map(Enum::name));
    assertWords(
        "Comparison/properties/comparison/enum",
        Arrays.stream(Operator.values()).map(Operator::word));
    assertWords("Comparison/properties/state/enum", Arrays.stream(State.values()).map(State::word));
  }

  private static void assertConstants(String place, Enum<?>[] constants) {
    assertWords(place, Arrays.stream(constants).map(Json::kebab));
  }

  private static void assertWords(String place, Stream<String> words) {
    List<String> described = new ArrayList<>();
    at("/components/schemas/" + place)
        .forEach(
            one -> {
              if (!one.isNull()) {
                described.add(one.asString());
              }
            });
    assertThat(described).containsExactlyElementsOf(words.toList());
  }

  // ---- it is whole

  @Test
  void its_references_lead_somewhere_and_nothing_in_it_is_unused() {
    Set<String> used = new TreeSet<>();
    Documented.DOCUMENT
        .findValuesAsString("$ref")
        .forEach(reference -> used.add(reference.substring(PREFIX.length())));
    Set<String> there = new TreeSet<>();
    Place components = Place.at("components");
    for (String kind : components.names()) {
      if (!kind.equals("securitySchemes")) {
        components.child(kind).names().forEach(name -> there.add(kind + "/" + name));
      }
    }
    assertThat(used).isEqualTo(there);
  }

  @Test
  void its_calls_have_names_of_their_own_and_tags_that_are_explained() {
    Set<String> tags = new TreeSet<>();
    at("/tags").forEach(tag -> tags.add(tag.get("name").asString()));
    Set<String> names = new TreeSet<>();
    Set<String> used = new TreeSet<>();
    for (Operation operation : Documented.operations()) {
      JsonNode node = operation.place().node();
      assertThat(names.add(node.get("operationId").asString())).as(node.toString()).isTrue();
      assertThat(node.get("summary").asString()).isNotBlank();
      node.get("tags").forEach(tag -> used.add(tag.asString()));
    }
    assertThat(used).isEqualTo(tags);
  }

  @Test
  void every_object_in_it_is_closed() {
    Place schemas = Place.at("components").child("schemas");
    for (String name : schemas.names()) {
      JsonNode schema = schemas.child(name).node();
      boolean isPart = name.endsWith("Head");
      if (schema.path("type").asString("").equals("object") && !isPart) {
        assertThat(schema.path("additionalProperties").asBoolean(true)).as(name).isFalse();
      }
    }
  }

  // ---- its examples

  @Test
  void its_examples_are_as_it_says() {
    int examples = 0;
    for (Place holder : mediaTypes(new Place("", Documented.DOCUMENT), new ArrayList<>())) {
      for (JsonNode example : holder.node().path("examples")) {
        assertThat(Documented.schemaProblems(holder.child("schema"), example.get("value")))
            .as("%s: %s", holder.pointer(), example)
            .isEmpty();
        examples++;
      }
    }
    assertThat(examples).isGreaterThan(5);
  }

  private static List<Place> mediaTypes(Place place, List<Place> found) {
    if (place.node().has("schema") && place.node().has("examples")) {
      found.add(place);
    }
    for (int i = 0; place.node().isArray() && i < place.node().size(); i++) {
      mediaTypes(place.child(Integer.toString(i)), found);
    }
    if (place.node().isObject()) {
      place.names().forEach(name -> mediaTypes(place.child(name), found));
    }
    return found;
  }

  @Test
  void what_it_gives_as_examples_of_bodies_is_accepted(@TempDir Path data) throws Exception {
    Map<String, String> ids = new HashMap<>();
    int sent = 0;
    try (RealEngine engine = new RealEngine(data);
        TestServer server =
            TestServer.start(
                Engine.of(engine.holdfast), ApiLimits.defaults(), _ -> "http://127.0.0.1:9/")) {
      Reply subscribed =
          server.post(
              "/v1/subscriptions",
              "{\"url\":\"http://x/\",\"types\":[\"NOTE.UPDATE\"],\"format\":\"workfront\"}");
      ids.put("/v1/subscriptions", subscribed.json().get("id").asString());
      ids.put("/v1/endpoints", subscribed.json().get("endpoint").asString());
      for (Operation operation : Documented.operations()) {
        String path = operation.path();
        for (Map.Entry<String, String> id : ids.entrySet()) {
          path = path.replace(id.getKey() + "/{id}", id.getKey() + "/" + id.getValue());
        }
        Place content = operation.place().child("requestBody").child("content");
        for (String type : content.names()) {
          for (JsonNode example : content.child(type).node().path("examples")) {
            byte[] body = example.get("value").toString().getBytes(StandardCharsets.UTF_8);
            String method = operation.method().toUpperCase(Locale.ROOT);
            Reply reply = server.send(method, path, body, "Content-Type", type);
            assertThat(reply.status()).as("%s: %s", example, reply.text()).isBetween(200, 202);
            sent++;
          }
        }
      }
      assertThat(sent).isGreaterThanOrEqualTo(5);
    }
  }

  // ---- it is served

  @Test
  void it_is_served_without_a_key_and_a_copy_can_be_kept() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (TestServer server = TestServer.start(new FakeEngine(vertx), ApiLimits.defaults())) {
      Reply reply = server.sendKeyless("GET", "/openapi.yaml", new byte[0]);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.header("content-type")).contains("application/yaml");
      assertThat(reply.text()).startsWith("openapi: 3.1.0\n").doesNotContain("${");
      String tag = reply.header("etag").orElseThrow();
      assertThat(server.get("/openapi.yaml", "If-None-Match", "\"other\"").status()).isEqualTo(200);
      for (String known : List.of(tag, "W/" + tag, "\"other\", " + tag, "*")) {
        Reply again = server.get("/openapi.yaml", "If-None-Match", known);
        assertThat(again.status()).as(known).isEqualTo(304);
        assertThat(again.text()).isEmpty();
      }
      assertThat(server.send("HEAD", "/openapi.yaml", new byte[0]).status()).isEqualTo(200);
    } finally {
      vertx.close().await();
    }
  }
}
