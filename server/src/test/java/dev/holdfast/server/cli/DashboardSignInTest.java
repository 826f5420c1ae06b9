package dev.holdfast.server.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Who gets in, what they may do there, and what they see when the server changes or goes away. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
@DisabledIfSystemProperty(named = Browser.SKIP, matches = "|true")
class DashboardSignInTest {
  /** What changes something. A viewer has none of them. */
  private static final Set<String> CHANGING =
      Set.of(
          "Send a test",
          "Enable",
          "Disable",
          "Freeze",
          "Replay dropped",
          "Retry now",
          "Replay…",
          "New replay",
          "New subscription",
          "Pause",
          "Resume",
          "Edit",
          "Rotate…",
          "Delete…");

  private static final int DISABLED_AFTER = 6;

  private final Dashboard dashboard;

  DashboardSignInTest(@TempDir Path data) throws Exception {
    dashboard = new Dashboard(data, "retry.unit=1h", "circuit.disable-after=" + DISABLED_AFTER);
  }

  @AfterAll
  void end() {
    dashboard.close();
  }

  @Test
  void a_key_opens_a_session_which_ends_when_one_signs_out() {
    try (Browser.Window window = dashboard.browser.open(dashboard.url(), Browser.Look.LIGHT)) {
      Page page = window.page();
      page.navigate("/settings?q=retry");
      assertThat(page).hasURL(dashboard.url() + "/sign-in?to=%2Fsettings%3Fq%3Dretry");
      window.check();
      window.button("Sign in").click();
      assertThat(page.locator("main")).containsText("Paste a key first.");
      window.field("Key").fill("hf_wrong");
      page.keyboard().press("Enter");
      assertThat(page.locator("main")).containsText("This key opens nothing.");
      window.expect("401");
      window.field("Key").fill(RunningServer.KEY);
      window.button("Sign in").click();
      assertThat(window.heading()).hasText("Settings");
      assertThat(page).hasURL(dashboard.url() + "/settings?q=retry");
      assertThat(page.content()).doesNotContain(RunningServer.KEY);
      String cookies = page.context().cookies().toString();
      page.reload();
      assertThat(window.heading()).hasText("Settings");
      assertThat(page.context().cookies())
          .allMatch(cookie -> cookie.httpOnly && !cookie.value.isEmpty(), cookies);
      window.check();
      String session = page.context().cookies().getFirst().value;
      window.button("Sign out").click();
      assertThat(window.heading()).hasText("Sign in to Holdfast");
      assertThat(page.context().cookies()).isEmpty();
      assertThat(
              page.context()
                  .request()
                  .get(
                      "/v1/session",
                      com.microsoft.playwright.options.RequestOptions.create()
                          .setHeader("Cookie", "holdfast_session=" + session))
                  .status())
          .isEqualTo(401);
      page.navigate("/keys");
      assertThat(window.heading()).hasText("Sign in to Holdfast");
    }
  }

  @Test
  void a_link_with_a_key_signs_in_and_does_not_leave_it_in_the_address() {
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, RunningServer.KEY)) {
      Page page = window.page();
      assertThat(page).hasURL(dashboard.url() + "/");
      assertThat(page.evaluate("location.hash")).isEqualTo("");
      page.goBack();
      assertThat(page.url()).doesNotContain("hf_");
      window.check();
    }
    try (Browser.Window window = dashboard.browser.open(dashboard.url(), Browser.Look.LIGHT)) {
      window.page().navigate("/sign-in#key=hf_of_nobody");
      assertThat(window.page().locator("main")).containsText("This key opens nothing.");
      assertThat(window.page().url()).doesNotContain("hf_of_nobody");
      window.expect("401");
      window.check();
    }
  }

  @Test
  void a_publisher_is_told_to_use_another_key() throws Exception {
    String key = dashboard.key("publisher", Dashboard.TENANT, "sends").text("key");
    try (Browser.Window window = dashboard.browser.open(dashboard.url(), Browser.Look.LIGHT)) {
      window.page().navigate("/sign-in#key=" + key);
      assertThat(window.page().locator("main")).containsText("This key cannot sign in.");
      window.expect("403");
    }
  }

  @Test
  void a_viewer_has_no_button_that_would_be_refused_and_an_operator_has_them_all()
      throws Exception {
    dashboard.receiver.fail("/roles-failing", "no");
    Item taking = dashboard.subscribe("/roles", "role.*");
    Item failing = dashboard.subscribe("/roles-failing", "role.*");
    Item paused = dashboard.subscribe("/roles-paused", "role.*");
    dashboard.api.post("/v1/subscriptions/" + paused.text("id") + "/pause", "{}");
    dashboard.api.post("/v1/endpoints/" + paused.text("endpoint") + "/disable", "{}");
    String event = dashboard.send("role.given", "role-1", "{}");
    List<String> paths =
        List.of(
            "/",
            "/endpoints",
            "/endpoints/" + taking.text("endpoint"),
            "/endpoints/" + paused.text("endpoint"),
            "/messages",
            "/messages/" + dashboard.message(event, taking.text("endpoint")).text("id"),
            "/messages/" + dashboard.message(event, failing.text("endpoint")).text("id"),
            "/events",
            "/events/" + event,
            "/subscriptions",
            "/subscriptions/new",
            "/subscriptions/" + taking.text("id"),
            "/subscriptions/" + paused.text("id"),
            "/subscriptions/" + taking.text("id") + "/edit",
            "/replays",
            "/replays?new=1",
            "/keys?new=1",
            "/audit",
            "/settings",
            "/cluster");
    Set<String> viewers = seen("viewer", paths);
    assertThat(viewers).doesNotContainAnyElementsOf(CHANGING);
    assertThat(viewers)
        .doesNotContain(
            "Subscribe", "Save", "Replay", "Send a test event", "New key", "Make a subscription");
    Set<String> operators = seen("operator", paths);
    assertThat(operators).containsAll(CHANGING).contains("Subscribe", "Save", "Replay");
    assertThat(operators).doesNotContain("Send a test event", "New key", "Make the key");
  }

  /** The names of all buttons and links that somebody with such a key sees on these pages. */
  private Set<String> seen(String role, List<String> paths) throws CommandFailed {
    String key = dashboard.key(role, Dashboard.TENANT, "a " + role).text("key");
    Set<String> names = new HashSet<>();
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, key)) {
      Page page = window.page();
      for (String path : paths) {
        page.navigate(path);
        assertThat(window.heading()).isVisible();
        assertThat(page.locator("main .skeleton")).hasCount(0);
        names.addAll(
            page.locator("main").locator("button, a").allInnerTexts().stream()
                .map(String::strip)
                .collect(Collectors.toSet()));
      }
      window.check();
    }
    return names;
  }

  @Test
  void a_session_that_has_ended_leads_to_the_page_to_sign_in() throws Exception {
    Item key = dashboard.key("viewer", Dashboard.TENANT, "leaves");
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, key.text("key"))) {
      dashboard.api.delete("/v1/keys/" + key.text("id"));
      assertThat(window.heading()).hasText("Sign in to Holdfast");
    }
  }

  @Test
  void an_endpoint_that_fails_is_seen_without_loading_the_page_again() throws Exception {
    String endpoint = dashboard.subscribe("/live", "live.*").text("endpoint");
    try (Browser.Window overview = dashboard.signIn(Browser.Look.LIGHT, adminKey());
        Browser.Window about = dashboard.signIn(Browser.Look.LIGHT, adminKey())) {
      about.page().navigate("/endpoints/" + endpoint);
      assertThat(about.heading()).containsText("enabled");
      dashboard.send("live.one", "live-1", "{}");
      assertThat(about.card("Last messages")).containsText("live.one");
      assertThat(overview.page().locator(".figures")).containsText("ms");
      dashboard.receiver.fail("/live", "ill");
      for (int event = 0; event < DISABLED_AFTER; event++) {
        dashboard.send("live.more", "live-" + event, "{}");
      }
      assertThat(about.heading()).containsText("disabled");
      assertThat(about.card("Changes of state")).containsText("It failed many times in a row.");
      assertThat(about.page().getByText("Next probe")).isVisible();
      assertThat(overview.card("What needs you")).containsText("/live");
      assertThat(overview.card("Changes of state")).containsText("/live");
      assertThat(overview.page().locator(".verdict")).containsText("failing");
      overview.check();
      about.check();
    }
  }

  private String adminKey() throws CommandFailed {
    return dashboard.key("admin", Dashboard.TENANT, "looks").text("key");
  }

  @Test
  void a_server_that_is_away_is_told_and_is_heard_again_when_it_is_back() throws Exception {
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, adminKey())) {
      Locator banner = window.page().getByText("The server is not heard.");
      assertThat(window.page().getByText("Live").first()).isVisible();
      dashboard.restart(() -> assertThat(banner.first()).isVisible());
      assertThat(banner).hasCount(0);
      assertThat(window.page().getByText("Live").first()).isVisible();
      assertThat(window.heading()).hasText("Overview");
      window.forget("ERR_");
      // A server that is ending, or beginning, may answer before it cannot be reached.
      window.forget("503 (Service Unavailable)");
      window.check();
    }
  }

  @Test
  void a_server_that_cannot_answer_now_is_told_and_asked_again() throws Exception {
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, adminKey())) {
      Page page = window.page();
      page.route(
          "**/v1/subscriptions?*",
          route ->
              route.fulfill(
                  new Route.FulfillOptions()
                      .setStatus(503)
                      .setContentType("application/problem+json")
                      .setBody(
                          "{\"title\":\"Too busy\",\"detail\":\"Ask later.\",\"status\":503}")));
      window.link("Subscriptions").click();
      assertThat(page.locator("main")).containsText("Too busy");
      assertThat(page.locator("main")).containsText("Ask later.");
      page.unroute("**/v1/subscriptions?*");
      window.button("Try again").click();
      assertThat(page.locator("main")).not().containsText("Too busy");
      window.expect("503");
      window.check();
    }
  }
}
