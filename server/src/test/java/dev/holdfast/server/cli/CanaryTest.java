package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.engine.http.Ed25519;
import dev.holdfast.server.cli.Settings.Sources;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Secrets are planted wherever one can be given, everything is asked for that can be asked, and
 * then they are looked for in all that was told: answers, errors, metrics, commands, the log, the
 * files.
 */
@Timeout(180)
class CanaryTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final SecureRandom RANDOM = new SecureRandom();

  @TempDir private Path directory = Path.of("");

  /** What nobody may be told, by what it is. */
  private final Map<String, String> planted = new LinkedHashMap<>();

  /** What was told, by where. */
  private final Map<String, StringBuilder> told = new ConcurrentHashMap<>();

  /** What receivers got, to know that the secrets were in use. */
  private final Set<String> received = ConcurrentHashMap.newKeySet();

  private final HttpClient client = HttpClient.newHttpClient();
  private final Logger ours = (Logger) LoggerFactory.getLogger("dev.holdfast");
  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);

  private final AppenderBase<ILoggingEvent> log =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          tell("log", event.getFormattedMessage());
          if (event.getThrowableProxy() != null) {
            tell("log", ThrowableProxyUtil.asString(event.getThrowableProxy()));
          }
        }
      };

  private HttpServer receiver;
  private String adminKey = "";

  @SuppressWarnings("NullAway.Init")
  CanaryTest() {}

  @BeforeEach
  void start() throws IOException {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
    receiver.createContext(
        "/",
        exchange -> {
          received.add(exchange.getRequestURI().toString());
          exchange.getRequestHeaders().values().forEach(received::addAll);
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(
              exchange.getRequestURI().getPath().startsWith("/good") ? 200 : 500, -1);
          exchange.close();
        });
    receiver.start();
    log.start();
    root.addAppender(log);
    ours.setLevel(Level.TRACE);
    adminKey = plant("admin key", "hf_");
  }

  @AfterEach
  void stop() {
    receiver.stop(0);
    ours.setLevel(null);
    root.detachAppender(log);
  }

  private void tell(String where, String text) {
    StringBuilder all = told.computeIfAbsent(where, _ -> new StringBuilder());
    synchronized (all) {
      all.append(text).append('\n');
    }
  }

  private String plant(String name, String prefix) {
    byte[] random = new byte[16];
    RANDOM.nextBytes(random);
    String secret = "CANARY" + HexFormat.of().formatHex(random);
    planted.put(name, secret);
    return prefix + secret;
  }

  /** A secret to sign with, of which neither the text nor the key may be told. */
  private String plantSigningSecret(String name) {
    String key = plant(name + " (key)", "");
    String text = Base64.getEncoder().encodeToString(key.getBytes(StandardCharsets.UTF_8));
    planted.put(name, text);
    return "whsec_" + text;
  }

  /** A pair of keys to sign with, of which only the public half may be told. */
  private String plantPair(String name) {
    byte[] pair = Ed25519.make();
    String text = Base64.getEncoder().encodeToString(pair);
    planted.put(name, text);
    planted.put(name + " (beginning)", text.substring(0, 40));
    return "whsk_" + text;
  }

  /** What we are known by to an endpoint, in JSON; no line of its key may be told. */
  private String plantIdentity(String name) throws Exception {
    Path certificate = directory.resolve("certificate.pem");
    Path key = directory.resolve("key.pem");
    TestAuthority.write(certificate, key, "EC", "canary");
    List<String> lines = Files.readAllLines(key);
    planted.put(name, lines.get(1));
    planted.put(name + " (end)", lines.get(lines.size() - 2));
    return MAPPER.writeValueAsString(
        Map.of(
            "certificate",
            Files.readString(certificate),
            "privateKey",
            String.join("\n", lines) + "\n"));
  }

  private String url(String path) {
    return "http://127.0.0.1:" + receiver.getAddress().getPort() + path;
  }

  @Test
  void no_secret_is_told_to_anybody() throws Exception {
    Path data = directory.resolve("data");
    Path backup = directory.resolve("backup");
    Typed typed = new Typed();
    StringWriter printed = new StringWriter();
    Server server = serve(data, printed);
    try {
      At at = new At("http://127.0.0.1:" + server.port());
      typed.at(at.server(), adminKey);
      List<String> paths = use(at);
      spoil(at);
      lookAround(at, paths);
      command(typed, "backup", "--data", data.toString(), "--to", backup.toString());
      commands(typed);
    } finally {
      server.stop().await();
    }
    tell("standard output", printed.toString());
    command(typed, "check", "--data", data.toString());
    assertThat(received)
        .as("the secrets were in use")
        .contains("Bearer " + planted.get("token"), planted.get("header value"))
        .anyMatch(uri -> uri.contains("key=" + planted.get("URL query")));
    for (String line : Files.readAllLines(data.resolve("master.key"))) {
      planted.put("master key", line);
    }
    assertUntold();
    Files.delete(data.resolve("master.key"));
    assertNotInFiles(data);
    assertNotInFiles(backup);
  }

  private Server serve(Path data, StringWriter printed) throws Exception {
    List<String> settings =
        List.of(
            "admin.key=" + adminKey,
            "server.port=0",
            "egress.allow=127.0.0.0/8",
            "retry.unit=50ms",
            "circuit.min-attempts=3");
    return Wiring.start(
        Settings.read(
            new Sources(null, Map.of("HOLDFAST_DATA", data.toString()), settings, Map.of())),
        InstantSource.system(),
        new PrintWriter(printed));
  }

  private final class At {
    private final String server;

    At(String server) {
      this.server = server;
    }

    String server() {
      return server;
    }

    JsonNode post(String path, String body) throws Exception {
      return MAPPER.readTree(told(request("POST", path, body)));
    }

    JsonNode patch(String path, String body) throws Exception {
      return MAPPER.readTree(told(request("PATCH", path, body)));
    }

    String get(String path) throws Exception {
      return told(request("GET", path, null));
    }

    HttpRequest request(String method, String path, @Nullable String body) {
      return HttpRequest.newBuilder(URI.create(server + path))
          .header("Authorization", "Bearer " + adminKey)
          .header("sessionID", adminKey)
          .header("Content-Type", "application/json")
          .method(
              method,
              body == null
                  ? HttpRequest.BodyPublishers.noBody()
                  : HttpRequest.BodyPublishers.ofString(body))
          .build();
    }

    String told(HttpRequest request) throws Exception {
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      tell("answers", answer.statusCode() + " " + answer.headers().map() + " " + answer.body());
      return answer.body();
    }
  }

  /** Plants secrets and lets them be used. Returns what there is to look at. */
  private List<String> use(At at) throws Exception {
    List<String> paths = new ArrayList<>();
    String token = plant("token", "");
    String header = plant("header value", "");
    String query = plant("URL query", "key=");
    String secret = plantSigningSecret("secret");
    for (String path : List.of("/good?" + query, "/bad?" + query)) {
      JsonNode made =
          at.post(
              "/v1/subscriptions",
              """
              {"url":"%s","types":["order.*"],"authToken":"%s","headers":{"X-Key":"%s"},"secret":"%s"}"""
                  .formatted(url(path), token, header, secret));
      paths.add("/v1/subscriptions/" + made.path("id").stringValue());
      paths.add("/v1/endpoints/" + made.path("endpoint").stringValue());
    }
    JsonNode encrypted =
        at.post(
            "/v1/subscriptions",
            "{\"url\":\"https://127.0.0.1:9443/\",\"types\":[\"order.*\"],\"secret\":\"%s\",\"tls\":%s}"
                .formatted(plantPair("private signing key"), plantIdentity("client key")));
    paths.add("/v1/subscriptions/" + encrypted.path("id").stringValue());
    paths.add("/v1/endpoints/" + encrypted.path("endpoint").stringValue());
    String workfront = "/attask/eventsubscription/api/v1/subscriptions";
    JsonNode other =
        at.post(
            workfront,
            "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"url\":\"%s\",\"authToken\":\"%s\"}"
                .formatted(
                    url("/good?" + plant("Workfront's URL query", "")),
                    plant("Workfront's token", "")));
    paths.add(workfront + "/" + other.path("id").stringValue());
    at.post(
        "/v1/subscriptions/import",
        "{\"subscriptions\":[{\"url\":\"%s\",\"types\":[\"a\"],\"authToken\":\"%s\"}]}"
            .formatted(url("/good?" + plant("imported URL", "")), plant("imported token", "")));
    for (int i = 0; i < 8; i++) {
      JsonNode event = at.post("/v1/events", "{\"type\":\"order.paid\",\"data\":{}}");
      paths.add("/v1/events/" + event.path("id").stringValue());
    }
    String subscription = paths.getFirst();
    awaitDelivered(at, subscription);
    at.patch(
        subscription,
        "{\"url\":\"%s\",\"authToken\":\"%s\",\"headers\":{\"X-Key\":\"%s\"}}"
            .formatted(
                url("/good?" + plant("changed URL", "")),
                plant("changed token", ""),
                plant("changed header", "")));
    at.post(
        subscription + "/rotate", "{\"secret\":\"" + plantSigningSecret("rotated secret") + "\"}");
    at.post(subscription + "/pause", "{}");
    at.post(subscription + "/resume", "{}");
    for (String endpoint : List.copyOf(paths)) {
      if (endpoint.startsWith("/v1/endpoints/")) {
        at.post(endpoint + "/test", "{}");
        at.post(endpoint + "/disable", "{}");
        at.post(endpoint + "/enable", "{}");
        paths.add(endpoint + "/changes");
      }
    }
    makeKey(at);
    signIn(at);
    for (JsonNode message : MAPPER.readTree(at.get("/v1/messages")).path("items")) {
      paths.add("/v1/messages/" + message.path("id").stringValue());
    }
    return paths;
  }

  /** The answer that shows a key, this once, is the only one that is not kept. */
  private void makeKey(At at) throws Exception {
    HttpResponse<String> made =
        client.send(
            at.request("POST", "/v1/keys", "{\"role\":\"viewer\",\"name\":\"canary\"}"),
            HttpResponse.BodyHandlers.ofString());
    String key = MAPPER.readTree(made.body()).path("key").stringValue();
    assertThat(key).startsWith("hf_");
    planted.put("made key", key.substring(key.lastIndexOf('_') + 1));
  }

  /** The answer that gives a browser its cookie is the only other one. */
  private void signIn(At at) throws Exception {
    HttpResponse<String> begun =
        client.send(
            at.request("POST", "/v1/session", "{\"key\":\"" + adminKey + "\"}"),
            HttpResponse.BodyHandlers.ofString());
    assertThat(begun.body()).doesNotContain(adminKey);
    String cookie = begun.headers().firstValue("set-cookie").orElseThrow().split("[=;]", 3)[1];
    planted.put("cookie", cookie);
    for (String sent : List.of(cookie, plant("wrong cookie", ""), cookie + "x")) {
      for (String method : List.of("GET", "DELETE")) {
        at.told(
            HttpRequest.newBuilder(URI.create(at.server() + "/v1/session"))
                .header("Cookie", "holdfast_session=" + sent)
                .header("Holdfast-Csrf", plant("wrong token", ""))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build());
      }
    }
  }

  private static void awaitDelivered(At at, String subscription) throws Exception {
    String id = subscription.substring(subscription.lastIndexOf('/') + 1);
    long until = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!at.get("/v1/messages?status=delivered&subscription=" + id).contains("msg_")) {
      assertThat(System.nanoTime()).as("nothing is delivered").isLessThan(until);
    }
  }

  /** Gives secrets where they are refused. */
  private void spoil(At at) throws Exception {
    String wrong = plant("what was refused", "");
    String path = "/v1/subscriptions";
    for (String body :
        List.of(
            "{\"url\":\"%s\",\"types\":[\"a\"],\"authToken\":\"%s\\u0001\"}",
            "{\"url\":\"%s\",\"types\":7,\"authToken\":\"%s\"}",
            "{\"url\":\"%s\",\"authToken\":\"%s",
            "{\"url\":\"%s\",\"types\":[\"a\"],\"authToken\":[\"%s\"]}",
            "{\"url\":\"%s\",\"types\":[\"a\"],\"token\":\"%s\"}",
            "{\"url\":\"%s\",\"types\":[\"a\"],\"headers\":{\"X\":\"a\\r\\n%s\"}}",
            "{\"url\":\"%s\",\"types\":[\"a\"],\"secret\":\"whsec_%s\"}",
            "{\"url\":\"%s\",\"types\":[\"a\"],\"secret\":\"whsk_%s\"}",
            "{\"url\":\"%s\",\"types\":[\"a\"],\"tls\":{\"privateKey\":\"%s\"}}",
            "{\"url\":\"%s#%s\",\"types\":[\"a\"]}",
            "{\"url\":\"%s?a=%s\\u0000\",\"types\":[\"a\"]}")) {
      at.post(path, body.formatted(url("/good"), wrong));
    }
    for (String url :
        List.of(
            "http://user:%s@example.com/",
            "http://10.0.0.1/?key=%s",
            "ftp://example.com/?key=%s",
            "http://example.com:25/?key=%s",
            "http://exa mple.com/?key=%s")) {
      at.post(path, "{\"url\":\"%s\",\"types\":[\"a\"]}".formatted(url.formatted(wrong)));
    }
    at.get("/v1/messages?key=" + wrong);
    at.post("/v1/session", "{\"key\":\"" + wrong + "\"}");
    at.post("/v1/session", "{\"key\":[\"" + wrong + "\"]}");
    at.post("/v1/session", "{\"key\":\"" + wrong);
    at.get("/v1/subscriptions/" + "x".repeat(3) + "?sessionID=" + wrong);
    for (String name : List.of("Authorization", "sessionID")) {
      for (String called : List.of("/v1/keys", "/attask/eventsubscription/api/v1/subscriptions")) {
        at.told(
            HttpRequest.newBuilder(URI.create(at.server() + called))
                .header(name, (name.equals("Authorization") ? "Bearer " : "") + wrong)
                .build());
      }
    }
  }

  private void lookAround(At at, List<String> paths) throws Exception {
    List<String> all = new ArrayList<>(paths);
    all.addAll(
        List.of(
            "/v1/subscriptions",
            "/v1/endpoints",
            "/v1/messages",
            "/v1/replays",
            "/v1/keys",
            "/v1/audit",
            "/v1/master-key",
            "/v1/session",
            "/v1/settings",
            "/",
            "/attask/eventsubscription/api/v1/subscriptions",
            "/attask/eventsubscription/api/v1/subscriptions/list",
            "/metrics",
            "/health/ready",
            "/openapi.yaml"));
    for (String path : all) {
      assertThat(at.get(path)).as(path).isNotEmpty();
    }
  }

  private void commands(Typed typed) {
    command(typed, "subscriptions", "list");
    command(typed, "subscriptions", "list", "--json");
    command(typed, "subscriptions", "export", "--file", directory.resolve("export").toString());
    command(typed, "endpoints", "list");
    command(typed, "messages", "list");
    command(typed, "key", "list", "--json");
    command(typed, "audit", "list", "--json");
    command(typed, "audit", "verify");
    command(typed, "master-key", "show");
    command(typed, "master-key", "rotate");
    String key = "admin.key=" + plant("admin key with a blank", "") + " ";
    String proxy = "egress.proxy=ftp://user:" + plant("proxy's password", "") + "@127.0.0.1:3128";
    for (String refusing : List.of("serve", "doctor")) {
      typed.run(refusing, "--set", proxy, "--set", key);
      tell("commands", typed.out + typed.err);
      assertThat(typed.out + typed.err).contains("egress.proxy");
    }
  }

  private void command(Typed typed, String... arguments) {
    int code = typed.run(arguments);
    tell("commands", String.join(" ", arguments[0], typed.out, typed.err));
    assertThat(code).as("%s: %s", List.of(arguments), typed.err).isZero();
  }

  private void assertUntold() {
    told.forEach(
        (where, text) ->
            planted.forEach(
                (name, secret) ->
                    assertThat(text.indexOf(secret))
                        .as(
                            "%s in %s: %s",
                            name, where, around(text, text.indexOf(secret), secret.length()))
                        .isNegative()));
    assertThat(told.keySet()).contains("answers", "commands", "log", "standard output");
  }

  private static String around(StringBuilder text, int at, int length) {
    return at < 0
        ? ""
        : text.substring(Math.max(0, at - 200), Math.min(text.length(), at + length + 50));
  }

  private void assertNotInFiles(Path where) throws IOException {
    try (Stream<Path> files = Files.walk(where)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        // Each byte is a character, so that any text can be found in any file.
        String content = Files.readString(file, StandardCharsets.ISO_8859_1);
        planted.forEach(
            (name, secret) ->
                assertThat(content.contains(secret)).as("%s in %s", name, file).isFalse());
      }
    }
  }
}
