package dev.holdfast.server.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.options.AriaRole;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every page, in a real browser and with a real server, and what tenants may not do to them. */
@Timeout(180)
@TestInstance(Lifecycle.PER_CLASS)
@DisabledIfSystemProperty(named = Browser.SKIP, matches = "|true")
class DashboardTest {
  private static final String SCRIPT = "<script>window.hacked=1</script>";
  private static final String IMAGE = "\"'><img src=/x onerror=window.hacked=1>";

  private final Dashboard dashboard;
  private final String fine;
  private final String evil;
  private final String subscription;
  private final String event;
  private final String message;
  private final String replay;

  /** A page, its heading, and texts that it gets from the server. */
  private record Shown(String path, String heading, List<String> texts) {
    Shown(String path, String heading, String... texts) {
      this(path, heading, List.of(texts));
    }
  }

  DashboardTest(@TempDir Path data) throws Exception {
    dashboard = new Dashboard(data, "retry.unit=1h");
    String evilPath = "/%3Cimg%20src=/x%20onerror=window.hacked=1%3E";
    dashboard.receiver.fail(evilPath, SCRIPT + IMAGE);
    Item taking = dashboard.subscribe("/orders", "order.*");
    Item failing = dashboard.subscribe(evilPath, "order.*", SCRIPT);
    Item off = dashboard.subscribe("/off", "nothing.*");
    dashboard.api.post("/v1/endpoints/" + off.text("endpoint") + "/disable", "{}");
    dashboard.key("viewer", Dashboard.TENANT, "somebody " + IMAGE);
    event = dashboard.send("order." + SCRIPT, IMAGE, "{\"note\":\"" + SCRIPT + "\"}");
    fine = taking.text("endpoint");
    evil = failing.text("endpoint");
    subscription = failing.text("id");
    message = dashboard.message(event, evil).text("id");
    replay =
        dashboard
            .api
            .post("/v1/replays", "{\"endpoint\":\"" + fine + "\",\"status\":[\"delivered\"]}")
            .text("id");
  }

  @AfterAll
  void end() {
    dashboard.close();
  }

  private List<Shown> pages() {
    String host = dashboard.receiver.url("").replace("http://", "");
    return List.of(
        new Shown("/", "Overview", "for 1 endpoint that somebody switched off", host + "/off"),
        new Shown("/endpoints", "Endpoints", host + "/orders", "3 endpoints"),
        new Shown("/endpoints/" + fine, host + "/orders enabled", "order." + SCRIPT, "Newest 500"),
        new Shown("/endpoints/" + evil, host + "/%3Cimg", "1 in a row", IMAGE),
        new Shown("/messages", "Messages", "order." + SCRIPT, IMAGE, "delivered", "waiting"),
        new Shown("/messages/" + message, "order." + SCRIPT, SCRIPT + IMAGE, "Answered 500"),
        new Shown("/events", "Events", "order." + SCRIPT, IMAGE, "1 event"),
        new Shown("/events/" + event, "order." + SCRIPT, "\"note\": \"" + SCRIPT, "its message"),
        new Shown("/subscriptions", "Subscriptions", SCRIPT, host + "/orders", "3 subscriptions"),
        new Shown("/subscriptions/new", "New subscription", "Which events"),
        new Shown("/subscriptions/" + subscription, host + "/%3Cimg", SCRIPT, "used until the"),
        new Shown("/subscriptions/" + subscription + "/edit", "Edit subscription", "Which events"),
        new Shown("/replays", "Replays", replay, "1 replay"),
        new Shown("/replays/" + replay, "Replay of messages", "/orders", "In all"),
        new Shown("/keys", "Keys", "somebody " + IMAGE, "viewer"),
        new Shown("/audit", "Audit", "subscription.created", "key.created"),
        new Shown("/settings", "Settings", "retry.unit", "1h"),
        new Shown("/cluster", "Cluster", "This server runs alone"));
  }

  @ParameterizedTest
  @EnumSource
  void every_page_shows_what_there_is_and_everybody_can_use_it(Browser.Look look) {
    try (Browser.Window window = dashboard.signIn(look, RunningServer.KEY)) {
      choose(window, Dashboard.TENANT);
      for (Shown shown : pages()) {
        Page page = window.page();
        page.navigate(shown.path());
        assertThat(window.heading()).containsText(shown.heading());
        for (String text : shown.texts()) {
          assertThat(page.locator("main")).containsText(text);
        }
        assertThat(page.getByText("Live", new Page.GetByTextOptions().setExact(true)).first())
            .isVisible();
        assertThat(page.evaluate("window.hacked")).as(shown.path()).isNull();
        window.checkFits();
        window.checkAccessible();
        window.check();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void everybody_can_use_the_page_to_sign_in(Browser.Look look) {
    try (Browser.Window window = dashboard.browser.open(dashboard.url(), look)) {
      window.page().navigate("/sign-in");
      assertThat(window.heading()).hasText("Sign in to Holdfast");
      window.checkFits();
      window.checkAccessible();
      window.check();
    }
  }

  private static void choose(Browser.Window window, String tenant) {
    window.page().evaluate("name => localStorage.setItem('holdfast.tenant', name)", tenant);
  }

  @Test
  void pages_may_run_only_scripts_of_the_server() {
    try (Browser.Window window = dashboard.browser.open(dashboard.url(), Browser.Look.LIGHT)) {
      Response answer = Objects.requireNonNull(window.page().navigate("/events"));
      assertThat(Objects.requireNonNull(answer.headerValue("content-security-policy")))
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
          .doesNotContain("unsafe");
      assertThat(answer.headerValue("x-content-type-options")).isEqualTo("nosniff");
      window.page().evaluate("document.body.insertAdjacentHTML('beforeend', '<b id=injected>')");
      window
          .page()
          .evaluate(
              "{ const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s); }");
      assertThat(window.page().evaluate("window.hacked")).isNull();
      window.expect("Content Security Policy");
    }
  }

  @Test
  void whoever_has_nothing_yet_is_told_what_to_do() throws Exception {
    String key = dashboard.key("admin", "fresh", "first").text("key");
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, key)) {
      Page page = window.page();
      assertThat(page.getByText("Nobody has subscribed yet.")).isVisible();
      for (Shown shown :
          List.of(
              new Shown("/endpoints", "Endpoints", "There are no endpoints yet."),
              new Shown("/messages", "Messages", "No messages yet", "send a test event"),
              new Shown("/events", "Events", "No events yet", "Send a test event"),
              new Shown("/subscriptions", "Subscriptions", "No subscriptions yet"),
              new Shown("/replays", "Replays", "No replays yet"))) {
        window.link(shown.heading()).click();
        assertThat(window.heading()).hasText(shown.heading());
        for (String text : shown.texts()) {
          assertThat(page.locator("main")).containsText(text);
        }
      }
      page.navigate("/messages/msg_0000000000000");
      assertThat(window.heading()).hasText("No such message");
      page.navigate("/endpoints/ep_0000000000000");
      assertThat(page.getByText("There is no such endpoint.")).isVisible();
      window.expect("404");
      window.check();
    }
  }

  @Test
  void a_keyboard_is_enough() {
    try (Browser.Window window = dashboard.signIn(Browser.Look.LIGHT, RunningServer.KEY)) {
      Page page = window.page();
      choose(window, Dashboard.TENANT);
      page.navigate("/endpoints/" + fine);
      assertThat(window.button("Freeze")).isVisible();
      page.keyboard().press("Tab");
      assertThat(window.link("Skip to the content")).isFocused();
      for (String next : List.of("Holdfast", "Overview", "Endpoints", "Messages")) {
        page.keyboard().press("Tab");
        if (next.equals("Overview")) {
          assertThat(page.getByLabel("Tenant")).isFocused();
          page.keyboard().press("Tab");
        }
        assertThat(window.link(next).first()).isFocused();
      }
      window.link("Skip to the content").focus();
      page.keyboard().press("Enter");
      assertThat(page.locator("main")).isFocused();
      window.button("Freeze").focus();
      page.keyboard().press("Enter");
      assertThat(window.dialog()).containsText("Freeze this endpoint?");
      for (int press = 0; press < 6; press++) {
        page.keyboard().press("Tab");
        Object outside =
            page.evaluate(
                "document.activeElement !== document.body && document.activeElement.closest('dialog') === null");
        assertThat(outside).as("focus behind the dialog").isEqualTo(false);
      }
      page.keyboard().press("Escape");
      assertThat(window.dialog()).hasCount(0);
      assertThat(window.button("Freeze")).isFocused();
      assertThat(page.getByRole(AriaRole.HEADING).first()).containsText("enabled");
      window.check();
    }
  }
}
