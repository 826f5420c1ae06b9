package dev.holdfast.server.api;

import com.networknt.schema.Error;
import com.networknt.schema.ExecutionConfig;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.keyword.NonValidationKeyword;
import dev.holdfast.server.pages.Pages;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The OpenAPI document as it is served, and whether what goes over the line is as it says.
 *
 * <p>An answer must have a status, headers and a body that the document gives its call; and a
 * request that was done must be one that the document allows. Schemas are compiled once.
 */
public final class Documented {
  static final JsonNode DOCUMENT = read();

  private static final String ID = "https://holdfast.example/openapi.json";

  private static final SchemaRegistry SCHEMAS =
      SchemaRegistry.withDialect(
          dialect(), builder -> builder.schemas(Map.of(ID, DOCUMENT.toString())));

  private static final Map<String, Schema> COMPILED = new ConcurrentHashMap<>();

  /** Headers that belong to the connection or the body, and need no description. */
  private static final Set<String> UNDESCRIBED_HEADERS =
      Set.of("content-type", "content-length", "transfer-encoding", "connection");

  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "options", "head", "patch", "trace");

  /** What the document does not describe: files for browsers. */
  private static final Router PAGES = pages();

  private Documented() {}

  private static JsonNode read() {
    try (InputStream file = OpenApi.class.getResourceAsStream(OpenApi.RESOURCE)) {
      return new YAMLMapper().readTree(Objects.requireNonNull(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The schemas of OpenAPI, in a document whose other parts are no schemas. */
  private static Dialect dialect() {
    return Dialect.builder(Dialects.getOpenApi31())
        .keywords(DOCUMENT.propertyNames().stream().map(NonValidationKeyword::new).toList())
        .build();
  }

  /**
   * What was sent.
   *
   * @param target path and query as in the request line
   */
  record Request(String method, String target, byte[] body) {}

  /**
   * What came back.
   *
   * @param headers by their names in lower case
   */
  record Answer(int status, Map<String, String> headers, byte[] body) {

    static Answer of(HttpResponse<byte[]> response) {
      Map<String, String> headers = new LinkedHashMap<>();
      response
          .headers()
          .map()
          .forEach(
              (name, values) ->
                  headers.put(name.toLowerCase(Locale.ROOT), String.join(", ", values)));
      return new Answer(response.statusCode(), headers, response.body());
    }

    /**
     * @param head all lines up to the empty one
     */
    static Answer of(String head, byte[] body) {
      Map<String, String> headers = new LinkedHashMap<>();
      String[] lines = head.strip().split("\r\n", -1);
      for (String line : Arrays.asList(lines).subList(1, lines.length)) {
        int colon = line.indexOf(':');
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
      return new Answer(Integer.parseInt(lines[0].substring(9, 12)), headers, body);
    }
  }

  /**
   * Fails unless the document allows the answer, and the request too if it was done.
   *
   * @param target path and query as in the request line
   */
  public static void check(
      String method, String target, byte[] body, HttpResponse<byte[]> response) {
    check(new Request(method, target, body), Answer.of(response));
  }

  static void check(Request request, Answer answer) {
    List<String> wrong = problems(request, answer);
    if (!wrong.isEmpty()) {
      throw new AssertionError(
          "%s %s is answered otherwise than openapi.yaml says: %s%n%d %s%n%s"
              .formatted(
                  request.method(),
                  shortened(request.target()),
                  wrong,
                  answer.status(),
                  answer.headers(),
                  shortened(new String(answer.body(), StandardCharsets.UTF_8))));
    }
  }

  /** Fails unless the document allows such an answer to some request, whichever it was. */
  static void check(Answer answer) {
    List<Place> responses = new ArrayList<>(responses(Place.at("x-any-request"), answer.status()));
    operations().forEach(operation -> responses.addAll(operation.responses(answer.status())));
    List<String> wrong = best(responses, answer, false);
    if (!wrong.isEmpty()) {
      throw new AssertionError("not in openapi.yaml: " + wrong + " " + answer.headers());
    }
  }

  private static String shortened(String text) {
    return text.length() > 2_000 ? text.substring(0, 2_000) + "..." : text;
  }

  /** What the document does not allow about the answer, and about the request if it was done. */
  static List<String> problems(Request request, Answer answer) {
    boolean isHead = request.method().equals("HEAD");
    String method = isHead ? "get" : request.method().toLowerCase(Locale.ROOT);
    String path = path(request.target());
    boolean isPage = method.equals("get") && PAGES.match(path) != null;
    if (isPage && (answer.status() == 200 || answer.status() == 304)) {
      return List.of();
    }
    Operation operation = operation(method, path);
    List<Place> responses = new ArrayList<>();
    if (isPage && answer.status() == 400) {
      responses.add(Place.at("components").child("responses").child("BadCall"));
    }
    if (operation != null) {
      responses.addAll(operation.responses(answer.status()));
    }
    responses.addAll(responses(Place.at("x-any-request"), answer.status()));
    List<String> wrong = new ArrayList<>(best(responses, answer, isHead));
    if (operation != null && answer.status() >= 200 && answer.status() < 300) {
      wrong.addAll(requestProblems(operation, path, request));
    }
    return wrong;
  }

  private static Router pages() {
    try {
      return new Router(new PagesApi(Pages.load()).routes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As the server takes it out: a fragment, which no target should have, ends it only at last. */
  private static String path(String target) {
    return target.split(target.contains("?") ? "[?]" : "#", 2)[0];
  }

  private static List<Place> responses(Place responses, int status) {
    Place response = responses.child(Integer.toString(status));
    return response.exists() ? List.of(response.followed()) : List.of();
  }

  /** What is wrong with the answer by the first of these; nothing if any of them allows it. */
  private static List<String> best(List<Place> responses, Answer answer, boolean isHead) {
    List<String> first = null;
    for (Place response : responses) {
      List<String> wrong = answerProblems(response, answer, isHead);
      if (wrong.isEmpty()) {
        return wrong;
      }
      first = first == null ? wrong : first;
    }
    return first == null ? List.of("the status " + answer.status() + " is not documented") : first;
  }

  private static List<String> answerProblems(Place response, Answer answer, boolean isHead) {
    List<String> wrong = new ArrayList<>(headerProblems(response, answer));
    Place content = response.child("content");
    if (!content.exists()) {
      if (answer.body().length > 0) {
        wrong.add("there is a body");
      }
      return wrong;
    }
    String type = answer.headers().getOrDefault("content-type", "none").split(";", 2)[0];
    Place media = content.child(type);
    if (!media.exists()) {
      wrong.add("the content type is " + type);
    } else if (!isHead && type.endsWith("json")) {
      wrong.addAll(schemaProblems(media.child("schema"), json(answer.body())));
    }
    return wrong;
  }

  private static List<String> headerProblems(Place response, Answer answer) {
    List<String> wrong = new ArrayList<>();
    Set<String> undescribed = new TreeSet<>(answer.headers().keySet());
    undescribed.removeAll(UNDESCRIBED_HEADERS);
    Place headers = response.child("headers");
    for (String name : headers.names()) {
      Place header = headers.child(name).followed();
      String value = answer.headers().get(name.toLowerCase(Locale.ROOT));
      undescribed.remove(name.toLowerCase(Locale.ROOT));
      if (value != null) {
        Place schema = header.child("schema");
        schemaProblems(schema, value(schema, value)).forEach(it -> wrong.add(name + ": " + it));
      } else if (header.node().path("required").asBoolean(false)) {
        wrong.add("there is no header " + name);
      }
    }
    if (!undescribed.isEmpty()) {
      wrong.add("these headers are not documented: " + undescribed);
    }
    return wrong;
  }

  // ---- the request

  private static List<String> requestProblems(Operation operation, String path, Request request) {
    List<String> wrong = new ArrayList<>();
    Place body = operation.place().child("requestBody");
    if (request.body().length > 0) {
      Place schema = body.followed().child("content").child("application/json").child("schema");
      if (schema.exists()) {
        schemaProblems(schema, json(request.body())).forEach(it -> wrong.add("request: " + it));
      } else {
        wrong.add("the request has a body");
      }
    } else if (body.followed().node().path("required").asBoolean(false)) {
      wrong.add("the request has no body");
    }
    Map<String, Place> inPath = operation.parameters("path");
    inPath.values().forEach(it -> wrong.addAll(parameterProblems(it, operation.variable(path))));
    Map<String, Place> inQuery = operation.parameters("query");
    for (Map.Entry<String, String> given : query(request.target()).entrySet()) {
      Place parameter = inQuery.get(given.getKey());
      if (parameter == null) {
        wrong.add("the parameter " + given.getKey() + " is not documented");
      } else {
        wrong.addAll(parameterProblems(parameter, given.getValue()));
      }
    }
    return wrong;
  }

  private static List<String> parameterProblems(Place parameter, String given) {
    Place schema = parameter.child("schema");
    return schemaProblems(schema, value(schema, given)).stream()
        .map(it -> parameter.node().get("name").asString() + ": " + it)
        .toList();
  }

  /** Several values of one name are joined by commas, as a list may also be given. */
  private static Map<String, String> query(String target) {
    Map<String, String> values = new LinkedHashMap<>();
    String[] parts = target.split("[?]", 2);
    for (String pair : parts.length < 2 ? new String[0] : parts[1].split("&", -1)) {
      if (!pair.isEmpty()) {
        String[] both = pair.split("=", 2);
        values.merge(
            decoded(both[0]), both.length > 1 ? decoded(both[1]) : "", (a, b) -> a + "," + b);
      }
    }
    return values;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** A header or parameter as the JSON that its schema is about. */
  private static JsonNode value(Place schema, String text) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    String type = schema.node().path("type").asString("string");
    if (type.equals("integer") && text.matches("[0-9]{1,10}")) {
      return nodes.numberNode(Long.parseLong(text));
    }
    if (type.equals("array")) {
      ArrayNode array = nodes.arrayNode();
      Arrays.asList(text.split(",", -1)).forEach(array::add);
      return array;
    }
    return nodes.stringNode(text);
  }

  // ---- the document

  /**
   * A call that the document describes.
   *
   * @param method in lower case
   * @param path with its variable in braces
   */
  record Operation(String method, String path, Place place) {

    List<Place> responses(int status) {
      return Documented.responses(place.child("responses"), status);
    }

    /** The parameters that are in path, query or header, by name. */
    Map<String, Place> parameters(String in) {
      Map<String, Place> found = new LinkedHashMap<>();
      Place parameters = place.child("parameters");
      for (int i = 0; i < parameters.node().size(); i++) {
        Place parameter = parameters.child(Integer.toString(i)).followed();
        if (parameter.node().get("in").asString().equals(in)) {
          found.put(parameter.node().get("name").asString(), parameter);
        }
      }
      return found;
    }

    boolean matches(String otherPath) {
      String[] segments = path.split("/", -1);
      String[] others = otherPath.split("/", -1);
      boolean same = segments.length == others.length;
      for (int i = 0; same && i < segments.length; i++) {
        boolean isVariable = segments[i].startsWith("{");
        same = isVariable ? !others[i].isEmpty() : segments[i].equals(others[i]);
      }
      return same;
    }

    String variable(String otherPath) {
      String[] segments = path.split("/", -1);
      for (int i = 0; i < segments.length; i++) {
        if (segments[i].startsWith("{")) {
          return decoded(otherPath.split("/", -1)[i]);
        }
      }
      return "";
    }
  }

  static List<Operation> operations() {
    List<Operation> operations = new ArrayList<>();
    Place paths = Place.at("paths");
    for (String path : paths.names()) {
      for (String method : paths.child(path).names()) {
        if (METHODS.contains(method)) {
          operations.add(new Operation(method, path, paths.child(path).child(method)));
        }
      }
    }
    return operations;
  }

  private static @Nullable Operation operation(String method, String path) {
    // a path without a variable goes before one with, whichever methods it has
    Place exact = Place.at("paths").child(path);
    if (exact.exists()) {
      Place operation = exact.child(method);
      return operation.exists() ? new Operation(method, path, operation) : null;
    }
    return operations().stream()
        .filter(it -> it.method().equals(method) && it.matches(path))
        .findFirst()
        .orElse(null);
  }

  /** A place in the document. */
  record Place(String pointer, JsonNode node) {

    static Place at(String name) {
      return new Place("", DOCUMENT).child(name);
    }

    Place child(String name) {
      JsonNode child = node.isArray() ? node.path(Integer.parseInt(name)) : node.path(name);
      return new Place(pointer + "/" + name.replace("~", "~0").replace("/", "~1"), child);
    }

    /** What stands at the place, or what it refers to. */
    Place followed() {
      JsonNode reference = node.path("$ref");
      if (reference.isMissingNode()) {
        return this;
      }
      Place place = new Place("", DOCUMENT);
      String[] names = reference.asString().split("/", -1);
      for (String name : Arrays.asList(names).subList(1, names.length)) {
        place = place.child(name.replace("~1", "/").replace("~0", "~"));
      }
      return place;
    }

    boolean exists() {
      return !node.isMissingNode();
    }

    List<String> names() {
      return List.copyOf(node.propertyNames());
    }
  }

  private static JsonNode json(byte[] bytes) {
    return TestServer.MAPPER.readTree(bytes);
  }

  /** What is wrong with a value by the schema at this place. */
  static List<String> schemaProblems(Place schema, JsonNode value) {
    return COMPILED
        .computeIfAbsent(
            schema.pointer(), pointer -> SCHEMAS.getSchema(SchemaLocation.of(ID + "#" + pointer)))
        .validate(
            value,
            context ->
                context.setExecutionConfig(
                    ExecutionConfig.builder().formatAssertionsEnabled(true).build()))
        .stream()
        .map(Error::toString)
        .toList();
  }
}
