package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** That the checks of {@link Browser} find what they are for. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
@DisabledIfSystemProperty(named = Browser.SKIP, matches = "|true")
class BrowserTest {
  private static final String WELL =
      "<!doctype html><html lang=en><title>t</title><link rel=icon href='data:,'><main><h1>Well</h1></main>";

  private final Browser browser = Browser.start();
  private final HttpServer server;
  private volatile String html = WELL;

  BrowserTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = html.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterAll
  void end() {
    browser.close();
    server.stop(0);
  }

  @Test
  void a_page_that_is_well_passes() {
    open(
        WELL,
        window -> {
          window.check();
          window.checkAccessible();
          window.checkFits();
        });
  }

  @Test
  void an_error_on_the_console_is_found() {
    open(
        WELL + "<script>console.error('oh no')</script>",
        window ->
            assertThatThrownBy(window::check)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("oh no"));
  }

  @Test
  void an_error_of_a_script_is_found_and_can_be_expected() {
    open(
        WELL + "<script>missing()</script>",
        window -> {
          assertThatThrownBy(window::check)
              .isInstanceOf(AssertionError.class)
              .hasMessageContaining("missing is not defined");
          window.expect("missing is not defined");
          window.check();
          assertThatThrownBy(() -> window.expect("missing is not defined"))
              .isInstanceOf(AssertionError.class);
        });
  }

  @Test
  void a_request_to_another_host_is_found() {
    open(
        WELL + "<img alt=x src='http://127.0.0.1:1/x.png'>",
        window ->
            assertThatThrownBy(window::check)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("request to another host: http://127.0.0.1:1/x.png"));
  }

  @Test
  void what_not_everybody_can_use_is_found() {
    open(
        WELL.replace("Well", "<img src='data:,'><button></button>"),
        window ->
            assertThatThrownBy(window::checkAccessible)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("button-name"));
  }

  @Test
  void what_is_wider_than_its_window_is_found() {
    open(
        WELL + "<div style='width:2000px'>wide</div>",
        window -> assertThatThrownBy(window::checkFits).isInstanceOf(AssertionError.class));
  }

  private void open(String page, Consumer<Browser.Window> look) {
    html = page;
    try (Browser.Window window =
        browser.open("http://127.0.0.1:" + server.getAddress().getPort(), Browser.Look.LIGHT)) {
      window.page().navigate("/");
      look.accept(window);
    }
  }
}
