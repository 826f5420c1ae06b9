package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.Rule;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.ConsoleMessage;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A real browser, for tests of the pages: one Chromium without a window, from which each test opens
 * windows of its own.
 *
 * <p>It is the Chromium of this machine, which {@code bin/browser} finds; nothing is downloaded.
 * Playwright's objects belong to the thread that made them, so a test uses them in its own.
 */
final class Browser implements AutoCloseable {
  /** Where this is set, tests with a browser are left out. */
  static final String SKIP = "browser.skip";

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
  private static final Set<String> SERIOUS = Set.of("serious", "critical");

  /** How a window looks. */
  enum Look {
    LIGHT(ColorScheme.LIGHT, 1_280),
    DARK(ColorScheme.DARK, 1_280),
    /** As on a telephone. */
    NARROW(ColorScheme.LIGHT, 375);

    /** What a page in the dark can do worse than in the light, and a narrow one cannot. */
    private static final List<String> RULES_OF_COLOURS =
        List.of("color-contrast", "link-in-text-block");

    private final ColorScheme colours;
    private final int width;

    Look(ColorScheme colours, int width) {
      this.colours = colours;
      this.width = width;
    }
  }

  private final Playwright playwright;
  private final com.microsoft.playwright.Browser chromium;

  private Browser(Playwright playwright, com.microsoft.playwright.Browser chromium) {
    this.playwright = playwright;
    this.chromium = chromium;
  }

  static Browser start() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    PlaywrightAssertions.setDefaultAssertionTimeout((double) PATIENCE.toMillis());
    Playwright playwright = Playwright.create(new Playwright.CreateOptions().setEnv(environment));
    try {
      return new Browser(
          playwright,
          playwright
              .chromium()
              .launch(
                  new BrowserType.LaunchOptions()
                      .setExecutablePath(program())
                      .setArgs(List.of("--no-sandbox", "--disable-dev-shm-usage"))));
    } catch (RuntimeException e) {
      playwright.close();
      throw e;
    }
  }

  /** As {@code bin/browser} finds it. */
  private static Path program() {
    return Optional.ofNullable(System.getenv("CHROMIUM"))
        .map(Path::of)
        .or(Browser::onPath)
        .orElseThrow(
            () ->
                new AssertionError(
                    "There is no Chromium. bin/browser says how to get one; -D%s leaves out the tests that need it."
                        .formatted(SKIP)));
  }

  private static Optional<Path> onPath() {
    List<String> directories =
        List.of(
            Objects.requireNonNullElse(System.getenv("PATH"), "").split(File.pathSeparator, -1));
    return NAMES.stream()
        .flatMap(name -> directories.stream().map(directory -> Path.of(directory, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Opens a window.
   *
   * @param server the only one that its pages may ask, such as {@code http://127.0.0.1:8080}
   */
  Window open(String server, Look look) {
    BrowserContext context =
        chromium.newContext(
            new com.microsoft.playwright.Browser.NewContextOptions()
                .setBaseURL(server)
                .setLocale("en-GB")
                .setTimezoneId("UTC")
                .setColorScheme(look.colours)
                .setReducedMotion(ReducedMotion.REDUCE)
                .setViewportSize(look.width, 800));
    context.setDefaultTimeout((double) PATIENCE.toMillis());
    return new Window(server, context, look);
  }

  @Override
  public void close() {
    chromium.close();
    playwright.close();
  }

  /** A window with one page, which notes what must not happen in it. */
  static final class Window implements AutoCloseable {
    private final BrowserContext context;
    private final Page page;
    private final String host;
    private final Look look;
    private final List<String> wrongs = new ArrayList<>();

    private Window(String server, BrowserContext context, Look look) {
      this.context = context;
      this.look = look;
      this.host = URI.create(server).getAuthority();
      this.page = context.newPage();
      page.onConsoleMessage(this::note);
      page.onPageError(error -> wrongs.add("error of the page: " + error));
      context.onRequest(this::note);
    }

    private void note(ConsoleMessage message) {
      if (message.type().equals("error") || message.type().equals("warning")) {
        wrongs.add(
            "%s on the console: %s (%s)"
                .formatted(message.type(), message.text(), message.location()));
      }
    }

    /** Pages ask nobody but their own server. */
    private void note(Request request) {
      URI asked = URI.create(request.url());
      boolean isOurs = asked.getScheme().equals("data") || host.equals(asked.getAuthority());
      if (!isOurs) {
        wrongs.add("request to another host: " + request.url());
      }
    }

    Page page() {
      return page;
    }

    /** The page's heading. */
    Locator heading() {
      return page.locator("main h1");
    }

    Locator button(String name) {
      return page.getByRole(
          AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    Locator link(String name) {
      return page.getByRole(
          AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    /** A field of a form by what stands above it. */
    Locator field(String label) {
      return page.getByLabel(label, new Page.GetByLabelOptions().setExact(true));
    }

    /** The question that has to be answered before anything else. */
    Locator dialog() {
      return page.locator("dialog[open]");
    }

    /** A button of the {@link #dialog}. */
    Locator answer(String name) {
      return dialog()
          .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(name).setExact(true));
    }

    /** A card of the page by its title. */
    Locator card(String title) {
      return page.getByRole(
          AriaRole.REGION, new Page.GetByRoleOptions().setName(title).setExact(true));
    }

    /** Makes this window forget errors that a test has brought about, such as a refused key. */
    void expect(String part) {
      assertThat(wrongs).anyMatch(wrong -> wrong.contains(part));
      forget(part);
    }

    /** The same for errors that a test may bring about, and need not. */
    void forget(String part) {
      wrongs.removeIf(wrong -> wrong.contains(part));
    }

    /** Nothing went wrong until now that nobody would see. */
    void check() {
      assertThat(wrongs).isEmpty();
    }

    /** People can use the page with what they have: a screen reader, a keyboard, weak eyes. */
    void checkAccessible() {
      AxeBuilder axe = new AxeBuilder(page).setLegacyMode(true);
      switch (look) {
        case LIGHT -> {}
        case DARK -> axe.withRules(Look.RULES_OF_COLOURS);
        case NARROW -> axe.disableRules(Look.RULES_OF_COLOURS);
      }
      List<String> findings =
          axe.analyze().getViolations().stream()
              .filter(rule -> SERIOUS.contains(Objects.requireNonNullElse(rule.getImpact(), "")))
              .flatMap(Window::told)
              .toList();
      assertThat(findings).isEmpty();
    }

    private static Stream<String> told(Rule rule) {
      return rule.getNodes().stream()
          .map(node -> "%s (%s): %s".formatted(rule.getHelp(), rule.getId(), node.getHtml()));
    }

    /** Nothing has to be scrolled sideways to be seen. */
    void checkFits() {
      Object wider =
          page.evaluate(
              "document.documentElement.scrollWidth - document.documentElement.clientWidth");
      assertThat(wider).as("pixels that %s is wider than its window", page.url()).isEqualTo(0);
    }

    @Override
    public void close() {
      context.close();
    }
  }
}
