package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Response;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The pages, in a real browser and with a real server. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
@DisabledIfSystemProperty(named = Browser.SKIP, matches = "|true")
class DashboardTest {
  private final Browser browser = Browser.start();
  private final RunningServer server;

  DashboardTest(@TempDir Path data) throws Exception {
    server = new RunningServer(data);
  }

  @AfterAll
  void end() {
    browser.close();
    server.close();
  }

  @ParameterizedTest
  @EnumSource
  void a_browser_gets_answers_of_the_server(Browser.Look look) {
    try (Browser.Window window = browser.open(server.url(), look)) {
      Response answer = Objects.requireNonNull(window.page().navigate("/health/live"));
      assertThat(answer.status()).isEqualTo(200);
      window.check();
    }
  }
}
