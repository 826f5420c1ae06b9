package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The server under test. */
final class ServerProcess {

  /** What receivers are sent as their token. */
  private static final String TOKEN = "bench-token";

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Duration LONGEST_START = Duration.ofMinutes(2);
  private static final Duration LONGEST_JCMD = Duration.ofSeconds(30);

  /** Subscriptions in one call. */
  private static final int MOST_IMPORTED = 5_000;

  private static final Duration ASK_EVERY = Duration.ofMillis(10);
  private static final Pattern COMMITS =
      Pattern.compile(
          "^holdfast_commit_duration_seconds_count(?:\\{.*})? (\\S+)$", Pattern.MULTILINE);
  private static final Pattern USED = Pattern.compile("used (\\d+)K");

  private final Child child;
  private final int port;
  private final String key;
  private final Http http;
  private final long startedNanos;
  private final Duration timeToReady;

  private ServerProcess(
      Child child, int port, String key, Http http, long startedNanos, Duration timeToReady) {
    this.child = child;
    this.startedNanos = startedNanos;
    this.port = port;
    this.key = key;
    this.http = http;
    this.timeToReady = timeToReady;
  }

  /** A subscription that is made with many others. */
  record Wish(String url, String type) {}

  /** An endpoint, as the server tells it. */
  record EndpointStatus(String id, String url, String state) {}

  static ServerProcess awaitReady(Child child, long startedNanos, int port, String key, Http http) {
    while (true) {
      Duration elapsed = Duration.ofNanos(System.nanoTime() - startedNanos);
      if (isReady(http, port)) {
        return new ServerProcess(child, port, key, http, startedNanos, elapsed);
      }
      if (!child.isAlive()) {
        throw new ProofException("the server ended while it started:\n" + child.tail());
      }
      if (elapsed.compareTo(LONGEST_START) > 0) {
        throw new ProofException(
            "the server is not ready after %d s:\n%s"
                .formatted(LONGEST_START.toSeconds(), child.tail()));
      }
      Rig.pause(ASK_EVERY);
    }
  }

  private static boolean isReady(Http http, int port) {
    try {
      return http.call("GET", port, "/health/ready", "", "").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** When its process was started. */
  long startedNanos() {
    return startedNanos;
  }

  Child child() {
    return child;
  }

  int port() {
    return port;
  }

  String key() {
    return key;
  }

  /** From the start of the process until it said that it is ready. */
  Duration timeToReady() {
    return timeToReady;
  }

  void subscribe(String url, String type) {
    call("POST", "/v1/subscriptions", "{\"url\":\"%s\",\"types\":[\"%s\"]}".formatted(url, type));
  }

  /** Makes many subscriptions, with few calls. */
  void subscribe(List<Wish> wishes) {
    for (int first = 0; first < wishes.size(); first += MOST_IMPORTED) {
      String items =
          wishes.subList(first, Math.min(wishes.size(), first + MOST_IMPORTED)).stream()
              .map(wish -> "{\"url\":\"%s\",\"types\":[\"%s\"]}".formatted(wish.url, wish.type))
              .collect(Collectors.joining(","));
      call("POST", "/v1/subscriptions/import", "{\"subscriptions\":[" + items + "]}");
    }
  }

  /**
   * Subscribes with messages in the format of the Workfront-shaped API, as {@link #subscribePlain}
   * does, but signed.
   *
   * @param signature of which kind
   */
  void subscribeSigned(String url, int endpoint, String signature) {
    call(
        "POST",
        "/v1/subscriptions",
        "{\"url\":\"%s\",\"types\":[\"%s\"],\"format\":\"workfront\",\"authToken\":\"%s\",\"signature\":\"%s\"}"
            .formatted(url, LoadPlan.type(endpoint), TOKEN, signature));
  }

  /** Subscribes by the Workfront-shaped API, whose messages are not signed. */
  void subscribePlain(String url, int endpoint) {
    call(
        "POST",
        "/attask/eventsubscription/api/v1/subscriptions",
        "{\"url\":\"%s\",\"objCode\":\"%s\",\"eventType\":\"UPDATE\",\"authToken\":\"%s\"}"
            .formatted(url, LoadPlan.objCode(endpoint), TOKEN));
  }

  /** Sends one event. */
  void send(String type, String data) {
    call("POST", "/v1/events", "{\"type\":\"%s\",\"data\":%s}".formatted(type, data));
  }

  /** All endpoints. */
  List<EndpointStatus> endpoints() {
    List<EndpointStatus> found = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = JSON.readTree(call("GET", "/v1/endpoints?limit=1000" + cursor, ""));
      for (JsonNode item : page.path("items")) {
        found.add(
            new EndpointStatus(
                item.path("id").asString(),
                item.path("url").asString(),
                item.path("state").asString()));
      }
      JsonNode next = page.path("next");
      cursor = next.isString() ? "&cursor=" + next.asString() : "";
    } while (!cursor.isEmpty());
    return found;
  }

  /**
   * Disables and enables an endpoint, after which everything that waits for it is tried at once.
   */
  void restart(EndpointStatus endpoint) {
    call("POST", "/v1/endpoints/" + endpoint.id() + "/disable", "");
    enable(endpoint);
  }

  /** Has an endpoint take nothing until somebody enables it. */
  void freeze(EndpointStatus endpoint) {
    call("POST", "/v1/endpoints/" + endpoint.id() + "/freeze", "");
  }

  void enable(EndpointStatus endpoint) {
    call("POST", "/v1/endpoints/" + endpoint.id() + "/enable", "");
  }

  /** How many batches it has put on disk, as it counts them itself. */
  long commits() {
    Matcher matcher = COMMITS.matcher(call("GET", "/metrics", ""));
    return matcher.find() ? (long) Double.parseDouble(matcher.group(1)) : 0;
  }

  /** Megabytes of heap in use after a full collection; 0 when the JDK has no {@code jcmd}. */
  double heapAfterCollection() {
    try {
      jcmd("GC.run");
      Matcher matcher = USED.matcher(heapLines(jcmd("GC.heap_info")));
      long kilobytes = 0;
      while (matcher.find()) {
        kilobytes += Long.parseLong(matcher.group(1));
      }
      return kilobytes / 1_024.0;
    } catch (IOException e) {
      return 0;
    }
  }

  /** The lines about the heap itself: what follows, about classes, is not in it. */
  private static String heapLines(String info) {
    int metaspace = info.indexOf("Metaspace");
    return metaspace < 0 ? info : info.substring(0, metaspace);
  }

  private String jcmd(String command) throws IOException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process process =
        new ProcessBuilder(jcmd.toString(), Long.toString(child.pid()), command)
            .redirectErrorStream(true)
            .start();
    try {
      if (!process.waitFor(LONGEST_JCMD.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        throw new IOException("jcmd takes too long");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private String call(String method, String path, String body) {
    try {
      HttpResponse<String> response = http.call(method, port, path, key, body);
      if (response.statusCode() / 100 != 2) {
        throw new ProofException(
            "%s %s answered %d %s".formatted(method, path, response.statusCode(), response.body()));
      }
      return response.body();
    } catch (IOException e) {
      throw new ProofException(method + " " + path + " failed:\n" + child.tail(), e);
    }
  }
}
