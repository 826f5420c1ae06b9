package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.store.Session;
import dev.holdfast.engine.store.Sessions;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Signing in and out with a browser, over HTTP and with a real store. */
class SessionApiTest {
  private static final String PATH = "/v1/session";
  private static final Pattern COOKIE =
      Pattern.compile(
          "holdfast_session=([A-Za-z0-9_-]{43}); Path=/; HttpOnly; SameSite=Strict; Max-Age=43200");
  private static final String EVENT = "{\"type\":\"order.paid\",\"data\":{}}";

  private final FakeKeys keys = TestServer.keys();
  private volatile Instant now = Instant.parse("2026-03-01T12:00:00Z");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path data;

  @SuppressWarnings("NullAway.Init")
  private RealEngine engine;

  @SuppressWarnings("NullAway.Init")
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), keys, () -> now);
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  /** A browser that has signed in. */
  private record Browser(String cookie, String csrf) {
    String[] reading() {
      return new String[] {"Cookie", "holdfast_session=" + cookie};
    }

    String[] writing() {
      return new String[] {"Cookie", "holdfast_session=" + cookie, "Holdfast-Csrf", csrf};
    }
  }

  private Reply signIn(String key, String... headers) throws Exception {
    return call("POST", PATH, "{\"key\":\"" + key + "\"}", headers);
  }

  private Reply call(String method, String path, String body, String... headers) throws Exception {
    return server.sendKeyless(method, path, body.getBytes(StandardCharsets.UTF_8), headers);
  }

  private Browser signedIn(String key) throws Exception {
    Reply reply = signIn(key);
    assertThat(reply.status()).as(reply.text()).isEqualTo(201);
    Matcher cookie = COOKIE.matcher(reply.header("set-cookie").orElseThrow());
    assertThat(cookie.matches()).as("%s", reply.header("set-cookie")).isTrue();
    return new Browser(
        Objects.requireNonNull(cookie.group(1)), reply.json().get("csrf").asString());
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(item -> texts.add(item.asString()));
    return texts;
  }

  private void isEnded(Browser browser) throws Exception {
    Reply reply = call("GET", PATH, "", browser.reading());
    assertThat(reply.status()).as(reply.text()).isEqualTo(401);
    assertThat(reply.json().get("detail").asString()).contains("Sign in again");
    assertThat(call("GET", "/v1/endpoints", "", browser.reading()).status()).isEqualTo(401);
  }

  @Test
  void whoever_has_a_key_signs_in_and_sees_what_it_may_do() throws Exception {
    Reply reply = signIn(TestServer.ADMIN_KEY);
    assertThat(reply.status()).isEqualTo(201);
    assertThat(reply.header("set-cookie").orElseThrow()).matches(COOKIE);
    assertThat(reply.header("cache-control")).contains("no-store");
    JsonNode session = reply.json();
    assertThat(session.get("tenant").isNull()).isTrue();
    assertThat(session.get("role").asString()).isEqualTo("admin");
    assertThat(texts(session.get("may")))
        .containsExactlyInAnyOrder("publish", "look", "look-at-server", "manage", "administer");
    assertThat(session.get("expiresAt").asString()).isEqualTo("2026-03-02T00:00:00Z");
    assertThat(session.get("version").asString()).isEqualTo("1.2.3");
    assertThat(session.get("speed").asInt()).isEqualTo(1);
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    JsonNode again = call("GET", PATH, "", browser.reading()).json();
    assertThat(again.get("csrf").asString()).isEqualTo(browser.csrf());
    assertThat(again.get("csrf").asString()).isNotEqualTo(session.get("csrf").asString());
    assertThat(browser.csrf()).isNotEqualTo(browser.cookie());
  }

  @Test
  void the_key_of_a_tenant_may_less() throws Exception {
    JsonNode session = signIn(TestServer.ACME_KEY).json();
    assertThat(session.get("tenant").asString()).isEqualTo("acme");
    assertThat(texts(session.get("may")))
        .containsExactlyInAnyOrder("publish", "look", "manage", "administer");
    assertThat(texts(signIn(TestServer.VIEWER_KEY).json().get("may")))
        .containsExactlyInAnyOrder("look", "look-at-server");
    assertThat(texts(signIn(TestServer.OPERATOR_KEY).json().get("may")))
        .containsExactlyInAnyOrder("look", "look-at-server", "manage");
  }

  @Test
  void a_wrong_key_is_refused_and_counted() throws Exception {
    for (int i = 0; i < ApiLimits.FAILED_KEYS; i++) {
      Reply reply = signIn("hf_wrong_" + i);
      assertThat(reply.status()).as(reply.text()).isEqualTo(401);
      assertThat(reply.header("set-cookie")).isEmpty();
      assertThat(reply.text()).doesNotContain("hf_wrong");
    }
    Reply reply = signIn("hf_wrong");
    assertThat(reply.status()).isEqualTo(429);
    assertThat(reply.header("retry-after")).isPresent();
  }

  @Test
  void an_expired_key_is_refused() throws Exception {
    keys.giveExpired("old-key", Instant.parse("2026-02-01T00:00:00Z"));
    Reply reply = signIn("old-key");
    assertThat(reply.status()).isEqualTo(401);
    assertThat(reply.text()).contains("key-expired");
  }

  @Test
  void a_publisher_is_told_which_key_to_use() throws Exception {
    Reply reply = signIn(TestServer.PUBLISHER_KEY);
    assertThat(reply.status()).isEqualTo(403);
    assertThat(reply.json().get("detail").asString()).contains("admin, operator, viewer");
    assertThat(reply.header("set-cookie")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"key\":1}", "{\"key\":null}", "{\"key\":\"a\",\"b\":1}", "[]"})
  void what_is_no_key_is_a_bad_request(String body) throws Exception {
    assertThat(call("POST", PATH, body).status()).isEqualTo(400);
  }

  @Test
  void a_form_of_another_site_signs_nobody_in() throws Exception {
    for (String type :
        List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")) {
      Reply reply = signIn(TestServer.ADMIN_KEY, "Content-Type", type);
      assertThat(reply.status()).isEqualTo(415);
      assertThat(reply.header("set-cookie")).isEmpty();
    }
  }

  @Test
  void the_cookie_opens_what_the_key_opens() throws Exception {
    Browser admin = signedIn(TestServer.ADMIN_KEY);
    assertThat(call("GET", "/v1/endpoints", "", admin.reading()).status()).isEqualTo(200);
    assertThat(call("HEAD", "/v1/endpoints", "", admin.reading()).status()).isEqualTo(200);
    assertThat(call("GET", "/metrics", "", admin.reading()).status()).isEqualTo(200);
    assertThat(call("GET", "/v1/settings", "", admin.reading()).status()).isEqualTo(200);
    assertThat(call("POST", "/v1/events", EVENT, admin.writing()).status()).isEqualTo(202);
    Browser viewer = signedIn(TestServer.VIEWER_KEY);
    assertThat(call("GET", "/v1/endpoints", "", viewer.reading()).status()).isEqualTo(200);
    assertThat(call("POST", "/v1/events", EVENT, viewer.writing()).status()).isEqualTo(403);
    assertThat(call("GET", "/v1/keys", "", viewer.reading()).status()).isEqualTo(403);
    Browser acme = signedIn(TestServer.ACME_KEY);
    assertThat(call("GET", "/metrics", "", acme.reading()).status()).isEqualTo(403);
  }

  @Test
  void a_session_names_a_tenant_as_its_key_would() throws Exception {
    Browser wide = signedIn(TestServer.ADMIN_KEY);
    String[] ofRival = {"Cookie", "holdfast_session=" + wide.cookie(), "Holdfast-Tenant", "rival"};
    assertThat(call("GET", "/v1/endpoints", "", ofRival).status()).isEqualTo(200);
    Browser acme = signedIn(TestServer.ACME_KEY);
    ofRival[1] = "holdfast_session=" + acme.cookie();
    assertThat(call("GET", "/v1/endpoints", "", ofRival).status()).isEqualTo(403);
  }

  @ParameterizedTest
  @CsvSource({"POST, /v1/events", "DELETE, /v1/session", "POST, /v1/endpoints/x/enable"})
  void a_change_needs_the_token_that_other_sites_cannot_read(String method, String path)
      throws Exception {
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    Browser other = signedIn(TestServer.ADMIN_KEY);
    String body = path.endsWith("events") ? EVENT : "";
    List<String[]> refused =
        List.of(
            browser.reading(),
            new Browser(browser.cookie(), "").writing(),
            new Browser(browser.cookie(), "x").writing(),
            new Browser(browser.cookie(), browser.cookie()).writing(),
            new Browser(browser.cookie(), other.csrf()).writing(),
            new Browser(browser.cookie(), browser.csrf() + "x").writing());
    for (String[] headers : refused) {
      Reply reply = call(method, path, body, headers);
      assertThat(reply.status()).as(reply.text()).isEqualTo(403);
      assertThat(reply.json().get("type").asString()).endsWith("csrf-token");
      assertThat(reply.json().get("detail").asString()).contains("Holdfast-Csrf");
      assertThat(reply.text()).doesNotContain(browser.csrf());
    }
    assertThat(call(method, path, body, browser.writing()).status()).isNotIn(401, 403);
  }

  @Test
  void a_key_in_the_header_goes_before_the_cookie() throws Exception {
    Browser admin = signedIn(TestServer.ADMIN_KEY);
    String cookie = "holdfast_session=" + admin.cookie();
    String viewer = "Bearer " + TestServer.VIEWER_KEY;
    assertThat(call("GET", "/v1/keys", "", "Cookie", cookie, "Authorization", viewer).status())
        .isEqualTo(403);
    for (String wrong : List.of("Bearer wrong", "Basic YTpi", "")) {
      assertThat(call("GET", "/v1/keys", "", "Cookie", cookie, "Authorization", wrong).status())
          .as(wrong)
          .isEqualTo(401);
    }
    String right = "Bearer " + TestServer.ADMIN_KEY;
    assertThat(call("POST", "/v1/events", EVENT, "Cookie", "x=1", "Authorization", right).status())
        .as("a key needs no token")
        .isEqualTo(202);
  }

  @Test
  void a_key_has_no_session_but_can_be_asked_about() throws Exception {
    JsonNode shown = server.get(PATH).json();
    assertThat(shown.get("role").asString()).isEqualTo("admin");
    assertThat(shown.get("csrf").isNull()).isTrue();
    assertThat(shown.get("expiresAt").isNull()).isTrue();
    assertThat(server.delete(PATH).status()).isEqualTo(404);
  }

  @Test
  void signing_out_ends_the_session_on_the_server() throws Exception {
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    Browser other = signedIn(TestServer.ADMIN_KEY);
    Reply reply = call("DELETE", PATH, "", browser.writing());
    assertThat(reply.status()).isEqualTo(204);
    assertThat(reply.header("set-cookie"))
        .contains("holdfast_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    isEnded(browser);
    assertThat(call("DELETE", PATH, "", browser.writing()).status()).isEqualTo(401);
    assertThat(call("GET", PATH, "", other.reading()).status()).isEqualTo(200);
  }

  @Test
  void a_session_ends_at_its_time() throws Exception {
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    now = now.plus(Duration.ofHours(12)).minusMillis(1);
    assertThat(call("GET", PATH, "", browser.reading()).status()).isEqualTo(200);
    now = now.plusMillis(1);
    isEnded(browser);
    signedIn(TestServer.ADMIN_KEY);
    assertThat(engine.holdfast.sessions().all()).as("what has ended is removed").hasSize(1);
  }

  @Test
  void a_session_ends_with_its_key() throws Exception {
    keys.give("short-lived", null, Role.ADMIN);
    Browser browser = signedIn("short-lived");
    assertThat(call("GET", PATH, "", browser.reading()).status()).isEqualTo(200);
    keys.giveExpired("short-lived", now);
    assertThat(call("GET", PATH, "", browser.reading()).text()).contains("key-expired");
    keys.take("short-lived");
    isEnded(browser);
  }

  @Test
  void a_session_is_there_after_a_restart_and_one_that_was_ended_is_not() throws Exception {
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    Browser ended = signedIn(TestServer.ADMIN_KEY);
    call("DELETE", PATH, "", ended.writing());
    stop();
    start();
    assertThat(call("GET", PATH, "", browser.reading()).json().get("csrf").asString())
        .isEqualTo(browser.csrf());
    isEnded(ended);
  }

  @Test
  void a_session_of_the_key_that_is_set_ends_when_another_is_set() throws Exception {
    keys.fix("first fixed key");
    Browser browser = signedIn("first fixed key");
    assertThat(call("GET", PATH, "", browser.reading()).json().get("key").isNull()).isTrue();
    assertThat(engine.holdfast.sessions().all().getFirst().keyHash()).isNull();
    stop();
    start();
    assertThat(call("GET", PATH, "", browser.reading()).status()).isEqualTo(200);
    keys.fix("second fixed key");
    isEnded(browser);
    keys.fix(null);
    isEnded(browser);
  }

  @Test
  void the_store_has_neither_cookie_nor_token() throws Exception {
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    stop();
    for (Path file : List.of(data.resolve("holdfast.db"), data.resolve("holdfast.db-wal"))) {
      if (Files.exists(file)) {
        String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
        assertThat(bytes).doesNotContain(browser.cookie()).doesNotContain(browser.csrf());
      }
    }
    start();
  }

  @ParameterizedTest
  @ValueSource(strings = {"https", "HTTPS, http"})
  void behind_a_proxy_with_tls_the_cookie_is_only_sent_encrypted(String scheme) throws Exception {
    Reply reply = signIn(TestServer.ADMIN_KEY, "X-Forwarded-Proto", scheme);
    assertThat(reply.header("set-cookie").orElseThrow()).endsWith("; Secure");
    assertThat(signIn(TestServer.ADMIN_KEY).header("set-cookie").orElseThrow())
        .doesNotContain("Secure");
  }

  @Test
  void of_several_cookies_the_one_of_a_session_counts() throws Exception {
    Browser browser = signedIn(TestServer.ADMIN_KEY);
    String own = "holdfast_session=" + browser.cookie();
    String other = "holdfast_session=" + "x".repeat(43);
    for (String cookies :
        List.of(other + "; " + own, own + "; " + other, "holdfast_session=; a=b; " + own)) {
      assertThat(call("GET", PATH, "", "Cookie", cookies).status()).as(cookies).isEqualTo(200);
      String[] writing = {"Cookie", cookies, "Holdfast-Csrf", browser.csrf()};
      assertThat(call("POST", "/v1/events", EVENT, writing).status()).isEqualTo(202);
    }
    String many = (other + "; ").repeat(10) + own;
    assertThat(call("GET", PATH, "", "Cookie", many).status()).isEqualTo(401);
  }

  @Test
  void a_key_that_signs_in_again_and_again_has_to_wait_and_others_need_not() throws Exception {
    for (int i = 0; i < ApiLimits.SIGN_INS; i++) {
      signedIn(TestServer.ADMIN_KEY);
    }
    Reply reply = signIn(TestServer.ADMIN_KEY);
    assertThat(reply.status()).isEqualTo(429);
    assertThat(reply.header("retry-after")).isPresent();
    assertThat(reply.header("set-cookie")).isEmpty();
    signedIn(TestServer.VIEWER_KEY);
  }

  @Test
  void a_key_has_so_many_sessions_and_then_the_oldest_ends() throws Exception {
    Browser oldest = signedIn(TestServer.VIEWER_KEY);
    Browser other = signedIn(TestServer.ADMIN_KEY);
    Sessions stored = engine.holdfast.sessions();
    Session like =
        stored.all().stream()
            .filter(one -> Arrays.equals(one.keyHash(), FakeKeys.sha256(TestServer.VIEWER_KEY)))
            .findFirst()
            .orElseThrow();
    for (int i = 0; i < 3; i++) {
      stored.put(
          Session.of(
              new byte[] {(byte) i},
              Objects.requireNonNull(like.keyHash()),
              now,
              now.plusSeconds(60)),
          3,
          ApiLimits.SESSIONS);
    }
    signedIn(TestServer.OPERATOR_KEY);
    isEnded(oldest);
    assertThat(call("GET", PATH, "", other.reading()).status()).isEqualTo(200);
  }
}
