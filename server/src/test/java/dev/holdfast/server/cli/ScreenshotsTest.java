package dev.holdfast.server.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import picocli.CommandLine;

/** Pictures of all pages for the documentation, taken of the demo: see {@code bin/screenshots}. */
@Timeout(600)
@EnabledIfSystemProperty(named = ScreenshotsTest.DIRECTORY, matches = ".+")
class ScreenshotsTest {
  /** Where the pictures go. */
  static final String DIRECTORY = "screenshots";

  private static final Pattern LINK =
      Pattern.compile("(http://127\\.0\\.0\\.1:\\d+)/sign-in#key=(\\S+)");
  private static final Pattern NONE_FROZEN = Pattern.compile("frozen\\s*0");
  private static final Duration UNTIL_FROZEN = Duration.ofMinutes(4);
  private static final String FAILING = "typo-never-works";
  private static final String BOTTOM_OF_CONTENT =
      "Math.ceil(Math.max(...[...document.querySelector('main').children].map((one) => one.getBoundingClientRect().bottom)))";

  private static final int MARGIN = 32;
  private static final int WIDTH = 1_280;
  private static final int SHORTEST = 640;
  private static final int TALLEST = 1_000;

  private final Path directory = Path.of(System.getProperty(DIRECTORY, ""));

  @Test
  void every_page_is_seen_in_the_middle_of_the_demo() throws Exception {
    Files.createDirectories(directory);
    StopSignal stop = new StopSignal();
    StringWriter out = new StringWriter();
    Thread demo =
        Thread.ofPlatform()
            .name("demo")
            .start(
                () ->
                    new CommandLine(new Demo(InstantSource.system(), () -> stop))
                        .setOut(new PrintWriter(out, true))
                        .execute("--port", "0", "--seed", "1"));
    try (Browser browser = Browser.start()) {
      Matcher link = link(demo, out);
      ApiClient.Key key = new ApiClient.Key(link.group(2), "the demo");
      try (ApiClient api = new ApiClient(URI.create(link.group(1)), key, null, null)) {
        take(browser, link.group(1), link.group(2), api);
      }
    } finally {
      stop.ask();
      demo.join();
    }
  }

  private static Matcher link(Thread demo, StringWriter out) {
    while (demo.isAlive()) {
      Matcher link = LINK.matcher(out.toString());
      if (link.find()) {
        return link;
      }
      Thread.onSpinWait();
    }
    throw new AssertionError("The demo did not start: " + out);
  }

  private void take(Browser browser, String server, String key, ApiClient api)
      throws CommandFailed {
    try (Browser.Window window = browser.open(server, Browser.Look.LIGHT);
        Browser.Window dark = browser.open(server, Browser.Look.DARK);
        Browser.Window narrow = browser.open(server, Browser.Look.NARROW)) {
      for (Browser.Window other : List.of(dark, narrow)) {
        other.page().navigate("/sign-in#key=" + key);
        assertThat(other.heading()).hasText("Overview");
      }
      window.page().navigate("/sign-in");
      assertThat(window.heading()).hasText("Sign in to Holdfast");
      shoot(window, "sign-in");
      window.page().navigate("/sign-in#key=" + key);
      assertThat(window.page().locator(".timeline").getByText("frozen:").first())
          .isVisible(
              new LocatorAssertions.IsVisibleOptions()
                  .setTimeout((double) UNTIL_FROZEN.toMillis()));
      for (Browser.Window one : List.of(window, dark, narrow)) {
        assertThat(one.page().locator(".parts-list")).not().containsText(NONE_FROZEN);
      }
      shoot(window, "overview");
      shoot(dark, "overview-dark");
      shoot(narrow, "overview-narrow");
      makeSomethingToShow(api);
      for (Shot shot : shots(api)) {
        window.page().navigate(shot.path());
        assertThat(window.heading()).isVisible();
        assertThat(window.page().locator("main " + shot.last()).first()).isVisible();
        assertThat(window.page().locator("main .skeleton")).hasCount(0);
        if (shot.name().equals("subscription-new")) {
          fill(window);
        }
        shoot(window, shot.name());
      }
      window.check();
    }
  }

  /** A page, the name of its picture, and what comes last when it is loaded. */
  private record Shot(String name, String path, String last) {}

  private static void makeSomethingToShow(ApiClient api) throws CommandFailed {
    for (String name : List.of("crm-healthy", "accounting-healthy")) {
      api.post(
          "/v1/replays",
          "{\"endpoint\":\"%s\",\"status\":[\"delivered\"]}".formatted(endpoint(api, name)));
    }
    for (List<String> made :
        List.of(
            List.of("shop backend", "publisher"),
            List.of("night shift", "operator"),
            List.of("wall display", "viewer"))) {
      api.post(
          "/v1/keys",
          "{\"name\":\"%s\",\"role\":\"%s\",\"tenant\":\"default\",\"expiresIn\":\"90d\"}"
              .formatted(made.getFirst(), made.getLast()));
    }
  }

  private static String endpoint(ApiClient api, String part) throws CommandFailed {
    List<Item> found = api.get("/v1/endpoints?q=" + part).list("items");
    return found.isEmpty()
        ? api.get("/v1/endpoints?limit=1").list("items").getFirst().text("id")
        : found.getFirst().text("id");
  }

  private static List<Shot> shots(ApiClient api) throws CommandFailed {
    Item message =
        api
            .get("/v1/messages?status=waiting,parked&limit=1000&endpoint=" + endpoint(api, FAILING))
            .list("items")
            .stream()
            .max(Comparator.comparingInt(one -> Math.toIntExact(one.number("attempts"))))
            .orElseThrow();
    Item event =
        api.get("/v1/events?limit=200").list("items").stream()
            .max(
                Comparator.comparingInt(
                    one -> Math.toIntExact(one.object("messages").number("delivered"))))
            .orElseThrow();
    List<Item> subscriptions = api.get("/v1/subscriptions?limit=200").list("items");
    String filtered =
        subscriptions.stream()
            .filter(one -> !one.list("filters").isEmpty())
            .findFirst()
            .orElse(subscriptions.getFirst())
            .text("id");
    String replay = api.get("/v1/replays").list("items").getLast().text("id");
    return List.of(
        new Shot("endpoints", "/endpoints?sort=failures", ".spark rect"),
        new Shot("endpoint", "/endpoints/" + endpoint(api, "chat-flaps"), ".chart-area circle"),
        new Shot("messages", "/messages", "tbody tr"),
        new Shot("message", "/messages/" + message.text("id"), ".headers"),
        new Shot("events", "/events", "tbody tr"),
        new Shot("event", "/events/" + event.text("id"), ".matches li"),
        new Shot("subscriptions", "/subscriptions", "tbody tr"),
        new Shot("subscription-new", "/subscriptions/new", "form"),
        new Shot("subscription", "/subscriptions/" + filtered, ".secrets li"),
        new Shot("replays", "/replays", ".progress"),
        new Shot("replay", "/replays/" + replay, ".facts"),
        new Shot("keys", "/keys", "tbody tr"),
        new Shot("audit", "/audit", ".audit-entry"),
        new Shot("settings", "/settings?q=circuit", "tbody tr"),
        new Shot("cluster", "/cluster", ".facts"));
  }

  private static void fill(Browser.Window window) {
    window.field("URL (needed)").fill("https://example.com/hooks/orders");
    window.field("Types (needed)").fill("order.*");
    window.button("Add a filter").click();
    window.field("Field").fill("amount");
    window.field("Comparison").selectOption("gt");
    window.field("Value").fill("500");
    assertThat(window.card("Preview")).containsText("of the last");
  }

  private void shoot(Browser.Window window, String name) {
    Page page = window.page();
    int width = page.viewportSize().width;
    int content =
        ((Number) Objects.requireNonNull(page.evaluate(BOTTOM_OF_CONTENT))).intValue() + MARGIN;
    int height = width == WIDTH ? Math.clamp(content, SHORTEST, TALLEST) : TALLEST;
    page.setViewportSize(width, height);
    page.evaluate("document.activeElement.blur()");
    page.screenshot(new Page.ScreenshotOptions().setPath(directory.resolve(name + ".png")));
    page.setViewportSize(width, 800);
  }
}
