package dev.holdfast.server.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import tools.jackson.databind.node.ObjectNode;

/** What tests of the pages need: a server, receivers that it delivers to, and a browser. */
final class Dashboard implements AutoCloseable {
  /** The tenant whose pages are looked at. */
  static final String TENANT = "acme";

  final Browser browser;
  final PathReceiver receiver = new PathReceiver();
  final ApiClient api;
  private final ApiClient everywhere;
  private final boolean isOwner;
  private final Path data;
  private final String[] assignments;
  private RunningServer server;

  Dashboard(Path data, String... assignments) throws Exception {
    this(Browser.start(), true, data, assignments);
  }

  private Dashboard(Browser browser, boolean isOwner, Path data, String... assignments)
      throws Exception {
    this.browser = browser;
    this.isOwner = isOwner;
    this.data = data;
    this.assignments = assignments;
    this.server = new RunningServer(data, assignments);
    ApiClient.Key key = new ApiClient.Key(RunningServer.KEY, "a test");
    this.api = new ApiClient(URI.create(server.url()), key, TENANT, null);
    this.everywhere = new ApiClient(URI.create(server.url()), key, null, null);
  }

  /** Another server with other settings, for the same browser. */
  Dashboard another(Path otherData, String... otherAssignments) throws Exception {
    return new Dashboard(browser, false, otherData, otherAssignments);
  }

  String url() {
    return server.url();
  }

  /** Stops the server and starts it again with what it had, at the same address. */
  void restart(Runnable meanwhile) throws Exception {
    int port = server.port();
    server.close();
    meanwhile.run();
    String[] again = Arrays.copyOf(assignments, assignments.length + 1);
    again[assignments.length] = "server.port=" + port;
    server = new RunningServer(data, again);
  }

  /** Makes a key for a tenant and gives it back as the server does. */
  Item key(String role, String tenant, String name) throws CommandFailed {
    ObjectNode key = Item.create();
    key.put("role", role);
    key.put("tenant", tenant);
    key.put("name", name);
    return everywhere.post("/v1/keys", key.toString());
  }

  /** Opens a window of somebody who has this key, on the first page. */
  Browser.Window signIn(Browser.Look look, String key) {
    Browser.Window window = browser.open(url(), look);
    window.page().navigate("/sign-in#key=" + key);
    assertThat(window.heading()).hasText("Overview");
    return window;
  }

  /** Subscribes a path of the receiver. */
  Item subscribe(String path, String... types) throws CommandFailed {
    ObjectNode subscription = Item.create();
    subscription.put("url", receiver.url(path));
    Arrays.stream(types).forEach(subscription.withArray("types")::add);
    return api.post("/v1/subscriptions", subscription.toString());
  }

  /** Sends an event and gives back its id. */
  String send(String type, String subject, String data) throws CommandFailed {
    ObjectNode event = Item.create();
    event.put("type", type);
    event.put("subject", subject);
    event.set("data", Item.MAPPER.readTree(data));
    return api.post("/v1/events", event.toString()).text("id");
  }

  /** The message that an event made for an endpoint. */
  Item message(String event, String endpoint) throws CommandFailed {
    return api.get("/v1/events/" + event).list("messages").stream()
        .filter(message -> message.text("endpoint").equals(endpoint))
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    if (isOwner) {
      browser.close();
    }
    api.close();
    everywhere.close();
    server.close();
    receiver.close();
  }
}
