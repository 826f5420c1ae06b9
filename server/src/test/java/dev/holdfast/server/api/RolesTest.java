package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every call with a key of every role. What each role may do stands here a second time. */
class RolesTest {
  private static final Set<Role> ADMIN = EnumSet.of(Role.ADMIN);
  private static final Set<Role> MANAGE = EnumSet.of(Role.ADMIN, Role.OPERATOR);
  private static final Set<Role> LOOK = EnumSet.of(Role.ADMIN, Role.OPERATOR, Role.VIEWER);
  private static final Set<Role> SEND = EnumSet.of(Role.ADMIN, Role.PUBLISHER);
  private static final Set<Role> ALL = EnumSet.allOf(Role.class);

  private static final String WORKFRONT = "/attask/eventsubscription/api/v1";

  private static final Map<String, Set<Role>> MAY =
      Map.ofEntries(
          Map.entry("POST /v1/events", SEND),
          Map.entry("POST /v1/events/batch", SEND),
          Map.entry("GET /v1/events", LOOK),
          Map.entry("GET /v1/events/{id}", LOOK),
          Map.entry("GET /v1/events/{id}/matches", LOOK),
          Map.entry("POST /v1/subscriptions", MANAGE),
          Map.entry("GET /v1/subscriptions", LOOK),
          Map.entry("GET /v1/subscriptions/{id}", LOOK),
          Map.entry("PATCH /v1/subscriptions/{id}", MANAGE),
          Map.entry("DELETE /v1/subscriptions/{id}", MANAGE),
          Map.entry("POST /v1/subscriptions/{id}/pause", MANAGE),
          Map.entry("POST /v1/subscriptions/{id}/resume", MANAGE),
          Map.entry("POST /v1/subscriptions/{id}/rotate", MANAGE),
          Map.entry("POST /v1/subscriptions/preview", LOOK),
          Map.entry("POST /v1/subscriptions/import", MANAGE),
          Map.entry("GET /v1/endpoints", LOOK),
          Map.entry("GET /v1/endpoints/{id}", LOOK),
          Map.entry("GET /v1/endpoints/recent", LOOK),
          Map.entry("GET /v1/endpoints/{id}/attempts", LOOK),
          Map.entry("GET /v1/endpoints/{id}/changes", LOOK),
          Map.entry("PATCH /v1/endpoints/{id}", MANAGE),
          Map.entry("POST /v1/endpoints/{id}/enable", MANAGE),
          Map.entry("POST /v1/endpoints/{id}/disable", MANAGE),
          Map.entry("POST /v1/endpoints/{id}/freeze", MANAGE),
          Map.entry("POST /v1/endpoints/{id}/test", MANAGE),
          Map.entry("GET /v1/messages", LOOK),
          Map.entry("GET /v1/messages/{id}", LOOK),
          Map.entry("GET /v1/messages/{id}/request", LOOK),
          Map.entry("POST /v1/messages/{id}/retry", MANAGE),
          Map.entry("POST /v1/replays", MANAGE),
          Map.entry("GET /v1/replays", LOOK),
          Map.entry("GET /v1/replays/{id}", LOOK),
          Map.entry("POST /v1/replays/{id}/cancel", MANAGE),
          Map.entry("POST /v1/keys", ADMIN),
          Map.entry("GET /v1/keys", ADMIN),
          Map.entry("DELETE /v1/keys/{id}", ADMIN),
          Map.entry("POST /v1/session", ALL),
          Map.entry("GET /v1/session", LOOK),
          Map.entry("DELETE /v1/session", LOOK),
          Map.entry("GET /v1/settings", LOOK),
          Map.entry("GET /v1/audit", ADMIN),
          Map.entry("GET /v1/master-key", ADMIN),
          Map.entry("POST /v1/master-key/rotate", ADMIN),
          Map.entry("POST " + WORKFRONT + "/subscriptions", ADMIN),
          Map.entry("GET " + WORKFRONT + "/subscriptions", ADMIN),
          Map.entry("GET " + WORKFRONT + "/subscriptions/list", ADMIN),
          Map.entry("GET " + WORKFRONT + "/subscriptions/{id}", ADMIN),
          Map.entry("DELETE " + WORKFRONT + "/subscriptions/{id}", ADMIN),
          Map.entry("PUT " + WORKFRONT + "/subscriptions/{id}/version", ADMIN),
          Map.entry("PUT " + WORKFRONT + "/subscriptions/version", ADMIN),
          Map.entry("POST " + WORKFRONT + "/events", SEND),
          Map.entry("GET /v1/activity", LOOK),
          Map.entry("GET /v1/live", LOOK),
          Map.entry("GET /v1/changes", LOOK),
          Map.entry("GET /v1/cluster", LOOK),
          Map.entry("GET /metrics", LOOK),
          Map.entry("GET /health/live", ALL),
          Map.entry("GET /health/ready", ALL),
          Map.entry("GET /openapi.yaml", ALL));

  /** These answer also without a key. */
  private static final Set<String> OPEN =
      Set.of("GET /health/live", "GET /health/ready", "GET /openapi.yaml", "POST /v1/session");

  /** These are about all tenants together. */
  private static final Set<String> WIDE =
      Set.of(
          "GET /metrics",
          "GET /v1/cluster",
          "GET /v1/settings",
          "GET /v1/master-key",
          "POST /v1/master-key/rotate");

  private final RealEngine engine;
  private final TestServer server;

  RolesTest(@TempDir Path data) throws Exception {
    engine = new RealEngine(data);
    FakeKeys keys = new FakeKeys();
    for (Role role : Role.values()) {
      keys.give("wide-" + role, null, role);
      keys.give("narrow-" + role, "acme", role);
    }
    server = TestServer.start(Engine.of(engine.holdfast), keys);
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  private static String name(Route route) {
    return route.method() + " " + route.path();
  }

  private static String path(Route route) {
    // The answer of a stream has no end; one that is refused after the key was looked at has.
    return route.path().equals(LiveApi.PATH)
        ? LiveApi.PATH + "?unknown=1"
        : route.path().replace("{id}", "x");
  }

  private Reply call(Route route, String key) throws Exception {
    byte[] body =
        route.body() == Route.Body.JSON ? "{}".getBytes(StandardCharsets.UTF_8) : new byte[0];
    String path = path(route);
    boolean isSession = route.credential() == Route.Credential.SESSION_ID;
    if (key.isEmpty()) {
      return server.sendKeyless(route.method().name(), path, body);
    }
    return server.sendKeyless(
        route.method().name(),
        path,
        body,
        isSession ? "sessionID" : "Authorization",
        isSession ? key : "Bearer " + key);
  }

  @Test
  void every_call_takes_the_roles_that_may_make_it_and_no_others() throws Exception {
    Map<String, Set<Role>> found = new TreeMap<>();
    for (Route route : server.api.routes()) {
      Set<Role> allowed = EnumSet.noneOf(Role.class);
      for (Role role : Role.values()) {
        Reply wide = call(route, "wide-" + role);
        Reply narrow = call(route, "narrow-" + role);
        assertThat(wide.status()).as(name(route)).isNotEqualTo(401);
        assertThat(narrow.status() == 403)
            .as("%s with a key of one tenant", name(route))
            .isEqualTo(wide.status() == 403 || WIDE.contains(name(route)));
        if (wide.status() != 403) {
          allowed.add(role);
        } else {
          assertThat(wide.text()).contains("urn:holdfast:problem:not-allowed");
        }
      }
      found.put(name(route), allowed);
    }
    assertThat(found).isEqualTo(new TreeMap<>(MAY));
  }

  @Test
  void no_call_but_the_open_ones_is_answered_without_a_key() throws Exception {
    for (Route route : server.api.routes()) {
      for (String key : new String[] {"", "wide", "wide-ADMIN-"}) {
        int status = call(route, key).status();
        if (OPEN.contains(name(route))) {
          assertThat(status).as(name(route)).isNotEqualTo(401);
        } else {
          assertThat(status).as(name(route)).isIn(401, key.isEmpty() ? 401 : 429);
        }
      }
    }
  }

  @Test
  void a_publisher_sends_events_and_nothing_else() {
    assertThat(
            MAY.entrySet().stream()
                .filter(entry -> entry.getValue().contains(Role.PUBLISHER))
                .map(Map.Entry::getKey)
                .filter(call -> !OPEN.contains(call)))
        .containsExactlyInAnyOrder(
            "POST /v1/events", "POST /v1/events/batch", "POST " + WORKFRONT + "/events");
  }

  @Test
  void a_call_by_another_method_takes_the_same_keys() throws Exception {
    for (Route route : server.api.routes()) {
      if (route.method().equals(HttpMethod.GET) && !OPEN.contains(name(route))) {
        String path = path(route);
        assertThat(server.sendKeyless("HEAD", path, new byte[0]).status()).as(path).isEqualTo(401);
      }
    }
  }
}
