package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.server.api.Documented;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What somebody hears who wants deliveries to where none may go. */
@Timeout(120)
class EgressTest {
  private static final String SUBSCRIPTIONS = "/v1/subscriptions";
  private static final String WORKFRONT = "/attask/eventsubscription/api/v1/subscriptions";
  private static final JsonMapper MAPPER = new JsonMapper();

  private final HttpClient client = HttpClient.newHttpClient();
  private final Path directory;
  private FakeNames names = names();
  private RunningServer server;

  EgressTest(@TempDir Path directory) {
    this.directory = directory;
    this.server = start(directory, names, "egress.allow=");
  }

  /** What came back. */
  private record Reply(int status, JsonNode json) {
    String detail() {
      return json.get("detail").asString();
    }

    String field() {
      return json.get("field").asString();
    }
  }

  private static FakeNames names() {
    try {
      return new FakeNames(
          Map.of(
              "loop.test", List.of("127.0.0.1", "::1"),
              "private.test", List.of("10.1.2.3"),
              "mixed.test", List.of("10.1.2.3", "93.184.215.14"),
              "public.test", List.of("93.184.215.14"),
              "translated.test", List.of("64:ff9b::5db8:d70e")));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static RunningServer start(Path directory, FakeNames names, String... assignments) {
    try {
      return new RunningServer(directory, names, assignments);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private void restart(String... assignments) {
    server.close();
    names = names();
    server = start(directory, names, assignments);
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    server.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://127.0.0.1/ | The URL's host 127.0.0.1 is a loopback address, and nothing may be sent there.",
        "http://[::1]:9000/ | is a loopback address",
        "http://10.0.0.1/ | is a private address",
        "http://169.254.169.254/latest/ | is the address of a metadata service",
        "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/ | is a loopback address",
        "http://127.1/ | is not an IPv4 address",
        "http://[::ffff:127.0.0.1]/ | write it as an IPv4 address",
        "http://[64:ff9b::1.1.1.1]/ | an IPv6 address that stands for an IPv4 address",
        "http://93.184.215.14:25/ | port 25 may not be used; allowed are 80,443,1024-65535",
        "http://public.test:22/ | port 22 may not be used",
        "http://localhost:9000/ | The host localhost leads only to addresses that nothing may be sent to.",
        "http://LOCALHOST./ | The host localhost. leads only to addresses",
        "http://loop.test/ | The host loop.test leads only to addresses",
        "http://private.test/ | The host private.test leads only to addresses",
        "http://translated.test/ | The host translated.test leads only to addresses"
      })
  void nothing_is_made_that_could_not_be_delivered(String url, String why) throws Exception {
    Reply created = post(SUBSCRIPTIONS, subscription(url));
    assertRefused(created, "url", why);
    assertRefused(post(WORKFRONT, workfront(url)), "url", why);
    assertRefused(
        post(
            SUBSCRIPTIONS + "/import",
            "{\"subscriptions\":[%s,%s]}"
                .formatted(subscription("http://public.test/"), subscription(url))),
        "subscriptions[1].url",
        why);
    Reply there = post(SUBSCRIPTIONS, subscription("http://public.test/"));
    assertThat(there.status()).isEqualTo(201);
    String id = there.json().get("id").asString();
    assertRefused(send("PATCH", SUBSCRIPTIONS + "/" + id, "{\"url\":\"" + url + "\"}"), "url", why);
    assertThat(send("GET", SUBSCRIPTIONS, "").json().get("items"))
        .extracting(one -> one.get("url").asString())
        .containsExactly("http://public.test/");
  }

  private static void assertRefused(Reply reply, String field, String why) {
    assertThat(reply.status()).as(reply.json().toString()).isEqualTo(400);
    assertThat(reply.json().get("type").asString()).isEqualTo("urn:holdfast:problem:invalid-field");
    assertThat(reply.field()).isEqualTo(field);
    assertThat(reply.detail()).contains(why);
    if (reply.detail().startsWith("The host")) {
      assertThat(reply.detail())
          .contains("egress.allow")
          .doesNotContain("127.0.0.1", "10.1.2.3", "64:ff9b");
    }
  }

  @Test
  void a_name_may_have_forbidden_addresses_beside_others_or_none_yet() throws Exception {
    for (String host : List.of("public.test", "mixed.test", "nowhere.test")) {
      assertThat(post(SUBSCRIPTIONS, subscription("https://" + host + "/")).status())
          .as(host)
          .isEqualTo(201);
    }
    assertThat(names.asked).contains("public.test", "mixed.test", "nowhere.test");
  }

  @Test
  void a_name_in_other_letters_is_the_one_that_is_looked_up() throws Exception {
    Reply made = post(SUBSCRIPTIONS, subscription("https://B\u00dcCHER.test/x"));
    assertThat(made.status()).as(made.json().toString()).isEqualTo(201);
    assertThat(made.json().get("url").asString()).isEqualTo("https://xn--bcher-kva.test/x");
    assertThat(names.asked).containsExactly("xn--bcher-kva.test");

    String written = "https://b\u00fccher.test/y";
    assertThat(post(WORKFRONT, workfront(written)).status()).isEqualTo(201);
    assertThat(send("GET", WORKFRONT, "").json().get("subscriptions"))
        .extracting(one -> one.get("url").asString())
        .containsExactly(written);
    assertRefused(
        post(SUBSCRIPTIONS, subscription("https://fa\u00df.test/")),
        "url",
        "write it in its xn-- form");
  }

  @Test
  void what_is_allowed_can_be_made() throws Exception {
    restart("egress.allow=127.0.0.0/8,10.0.0.0/8", "egress.deny=10.1.0.0/16", "egress.ports=9000");
    for (String url :
        List.of("http://127.0.0.1:9000/", "http://loop.test:9000/", "http://localhost:9000/")) {
      assertThat(post(SUBSCRIPTIONS, subscription(url)).status()).as(url).isEqualTo(201);
    }
    assertRefused(
        post(SUBSCRIPTIONS, subscription("http://10.1.2.3:9000/")),
        "url",
        "is denied by egress.deny");
    assertRefused(
        post(SUBSCRIPTIONS, subscription("http://private.test:9000/")),
        "url",
        "The host private.test leads only to");
    assertRefused(
        post(SUBSCRIPTIONS, subscription("http://127.0.0.1/")), "url", "allowed are 9000.");
  }

  @Test
  void a_proxy_that_is_given_names_decides_about_them() throws Exception {
    restart("egress.allow=", "egress.proxy=http://127.0.0.1:9", "egress.proxy-names=true");
    assertThat(post(SUBSCRIPTIONS, subscription("http://loop.test/")).status()).isEqualTo(201);
    assertThat(names.asked).isEmpty();
    assertRefused(
        post(SUBSCRIPTIONS, subscription("http://127.0.0.1/")), "url", "is a loopback address");
  }

  @Test
  void a_name_server_that_does_not_answer_holds_up_nobody_else() throws Exception {
    CompletableFuture<HttpResponse<byte[]>> waiting =
        client.sendAsync(
            request("POST", SUBSCRIPTIONS, subscription("http://never.silent/")),
            BodyHandlers.ofByteArray());
    assertThat(post(SUBSCRIPTIONS, subscription("http://public.test/")).status()).isEqualTo(201);
    assertThat(waiting).isNotDone();
    assertThat(waiting.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(201);
  }

  @Test
  void an_import_asks_about_a_few_names_at_once_and_not_for_long() throws Exception {
    String many =
        IntStream.range(0, 5_000)
            .mapToObj(i -> subscription("http://h" + i % 4_000 + ".silent/" + i))
            .collect(Collectors.joining(",", "{\"subscriptions\":[", "]}"));
    long start = System.nanoTime();
    assertThat(post(SUBSCRIPTIONS + "/import", many).status()).isEqualTo(200);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofSeconds(3), Duration.ofSeconds(30));
    assertThat(names.asked).hasSizeBetween(1, 64);
  }

  @Test
  void an_import_names_the_first_subscription_to_a_forbidden_host() throws Exception {
    String many =
        IntStream.range(0, 500)
            .mapToObj(i -> subscription("http://private.test/" + i))
            .collect(Collectors.joining(",", "{\"subscriptions\":[", "]}"));
    assertRefused(
        post(SUBSCRIPTIONS + "/import", many), "subscriptions[0].url", "The host private.test");
  }

  @Test
  void an_endpoint_that_is_no_longer_allowed_sees_nothing() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      restart("egress.allow=127.0.0.0/8");
      List<String> urls =
          List.of(
              "http://127.0.0.1:%d/".formatted(listener.getLocalPort()),
              "http://localhost:%d/".formatted(listener.getLocalPort()),
              "http://loop.test:%d/".formatted(listener.getLocalPort()));
      for (String url : urls) {
        assertThat(post(SUBSCRIPTIONS, subscription(url)).status()).isEqualTo(201);
      }
      restart("egress.allow=");
      assertThat(post("/v1/events", "{\"type\":\"order.paid\",\"data\":1}").status())
          .isEqualTo(202);
      JsonNode waiting = send("GET", "/v1/messages?status=waiting", "").json().get("items");
      while (waiting.size() < urls.size()) {
        Thread.onSpinWait();
        waiting = send("GET", "/v1/messages?status=waiting", "").json().get("items");
      }
      for (JsonNode message : waiting) {
        JsonNode attempts =
            send("GET", "/v1/messages/" + message.get("id").asString(), "").json().get("attempts");
        assertThat(attempts)
            .extracting(one -> one.get("error").asString())
            .containsExactly("forbidden");
      }
      listener.setSoTimeout(1);
      assertThat(catchThrowable(listener::accept)).isInstanceOf(SocketTimeoutException.class);
    }
  }

  private static String subscription(String url) {
    return "{\"url\":\"" + url + "\",\"types\":[\"order.*\"]}";
  }

  private static String workfront(String url) {
    return "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"authToken\":\"t\",\"url\":\""
        + url
        + "\"}";
  }

  private Reply post(String path, String body) throws Exception {
    return send("POST", path, body);
  }

  private Reply send(String method, String path, String body) throws Exception {
    HttpResponse<byte[]> response =
        client.send(request(method, path, body), BodyHandlers.ofByteArray());
    Documented.check(method, path, body.getBytes(StandardCharsets.UTF_8), response);
    return new Reply(response.statusCode(), MAPPER.readTree(response.body()));
  }

  private HttpRequest request(String method, String path, String body) {
    return HttpRequest.newBuilder(URI.create(server.url() + path))
        .timeout(Duration.ofSeconds(60))
        .header("Authorization", "Bearer " + RunningServer.KEY)
        .header("sessionID", RunningServer.KEY)
        .header("Content-Type", "application/json")
        .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
        .build();
  }
}
