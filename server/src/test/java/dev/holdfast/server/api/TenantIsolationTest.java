package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Id;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.TestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Every call with the key of one tenant and what belongs to another.
 *
 * <p>Two tenants have some of everything. Whatever the rival asks for that is acme's is answered
 * word for word as for what never was, and nothing of acme's is ever shown or changed.
 */
class TenantIsolationTest {
  private static final String WORKFRONT = "/attask/eventsubscription/api/v1";

  /** How a call that takes something of acme's is to be answered. */
  private enum Expected {
    /** With a 404. */
    NOT_FOUND,
    /** As if it were about something that never was, whatever that is. */
    SAME,
    /** With a success in which nothing is acme's. */
    OWN,
    /** Not at all. */
    FORBIDDEN
  }

  /**
   * A call.
   *
   * @param path with names of {@link Things} in braces
   * @param body likewise
   */
  private record Probe(Expected expected, String path, String body) {}

  /** Every call, with all places where an id, a URL or a cursor of another tenant fits. */
  private static final Map<String, List<Probe>> PROBES = probes();

  private static Map<String, List<Probe>> probes() {
    Map<String, List<Probe>> all = new LinkedHashMap<>();
    String held = "{\"types\":[\"held\"],\"url\":\"{url}\"}";
    put(
        all,
        "POST /v1/events",
        same("/v1/events", "{\"type\":\"x\",\"id\":\"{callerEvent}\",\"data\":{\"new\":1}}"),
        own("/v1/events", "{\"type\":\"order.paid\",\"id\":\"shared\",\"data\":{\"new\":2}}"));
    put(
        all,
        "POST /v1/events/batch",
        same(
            "/v1/events/batch",
            "{\"events\":[{\"type\":\"x\",\"id\":\"{callerEvent}-b\",\"data\":1},"
                + "{\"type\":\"x\",\"id\":\"{callerEvent}-c\",\"data\":1}]}"));
    put(
        all,
        "GET /v1/events/{id}",
        notFound("/v1/events/{event}"),
        notFound("/v1/events/{ownEvent}"),
        notFound("/v1/events/{heldEvent}"));
    put(
        all,
        "GET /v1/events",
        own("/v1/events"),
        own("/v1/events?limit=1"),
        own("/v1/events?type=order.*"),
        own("/v1/events?cursor={eventsCursor}"));
    put(
        all,
        "GET /v1/events/{id}/matches",
        notFound("/v1/events/{event}/matches"),
        notFound("/v1/events/{heldEvent}/matches"));
    put(
        all,
        "GET /v1/endpoints/recent",
        same("/v1/endpoints/recent?ids={endpoint}"),
        same("/v1/endpoints/recent?ids={endpoint},{heldEndpoint}"));
    put(
        all,
        "GET /v1/endpoints/{id}/attempts",
        notFound("/v1/endpoints/{endpoint}/attempts"),
        notFound("/v1/endpoints/{endpoint}/attempts?limit=1"));
    put(
        all,
        "GET /v1/messages/{id}/request",
        notFound("/v1/messages/{message}/request"),
        notFound("/v1/messages/{heldMessage}/request"));
    put(all, "POST /v1/subscriptions", own("/v1/subscriptions", held));
    put(
        all,
        "GET /v1/subscriptions",
        own("/v1/subscriptions"),
        own("/v1/subscriptions?limit=1"),
        own("/v1/subscriptions?endpoint={endpoint}"),
        own("/v1/subscriptions?cursor={subscriptionsCursor}"));
    put(all, "GET /v1/subscriptions/{id}", notFound("/v1/subscriptions/{subscription}"));
    put(
        all,
        "PATCH /v1/subscriptions/{id}",
        notFound("/v1/subscriptions/{subscription}", "{\"types\":[\"y\"]}"),
        notFound("/v1/subscriptions/{subscription}", "{}"),
        notFound("/v1/subscriptions/{subscription}", "{\"url\":\"{url}\"}"),
        same("/v1/subscriptions/{subscription}", "{\"types\":[]}"));
    put(all, "DELETE /v1/subscriptions/{id}", notFound("/v1/subscriptions/{subscription}"));
    for (String verb : List.of("pause", "resume", "rotate")) {
      put(
          all,
          "POST /v1/subscriptions/{id}/" + verb,
          notFound("/v1/subscriptions/{subscription}/" + verb));
    }
    put(
        all,
        "POST /v1/subscriptions/preview",
        notFound("/v1/subscriptions/preview", "{\"subscription\":\"{subscription}\"}"),
        notFound(
            "/v1/subscriptions/preview",
            "{\"subscription\":\"{subscription}\",\"event\":{\"type\":\"held\",\"data\":1}}"),
        own("/v1/subscriptions/preview", "{\"subscription\":{\"types\":[\"*\"]}}"));
    put(
        all,
        "POST /v1/subscriptions/import",
        own("/v1/subscriptions/import", "{\"dryRun\":true,\"subscriptions\":[" + held + "]}"),
        own("/v1/subscriptions/import", "{\"subscriptions\":[" + held + "]}"));
    put(
        all,
        "GET /v1/endpoints",
        own("/v1/endpoints"),
        own("/v1/endpoints?state=frozen"),
        own("/v1/endpoints?sort=url"),
        own("/v1/endpoints?sort=waiting&q=hooks"),
        own("/v1/endpoints?cursor={endpointsCursor}"));
    put(all, "GET /v1/endpoints/{id}", notFound("/v1/endpoints/{endpoint}"));
    put(
        all,
        "GET /v1/endpoints/{id}/changes",
        notFound("/v1/endpoints/{endpoint}/changes"),
        notFound("/v1/endpoints/{heldEndpoint}/changes"));
    put(
        all,
        "PATCH /v1/endpoints/{id}",
        notFound("/v1/endpoints/{endpoint}", "{\"rateLimit\":1}"),
        notFound("/v1/endpoints/{endpoint}", "{\"rateLimit\":null}"),
        notFound("/v1/endpoints/{endpoint}", "{}"));
    for (String verb : List.of("enable", "disable", "freeze", "test")) {
      put(
          all,
          "POST /v1/endpoints/{id}/" + verb,
          notFound("/v1/endpoints/{endpoint}/" + verb),
          notFound("/v1/endpoints/{heldEndpoint}/" + verb));
    }
    put(
        all,
        "GET /v1/messages",
        own("/v1/messages"),
        own("/v1/messages?status=parked"),
        own("/v1/messages?status=delivered"),
        own("/v1/messages?cursor={messagesCursor}"),
        same("/v1/messages?endpoint={endpoint}"),
        same("/v1/messages?endpoint={heldEndpoint}"),
        same("/v1/messages?endpoint={heldEndpoint}&status=parked"),
        same("/v1/messages?subscription={subscription}"),
        same("/v1/messages?subscription={workfront}"),
        same("/v1/messages?event={event}"),
        same("/v1/messages?event={ownEvent}"),
        same("/v1/messages?event={heldEvent}"));
    put(
        all,
        "GET /v1/messages/{id}",
        notFound("/v1/messages/{message}"),
        notFound("/v1/messages/{heldMessage}"));
    put(
        all,
        "POST /v1/messages/{id}/retry",
        notFound("/v1/messages/{message}/retry"),
        notFound("/v1/messages/{heldMessage}/retry"));
    put(
        all,
        "POST /v1/replays",
        notFound("/v1/replays", "{\"endpoint\":\"{endpoint}\",\"status\":[\"delivered\"]}"),
        notFound("/v1/replays", "{\"subscription\":\"{subscription}\",\"status\":[\"delivered\"]}"),
        notFound(
            "/v1/replays",
            "{\"subscription\":\"{ownSubscription}\",\"endpoint\":\"{endpoint}\",\"status\":[\"delivered\"]}"));
    put(all, "GET /v1/replays", own("/v1/replays"), own("/v1/replays?cursor={replaysCursor}"));
    put(all, "GET /v1/replays/{id}", notFound("/v1/replays/{replay}"));
    put(all, "POST /v1/replays/{id}/cancel", notFound("/v1/replays/{replay}/cancel"));
    put(
        all,
        "POST /v1/keys",
        own("/v1/keys", "{\"role\":\"viewer\"}"),
        same("/v1/keys", "{\"role\":\"viewer\",\"tenant\":\"{tenant}\"}"));
    put(all, "GET /v1/keys", own("/v1/keys"), own("/v1/keys?cursor={keysCursor}"));
    put(all, "DELETE /v1/keys/{id}", notFound("/v1/keys/{key}"));
    String workfront = WORKFRONT + "/subscriptions";
    put(
        all,
        "POST " + workfront,
        own(
            workfront,
            "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"url\":\"{url}\",\"authToken\":\"t-12345\"}"));
    put(all, "GET " + workfront, own(workfront), own(workfront + "?page=1&limit=1"));
    put(all, "GET " + workfront + "/list", own(workfront + "/list"));
    put(
        all,
        "GET " + workfront + "/{id}",
        notFound(workfront + "/{workfront}"),
        notFound(workfront + "/{subscription}"));
    put(all, "DELETE " + workfront + "/{id}", notFound(workfront + "/{workfront}"));
    put(
        all,
        "PUT " + workfront + "/{id}/version",
        notFound(workfront + "/{workfront}/version", "{\"version\":\"v1\"}"));
    put(
        all,
        "PUT " + workfront + "/version",
        same(workfront + "/version", "{\"subscriptionIds\":[\"{workfront}\"],\"version\":\"v1\"}"),
        same(
            workfront + "/version",
            "{\"subscriptionIds\":[\"{ownWorkfront}\",\"{workfront}\"],\"version\":\"v1\"}"));
    put(
        all,
        "POST " + WORKFRONT + "/events",
        own(
            WORKFRONT + "/events",
            "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"newState\":{}}"));
    put(
        all,
        "GET /v1/audit",
        own("/v1/audit"),
        own("/v1/audit?limit=1"),
        own("/v1/audit?target={subscription}"),
        own("/v1/audit?actor={key}"),
        own("/v1/audit?cursor={auditCursor}"));
    put(all, "GET /v1/master-key", new Probe(Expected.FORBIDDEN, "/v1/master-key", ""));
    put(
        all,
        "POST /v1/master-key/rotate",
        new Probe(Expected.FORBIDDEN, "/v1/master-key/rotate", ""));
    put(all, "POST /v1/session", same("/v1/session", "{\"key\":\"{key}\"}"));
    put(all, "GET /v1/session", own("/v1/session"));
    put(all, "DELETE /v1/session", notFound("/v1/session"));
    put(all, "GET /v1/settings", new Probe(Expected.FORBIDDEN, "/v1/settings", ""));
    put(all, "GET /v1/activity", own("/v1/activity"), own("/v1/activity?span=day"));
    // Takes nothing of anybody's, and has no end: LiveApiTest listens.
    put(all, "GET /v1/live", same("/v1/live?endpoint={endpoint}"));
    put(
        all,
        "GET /v1/changes",
        own("/v1/changes"),
        own("/v1/changes?limit=1"),
        own("/v1/changes?cursor={changesCursor}"));
    put(all, "GET /v1/cluster", new Probe(Expected.FORBIDDEN, "/v1/cluster", ""));
    put(all, "GET /metrics", new Probe(Expected.FORBIDDEN, "/metrics", ""));
    for (String path : List.of("/health/live", "/health/ready", "/openapi.yaml")) {
      put(all, "GET " + path, own(path));
    }
    return all;
  }

  private static void put(Map<String, List<Probe>> all, String call, Probe... probes) {
    all.put(call, List.of(probes));
  }

  private static Probe notFound(String path) {
    return new Probe(Expected.NOT_FOUND, path, "");
  }

  private static Probe notFound(String path, String body) {
    return new Probe(Expected.NOT_FOUND, path, body);
  }

  private static Probe same(String path) {
    return new Probe(Expected.SAME, path, "");
  }

  private static Probe same(String path, String body) {
    return new Probe(Expected.SAME, path, body);
  }

  private static Probe own(String path) {
    return new Probe(Expected.OWN, path, "");
  }

  private static Probe own(String path, String body) {
    return new Probe(Expected.OWN, path, body);
  }

  /** What somebody has, by the names that probes use. */
  private record Things(Map<String, String> byName) {

    String fill(String text) {
      String filled = text;
      for (Map.Entry<String, String> one : byName.entrySet()) {
        filled = filled.replace("{" + one.getKey() + "}", one.getValue());
      }
      return filled;
    }

    /** The other way round. */
    String blank(String text) {
      String blanked = text;
      for (Map.Entry<String, String> one : byName.entrySet()) {
        blanked = blanked.replace(one.getValue(), "{" + one.getKey() + "}");
      }
      return blanked;
    }

    /** All that nobody else may see; the rest is the rival's too. */
    List<String> secrets() {
      return byName.entrySet().stream()
          .filter(one -> !Set.of("url", "callerEvent").contains(one.getKey()))
          .filter(one -> !one.getKey().startsWith("own") || one.getKey().equals("ownEvent"))
          .map(Map.Entry::getValue)
          .toList();
    }
  }

  private final LocalReceiver receiver;
  private final RealEngine engine;
  private final TestServer server;
  private Things acme = new Things(Map.of());
  private Things never = new Things(Map.of());

  TenantIsolationTest(@TempDir Path data) throws Exception {
    receiver = new LocalReceiver();
    engine = new RealEngine(data);
    FakeKeys keys =
        new FakeKeys()
            .give("acme-key", "acme", Role.ADMIN)
            .give("rival-key", "rival", Role.ADMIN)
            .give("wide-key", null, Role.ADMIN);
    server = TestServer.start(Engine.of(engine.holdfast), keys);
  }

  @BeforeEach
  void furnish() throws Exception {
    Map<String, String> own = furnish("rival");
    Map<String, String> theirs = furnish("acme");
    theirs.put("tenant", "acme");
    theirs.put("ownSubscription", own.get("subscription"));
    theirs.put("ownWorkfront", own.get("workfront"));
    Map<String, String> nobodys = new TreeMap<>();
    theirs.forEach((name, value) -> nobodys.put(name, neverWas(name, value)));
    acme = new Things(theirs);
    never = new Things(nobodys);
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
    receiver.close();
  }

  /** The id of something that would have been made long before everything else. */
  private static String neverWas(String name, String value) {
    if (name.startsWith("own") && !name.equals("ownEvent")) {
      return value;
    }
    return switch (name) {
      case "tenant" -> "nobody";
      case "callerEvent" -> "order-0";
      case "event" -> "never-invoice";
      case "url" -> value + "/never";
      default -> {
        String prefix = value.substring(0, Math.max(0, value.indexOf('_')));
        yield Id.parse(prefix, value).isPresent()
            ? Id.text(prefix, Id.parse(prefix, value).getAsLong() - 1_000_000 * Id.STRIDE)
            : value;
      }
    };
  }

  /** Gives a tenant some of everything, and waits until nothing moves any more. */
  private Map<String, String> furnish(String tenant) throws Exception {
    Map<String, String> things = new TreeMap<>();
    String key = tenant + "-key";
    String url = receiver.url("/hooks/" + tenant.length());
    things.put("url", url);
    JsonNode subscription =
        made(
            ask(
                key,
                "POST",
                "/v1/subscriptions",
                "{\"url\":\"" + url + "\",\"types\":[\"order.*\"]}"));
    things.put("subscription", text(subscription, "id"));
    things.put("endpoint", text(subscription, "endpoint"));
    JsonNode held =
        made(
            ask(
                key,
                "POST",
                "/v1/subscriptions",
                "{\"url\":\"" + url + "/held\",\"types\":[\"held\"]}"));
    things.put("heldEndpoint", text(held, "endpoint"));
    made(ask(key, "POST", "/v1/endpoints/" + text(held, "endpoint") + "/disable", ""));
    made(ask(key, "POST", "/v1/endpoints/" + text(held, "endpoint") + "/freeze", ""));
    things.put(
        "workfront",
        text(
            made(
                ask(
                    key,
                    "POST",
                    WORKFRONT + "/subscriptions",
                    "{\"objCode\":\"PROJ\",\"eventType\":\"UPDATE\",\"url\":\""
                        + url
                        + "/workfront\",\"authToken\":\"t-12345\"}")),
            "id"));
    String caller = "order-" + tenant.length();
    things.put("callerEvent", caller);
    String event = tenant + "-invoice";
    things.put("event", event);
    made(send(key, "{\"type\":\"order.paid\",\"id\":\"" + caller + "\",\"data\":{}}"));
    made(send(key, "{\"type\":\"order.paid\",\"id\":\"" + event + "\",\"data\":{}}"));
    things.put("ownEvent", text(made(send(key, "{\"type\":\"order.sent\",\"data\":{}}")), "id"));
    things.put("heldEvent", text(made(send(key, "{\"type\":\"held\",\"data\":{}}")), "id"));
    List<JsonNode> delivered = eventually(key, "/v1/messages?status=delivered", 3);
    things.put("message", text(delivered.getFirst(), "id"));
    things.put(
        "heldMessage", text(eventually(key, "/v1/messages?status=parked", 1).getFirst(), "id"));
    // The second finds nothing: what the first has made may be delivered by now, or not.
    for (String ending : List.of("delivered", "dropped")) {
      things.put(
          "replay",
          text(
              made(
                  ask(
                      key,
                      "POST",
                      "/v1/replays",
                      "{\"endpoint\":\""
                          + things.get("endpoint")
                          + "\",\"status\":[\""
                          + ending
                          + "\"]}")),
              "id"));
      things.put("key", text(made(ask(key, "POST", "/v1/keys", "{\"role\":\"viewer\"}")), "id"));
    }
    eventually(key, "/v1/messages?status=delivered", 6);
    for (String list :
        List.of(
            "subscriptions",
            "endpoints",
            "messages",
            "events",
            "replays",
            "keys",
            "audit",
            "changes")) {
      things.put(
          list + "Cursor", text(made(ask(key, "GET", "/v1/" + list + "?limit=1", "")), "next"));
    }
    return things;
  }

  private Reply send(String key, String event) throws Exception {
    return ask(key, "POST", "/v1/events", event);
  }

  private List<JsonNode> eventually(String key, String path, int number) throws Exception {
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (true) {
      JsonNode items = made(ask(key, "GET", path, "")).get("items");
      if (items.size() == number) {
        return new ArrayList<>(items.values());
      }
      assertThat(System.nanoTime()).as("%s has %s", path, items).isLessThan(deadline);
      Thread.sleep(10);
    }
  }

  private static String text(JsonNode json, String field) {
    return json.get(field).asString();
  }

  private static JsonNode made(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isBetween(200, 299);
    return reply.json();
  }

  private Reply ask(String key, String method, String path, String body, String... headers)
      throws Exception {
    boolean isSession = path.startsWith(WORKFRONT);
    List<String> all = new ArrayList<>();
    all.add(isSession ? "sessionID" : "Authorization");
    all.add(isSession ? key : "Bearer " + key);
    all.addAll(List.of(headers));
    return server.send(
        method, path, body.getBytes(StandardCharsets.UTF_8), all.toArray(String[]::new));
  }

  /** Everything that is answered but what differs from one request to the next anyway. */
  private static String whole(Reply reply) {
    return reply.status()
        + " "
        + new TreeSet<>(reply.response().headers().map().keySet())
        + " "
        + reply.text();
  }

  @Test
  void every_call_is_probed() {
    assertThat(PROBES.keySet())
        .containsExactlyInAnyOrderElementsOf(
            server.api.routes().stream()
                .map(route -> route.method() + " " + route.path())
                .toList());
  }

  @Test
  void what_is_anothers_is_answered_as_what_never_was() throws Exception {
    Map<String, String> before = everything("acme-key");
    for (Map.Entry<String, List<Probe>> call : PROBES.entrySet()) {
      for (Probe probe : call.getValue()) {
        String method = call.getKey().substring(0, call.getKey().indexOf(' '));
        probe(probe, method, "rival-key");
        if (probe.expected() != Expected.FORBIDDEN) {
          probe(probe, method, "wide-key", "Holdfast-Tenant", "rival");
        }
      }
    }
    assertThat(everything("acme-key")).isEqualTo(before);
  }

  private void probe(Probe probe, String method, String key, String... headers) throws Exception {
    String name = method + " " + probe.path() + " " + probe.body() + " with " + key;
    Reply theirs = ask(key, method, acme.fill(probe.path()), acme.fill(probe.body()), headers);
    switch (probe.expected()) {
      case FORBIDDEN -> assertThat(theirs.status()).as(name).isEqualTo(403);
      case OWN -> {
        // what the rival has made with its own key cannot be made again
        boolean isMade = key.equals("wide-key") && theirs.status() == 409;
        assertThat(isMade ? 200 : theirs.status())
            .as("%s: %s", name, theirs.text())
            .isBetween(200, 299);
        assertThat(theirs.text()).as(name).doesNotContain(acme.secrets());
      }
      case NOT_FOUND, SAME -> {
        if (probe.expected() == Expected.NOT_FOUND) {
          assertThat(theirs.status()).as("%s: %s", name, theirs.text()).isEqualTo(404);
        }
        Reply nobodys =
            ask(key, method, never.fill(probe.path()), never.fill(probe.body()), headers);
        assertThat(acme.blank(whole(theirs))).as(name).isEqualTo(never.blank(whole(nobodys)));
      }
    }
  }

  /** All that a tenant can see of its own. */
  private Map<String, String> everything(String key) throws Exception {
    Map<String, String> all = new TreeMap<>();
    for (String path :
        List.of(
            "/v1/subscriptions",
            "/v1/endpoints",
            "/v1/messages",
            "/v1/replays",
            "/v1/keys",
            "/v1/audit",
            WORKFRONT + "/subscriptions",
            acme.fill("/v1/events/{event}"),
            acme.fill("/v1/messages/{heldMessage}"),
            acme.fill("/v1/endpoints/{endpoint}/changes"),
            acme.fill("/v1/endpoints/{heldEndpoint}/changes"))) {
      Reply reply = ask(key, "GET", path, "");
      assertThat(reply.status()).as(path).isEqualTo(200);
      all.put(path, reply.text());
    }
    return all;
  }

  @Test
  void a_tenant_that_there_is_cannot_be_told_from_one_that_there_is_not() throws Exception {
    for (Map.Entry<String, List<Probe>> call : PROBES.entrySet()) {
      String method = call.getKey().substring(0, call.getKey().indexOf(' '));
      for (Probe probe : call.getValue()) {
        List<String> answers =
            Stream.of("acme", "nobody")
                .map(
                    tenant -> {
                      try {
                        return whole(
                            ask(
                                "rival-key",
                                method,
                                acme.fill(probe.path()),
                                acme.fill(probe.body()),
                                "Holdfast-Tenant",
                                tenant));
                      } catch (Exception e) {
                        throw new IllegalStateException(e);
                      }
                    })
                .toList();
        assertThat(answers.getFirst()).as(call.getKey()).isEqualTo(answers.getLast());
        if (!probe.path().startsWith("/health")
            && !probe.path().startsWith("/openapi")
            && !call.getKey().equals("POST /v1/session")) {
          assertThat(answers.getFirst()).as(call.getKey()).startsWith("403 ");
        }
      }
    }
  }

  @Test
  void ids_that_callers_choose_do_not_collide() throws Exception {
    String event = "{\"type\":\"x\",\"id\":\"" + acme.fill("{callerEvent}") + "\",\"data\":%s}";
    assertThat(send("rival-key", event.formatted("1")).status()).isEqualTo(202);
    assertThat(send("rival-key", event.formatted("1")).status()).isEqualTo(200);
    assertThat(send("rival-key", event.formatted("2")).status()).isEqualTo(409);
    assertThat(send("acme-key", event.formatted("1")).status()).isEqualTo(409);
  }
}
