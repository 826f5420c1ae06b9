package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.TestServer.Reply;
import dev.holdfast.server.pages.PageFile;
import dev.holdfast.server.pages.Pages;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of the dashboard, as a browser gets them. */
class PagesTest {
  /**
   * What a module takes from others: {@code import … from "x"}, {@code import "x"} and the like.
   */
  private static final Pattern IMPORT =
      Pattern.compile(
          "(?:^(?:import\\s*|(?:import|export)\\b[^\"';=()]*\\bfrom\\s*)|\\bimport\\()"
              + "[\"']([^\"'\\s]+)[\"']",
          Pattern.MULTILINE);

  private static final Pattern LINK = Pattern.compile("\\b(?:src|href)=\"([^\"]+)\"");

  private final Vertx vertx = Vertx.vertx();

  @SuppressWarnings("NullAway.Init")
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.start(new FakeEngine(vertx), ApiLimits.defaults());
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().await();
  }

  private Reply get(String path, String... headers) throws Exception {
    return server.sendKeyless("GET", path, new byte[0], headers);
  }

  private static void isHardened(Reply reply) {
    assertThat(reply.header("content-security-policy"))
        .contains(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
                + " connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
                + " frame-ancestors 'none'");
    assertThat(reply.header("x-content-type-options")).contains("nosniff");
    assertThat(reply.header("referrer-policy")).contains("no-referrer");
    assertThat(reply.header("cross-origin-opener-policy")).contains("same-origin");
    assertThat(reply.header("cross-origin-resource-policy")).contains("same-origin");
    assertThat(reply.header("permissions-policy").orElse("")).contains("camera=()");
    assertThat(reply.header("cache-control")).contains("no-cache");
    assertThat(reply.header("set-cookie")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/endpoints",
        "/endpoints/ep_0000000000001",
        "/messages",
        "/messages/msg_0000000000001",
        "/events",
        "/events/evt_0000000000001",
        "/events/an%20id%2Fof%20theirs",
        "/subscriptions",
        "/subscriptions/new",
        "/subscriptions/sub_0000000000001",
        "/subscriptions/sub_0000000000001/edit",
        "/replays",
        "/replays/rpl_0000000000001",
        "/keys",
        "/audit",
        "/settings",
        "/cluster",
        "/sign-in",
        "/messages?status=waiting&whatever=scripts%20know"
      })
  void a_page_needs_no_key_and_is_hardened(String path) throws Exception {
    Reply reply = get(path);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.header("content-type")).contains("text/html; charset=utf-8");
    assertThat(reply.text()).startsWith("<!doctype html>").contains("Holdfast");
    isHardened(reply);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/index.html",
        "/nothing",
        "/endpoints/",
        "/endpoints/a/b",
        "/subscriptions/a/delete",
        "/assets",
        "/assets/",
        "/assets/vendor",
        "/assets/nothing.js",
        "/assets/../index.html",
        "/assets/..%2findex.html",
        "/assets/%2e%2e/index.html",
        "/assets/vendor/../vendor/htm.js",
        "/assets/vendor//htm.js",
        "/assets/vendor/htm.js/",
        "/assets/vendor/htm.js%00",
        "/assets/vendor%2fhtm.js",
        "/assets/vendor\\htm.js",
        "/assets/../../api/openapi.yaml",
        "/assets/Pages.class",
        "/Pages.class",
        "/assets//etc/passwd",
        "/META-INF/MANIFEST.MF"
      })
  void anything_else_is_not_there(String path) throws Exception {
    try (RawClient client = new RawClient(server.port())) {
      String answer = client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").answer();
      assertThat(answer).startsWith("HTTP/1.1 404 ").contains("application/problem+json");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/assets/vendor/preact.js, text/javascript; charset=utf-8, export{",
    "/assets/vendor/hooks.js, text/javascript; charset=utf-8, from\"./preact.js\"",
    "/assets/vendor/htm.js, text/javascript; charset=utf-8, export default",
    "/assets/vendor/htm-LICENSE.txt, text/plain; charset=utf-8, Apache License",
    "/assets/vendor/preact-LICENSE.txt, text/plain; charset=utf-8, MIT License"
  })
  void libraries_are_served_with_their_licences(String path, String type, String part)
      throws Exception {
    Reply reply = get(path);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.header("content-type")).contains(type);
    assertThat(reply.text()).contains(part).doesNotContain("sourceMappingURL");
    isHardened(reply);
  }

  @Test
  void a_browser_that_has_the_newest_gets_no_second_copy() throws Exception {
    Reply first = get("/");
    String tag = first.header("etag").orElseThrow();
    Reply second = get("/", "If-None-Match", tag);
    assertThat(second.status()).isEqualTo(304);
    assertThat(second.text()).isEmpty();
    isHardened(second);
    assertThat(get("/", "If-None-Match", "\"another\"").status()).isEqualTo(200);
    assertThat(get("/assets/vendor/htm.js").header("etag").orElseThrow()).isNotEqualTo(tag);
  }

  @Test
  void a_head_tells_the_same_without_the_content() throws Exception {
    Reply get = get("/assets/vendor/htm.js");
    Reply head = server.sendKeyless("HEAD", "/assets/vendor/htm.js", new byte[0]);
    assertThat(head.status()).isEqualTo(200);
    assertThat(head.text()).isEmpty();
    assertThat(head.header("content-length")).isEqualTo(get.header("content-length"));
    assertThat(head.header("etag")).isEqualTo(get.header("etag"));
    isHardened(head);
  }

  @Test
  void files_can_only_be_read() throws Exception {
    for (String method : new String[] {"POST", "PUT", "PATCH", "DELETE"}) {
      for (String path : new String[] {"/", "/keys", "/assets/vendor/htm.js"}) {
        Reply reply = server.sendKeyless(method, path, new byte[0]);
        assertThat(reply.status()).isEqualTo(405);
        assertThat(reply.header("allow")).contains("GET, HEAD");
      }
    }
  }

  @Test
  void what_is_sent_in_gzip_is_the_same() throws Exception {
    Reply plain = get("/assets/vendor/preact.js");
    Reply packed = get("/assets/vendor/preact.js", "Accept-Encoding", "br, gzip;q=0.8");
    assertThat(plain.header("content-encoding")).isEmpty();
    assertThat(packed.header("content-encoding")).contains("gzip");
    assertThat(plain.header("vary")).contains("accept-encoding");
    assertThat(packed.header("vary")).contains("accept-encoding");
    assertThat(packed.header("etag")).isNotEqualTo(plain.header("etag"));
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(packed.response().body()))) {
      assertThat(in.readAllBytes()).isEqualTo(plain.response().body());
    }
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "br", "identity", "gzip;q=0", "br, gzip; q=0.00", "xgzip"})
  void gzip_is_for_those_who_take_it(@Nullable String acceptEncoding) {
    assertThat(PagesApi.takesGzip(acceptEncoding)).isFalse();
  }

  @Test
  void files_are_found_in_a_jar_too(@TempDir Path directory) throws Exception {
    Path jar = directory.resolve("a program#1.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      Path classes =
          Path.of(Pages.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      Path pages = classes.resolve(Pages.class.getPackageName().replace('.', '/'));
      try (Stream<Path> files = Files.walk(pages)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
          out.write(Files.readAllBytes(file));
        }
      }
    }
    URL preact =
        Objects.requireNonNull(Pages.class.getResource("/META-INF/resources/webjars/preact/"));
    URL library = ((JarURLConnection) preact.openConnection()).getJarFileURL();
    try (URLClassLoader loader =
        new URLClassLoader(
            new URL[] {jar.toUri().toURL(), library}, ClassLoader.getPlatformClassLoader())) {
      Class<?> packed = loader.loadClass(Pages.class.getName());
      Object loaded = packed.getMethod("load").invoke(null);
      Map<?, ?> files = (Map<?, ?>) packed.getMethod("files").invoke(loaded);
      assertThat(files.keySet().toString()).isEqualTo(Pages.load().files().keySet().toString());
    }
  }

  @Test
  void whatever_a_file_refers_to_is_there() throws IOException {
    Map<String, PageFile> files = Pages.load().files();
    assertThat(files)
        .containsKeys("/", "/assets/vendor/preact.js", "/assets/vendor/hooks.js")
        .containsKey("/assets/vendor/htm.js");
    files.forEach(
        (path, file) -> {
          if (path.endsWith(".js")) {
            refersOnlyToFiles(files, path, file, IMPORT);
          } else if (path.equals("/")) {
            refersOnlyToFiles(files, path, file, LINK);
          }
        });
  }

  private static void refersOnlyToFiles(
      Map<String, PageFile> files, String path, PageFile file, Pattern reference) {
    Matcher found = reference.matcher(new String(file.plain().bytes(), StandardCharsets.UTF_8));
    while (found.find()) {
      String target = Objects.requireNonNull(found.group(1));
      if (!target.startsWith("data:")) {
        assertThat(URI.create(path).resolve(target).toString())
            .as("what %s takes from %s", path, target)
            .isIn(files.keySet());
        assertThat(target).as("a place in %s", path).matches("(\\.{0,2}/).*");
      }
    }
  }
}
