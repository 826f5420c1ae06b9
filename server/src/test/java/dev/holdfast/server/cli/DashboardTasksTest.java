package dev.holdfast.server.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What people do with the pages, from its beginning to its end. Each test has receivers of its own.
 */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
@DisabledIfSystemProperty(named = Browser.SKIP, matches = "|true")
class DashboardTasksTest {
  private final Dashboard dashboard;
  private final Browser.Window window;
  private final Page page;

  DashboardTasksTest(@TempDir Path data) throws Exception {
    dashboard = new Dashboard(data, "retry.unit=1h");
    String key = dashboard.key("admin", Dashboard.TENANT, "the one who works here").text("key");
    window = dashboard.signIn(Browser.Look.LIGHT, key);
    page = window.page();
  }

  @AfterEach
  void check() {
    window.check();
  }

  @AfterAll
  void end() {
    dashboard.close();
  }

  @Test
  void a_subscription_is_made_tried_on_the_last_events_changed_paused_and_ended() throws Exception {
    dashboard.send("book.sold", "book-1", "{\"amount\":5}");
    dashboard.send("book.sold", "book-2", "{\"amount\":50}");
    window.link("Subscriptions").click();
    page.locator("main")
        .getByText(Pattern.compile("New subscription|Make the first"))
        .first()
        .click();
    window.button("Subscribe").click();
    assertThat(page.getByText("See the 2 fields marked above.")).isVisible();
    String url = dashboard.receiver.url("/books");
    window.field("URL (needed)").fill(url);
    window.field("Types (needed)").fill("book.*");
    Locator preview = window.card("Preview");
    assertThat(preview.getByText("book-1")).isVisible();
    window.button("Add a filter").click();
    window.field("Field").fill("amount");
    window.field("Comparison").selectOption("gt");
    window.field("Value").fill("10");
    assertThat(preview).containsText("1 of the last");
    assertThat(preview).containsText("filter 1 does not hold");
    window.button("Subscribe").click();
    assertThat(window.dialog().locator("code")).containsText("whsec_");
    String secret = window.dialog().locator("code").innerText();
    window.answer("I have kept it").click();
    assertThat(window.heading()).containsText("/books active");
    assertThat(page.locator("body")).not().containsText(secret);

    window.link("Edit").click();
    assertThat(window.field("URL (needed)")).hasValue(url);
    window.field("Subject").fill("book-2");
    window.button("Save").click();
    assertThat(window.card("What it wants")).containsText("book-2");

    window.button("Pause").click();
    assertThat(window.heading()).containsText("paused");
    window.button("Resume").click();
    assertThat(window.heading()).containsText("active");

    window.button("Rotate…").click();
    window.answer("Rotate").click();
    assertThat(window.dialog().locator("code")).containsText("whsec_");
    assertThat(window.dialog().locator("code")).not().hasText(secret);
    page.keyboard().press("Escape");
    assertThat(window.dialog()).isVisible();
    window.answer("I have kept it").click();
    assertThat(window.card("Secrets")).containsText("Older");

    window.button("Delete…").click();
    window.answer("Delete").click();
    assertThat(window.heading()).hasText("Subscriptions");
    assertThat(page.getByText("The subscription has ended.")).isVisible();
    assertThat(page.locator("main")).not().containsText("/books");
  }

  @Test
  void a_test_event_is_followed_to_the_message_that_came_of_it() throws Exception {
    dashboard.subscribe("/letters", "letter.*");
    window.link("Events").click();
    window.button("Send a test event").first().click();
    window.field("Type (needed)").fill("letter.written");
    Locator form = window.card("Send a test event");
    form.getByLabel("Subject").fill("letter-9");
    form.getByLabel("Data").fill("{\"pages\": 1.0");
    assertThat(window.button("Send")).isDisabled();
    form.getByLabel("Data").fill("{\"pages\": 1.0}");
    window.button("Send").click();
    assertThat(form).containsText("with 1 message");
    form.getByText("evt_").click();
    assertThat(window.heading()).hasText("letter.written");
    assertThat(page.locator("pre").first()).containsText("\"pages\": 1.0");
    window.card("Who wants it").getByText("its message").click();
    assertThat(window.heading()).containsText("letter.written delivered");
    assertThat(page.getByText("Delivered by its first attempt.")).isVisible();
    assertThat(window.card("What is sent")).containsText("webhook-signature");
    assertThat(window.card("What is sent")).containsText("****");
  }

  @Test
  void a_waiting_message_is_tried_again_at_once() throws Exception {
    dashboard.receiver.fail("/parcels", "no room");
    String endpoint = dashboard.subscribe("/parcels", "parcel.*").text("endpoint");
    String event = dashboard.send("parcel.sent", "parcel-1", "{}");
    page.navigate("/messages/" + dashboard.message(event, endpoint).text("id"));
    assertThat(window.heading()).containsText("waiting");
    assertThat(window.card("Attempts")).containsText("no room");
    dashboard.receiver.repair("/parcels");
    window.button("Retry now").click();
    assertThat(window.heading()).containsText("delivered");
    assertThat(window.card("Attempts")).containsText("2 attempts");
  }

  @Test
  void an_endpoint_is_tested_disabled_frozen_and_enabled() throws Exception {
    dashboard.receiver.fail("/doors", "{\"why\": \"locked\"}");
    page.navigate("/endpoints/" + dashboard.subscribe("/doors", "door.*").text("endpoint"));
    window.button("Send a test").click();
    assertThat(window.card("The test")).containsText("Answered 500");
    assertThat(window.card("The test")).containsText("locked");
    dashboard.receiver.repair("/doors");
    window.button("Send a test").click();
    assertThat(window.card("The test")).containsText("It answered 200");
    act("Disable", "Disable", "disabled");
    assertThat(page.getByText("none: disabled by hand")).isVisible();
    act("Freeze", "Freeze", "frozen");
    assertThat(window.button("Freeze")).hasCount(0);
    act("Enable", "Enable", "enabled");
    assertThat(window.card("Changes of state").locator("li")).hasCount(3);
  }

  private void act(String button, String answer, String state) {
    window.button(button).click();
    window.answer(answer).click();
    assertThat(window.heading()).containsText(state);
    assertThat(window.dialog()).hasCount(0);
  }

  @Test
  void dropped_messages_are_replayed_and_the_progress_is_seen(@TempDir Path data) throws Exception {
    try (Dashboard impatient = dashboard.another(data, "retry.unit=1ms", "retry.max=1")) {
      impatient.receiver.fail("/boxes", "broken");
      String endpoint = impatient.subscribe("/boxes", "box.*").text("endpoint");
      String event = impatient.send("box.packed", "box-1", "{}");
      String key = impatient.key("operator", Dashboard.TENANT, "repairs").text("key");
      try (Browser.Window other = impatient.signIn(Browser.Look.LIGHT, key)) {
        other.page().navigate("/messages/" + impatient.message(event, endpoint).text("id"));
        assertThat(other.heading()).containsText("dropped");
        assertThat(other.page().locator("main")).containsText("All 2 scheduled attempts failed.");
        impatient.receiver.repair("/boxes");
        other.page().navigate("/endpoints/" + endpoint);
        other.button("Replay dropped").click();
        other.answer("Replay").click();
        assertThat(other.heading()).containsText("Replay of messages");
        assertThat(other.heading()).containsText("done");
        assertThat(other.card("Progress")).containsText("1 of 1");
        other.check();
      }
    }
  }

  @Test
  void a_delivered_message_is_replayed_and_leads_to_the_new_one() throws Exception {
    String endpoint = dashboard.subscribe("/tins", "tin.*").text("endpoint");
    String event = dashboard.send("tin.packed", "tin-1", "{}");
    String message = dashboard.message(event, endpoint).text("id");
    page.navigate("/messages/" + message);
    assertThat(window.heading()).containsText("delivered");
    window.link("Replay…").click();
    assertThat(window.card("New replay").getByLabel("delivered")).isChecked();
    window.button("Replay").click();
    assertThat(window.heading()).containsText("done");
    assertThat(window.card("Progress")).containsText("1 of 1");
    window.link("Messages made since it began").click();
    assertThat(window.heading()).hasText("Messages");
    assertThat(page.locator("tbody tr")).hasCount(1);
    page.locator("tbody a").first().click();
    assertThat(window.card("About")).containsText(message);
    window.link("Replays").click();
    assertThat(page.locator("tbody tr").first()).containsText("100");
  }

  @Test
  void a_key_is_made_shown_once_and_revoked() {
    window.link("Keys").click();
    window.button("New key").click();
    window.field("What it is for").fill("night shift");
    window.field("Role").selectOption("operator");
    window.button("Make the key").click();
    assertThat(window.dialog().locator("code")).containsText("hf_");
    String key = window.dialog().locator("code").innerText();
    window.answer("I have kept it").click();
    Locator row =
        page.locator("tbody tr").filter(new Locator.FilterOptions().setHasText("night shift"));
    assertThat(row).containsText("operator");
    assertThat(page.locator("body")).not().containsText(key);
    try (Browser.Window other = dashboard.signIn(Browser.Look.LIGHT, key)) {
      window.button("Revoke night shift").click();
      window.answer("Revoke").click();
      assertThat(row).hasCount(0);
      assertThat(other.heading()).hasText("Sign in to Holdfast");
    }
    window.link("Audit").click();
    assertThat(page.locator("main")).containsText("key.revoked");
  }

  @Test
  void messages_are_found_by_type_subject_status_and_id() throws Exception {
    dashboard.receiver.fail("/late", "later");
    dashboard.subscribe("/early", "bus.*");
    String late = dashboard.subscribe("/late", "bus.*").text("endpoint");
    dashboard.send("bus.left", "bus-1", "{}");
    String event = dashboard.send("bus.came", "bus-2", "{}");
    String message = dashboard.message(event, late).text("id");
    page.navigate("/messages");
    Locator rows = page.locator("tbody tr");
    window.field("Type").fill("bus.c*");
    assertThat(rows).hasCount(2);
    window.field("Type").fill("bus.*");
    assertThat(rows).hasCount(4);
    window.field("Subject").fill("bus-1");
    assertThat(rows).hasCount(2);
    window.field("Status").selectOption("waiting");
    assertThat(rows).hasCount(1);
    assertThat(rows).containsText("/late");
    assertThat(page).hasURL(Pattern.compile("status=waiting"));
    page.reload();
    assertThat(rows).hasCount(1);
    window.field("Subject").fill("nobody");
    assertThat(page.getByText("No message fits")).isVisible();
    window.button("Clear all filters").click();
    window.field("Go to an id").fill(message);
    window.button("Go").click();
    assertThat(page).hasURL(dashboard.url() + "/messages/" + message);
    assertThat(window.heading()).containsText("bus.came");
  }

  @Test
  void endpoints_are_found_and_sorted() throws Exception {
    dashboard.subscribe("/zoo/b", "zoo.*");
    String first = dashboard.subscribe("/zoo/a", "zoo.*").text("endpoint");
    dashboard.api.post("/v1/endpoints/" + first + "/freeze", "{}");
    dashboard.subscribe("/zoo/c", "zoo.*");
    window.link("Endpoints").click();
    window.field("Search").fill("ZOO");
    Locator rows = page.locator("tbody tr");
    assertThat(rows).hasCount(3);
    assertThat(rows.first()).containsText("/zoo/c");
    page.locator("th").getByText("URL").click();
    assertThat(rows.first()).containsText("/zoo/a");
    assertThat(page.locator("th[aria-sort=ascending]")).containsText("URL");
    window.field("State").selectOption("frozen");
    assertThat(rows).hasCount(1);
    assertThat(rows).containsText("/zoo/a");
    window.field("State").selectOption("disabled");
    assertThat(page.getByText("No endpoint is like that.")).isVisible();
    page.goBack();
    assertThat(page.url()).startsWith(dashboard.url());
  }
}
