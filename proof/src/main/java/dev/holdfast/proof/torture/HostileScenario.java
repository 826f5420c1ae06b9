package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Http;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Thousands of endpoints that mean harm get a message each at the same moment, from a server with a
 * small heap, beside endpoints that are well.
 *
 * <p>Each attempt must end in time, nothing may be lost, and the server must be alive and well
 * afterwards. What it costs the others is measured and told.
 */
final class HostileScenario implements Scenario {
  private static final String KEY = "hf_torture_on_this_machine_only";
  private static final JsonMapper JSON = JsonMapper.shared();

  private static final int MOST_HEAP_MEGABYTES = 512;

  /** Files besides the connections to those who mean harm. */
  private static final int OTHER_FILES = 1_000;

  /** Endpoints that do not read; each gets as much as a message may be. */
  private static final int UNREAD = 32;

  private static final int LARGE_BYTES = 1_000_000;
  private static final int SMALL_BYTES = 100;

  /** When the server is taken to be warm. */
  private static final int CALM_MILLIS = 20;

  private static final int CALM_SECONDS = 5;
  private static final int RATE = 300;
  private static final int CALLERS = 8;
  private static final Duration LONGEST = Duration.ofMinutes(5);
  private static final Duration ASK_EVERY = Duration.ofMillis(250);

  @Override
  public String name() {
    return "hostile";
  }

  @Override
  public String about() {
    return "thousands of endpoints that never answer, drip, flood or lie, all at once";
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    new Play(this, run).play();
  }

  /** An attempt, as the server has recorded it. */
  private record Attempt(Hostility hostility, long millis, String ended) {}

  /** One run of it. */
  private static final class Play {
    private final String name;
    private final Torture.Run run;
    private final Report report;
    private final int endpoints;
    private final Duration warmUp;
    private final Duration calm;
    private final Map<Hostility, Integer> ports = new EnumMap<>(Hostility.class);

    /** How many of them do nothing at all, before or amid the handshake. */
    private final AtomicInteger hanging = new AtomicInteger();

    private final ConcurrentLinkedQueue<Attempt> attempts = new ConcurrentLinkedQueue<>();

    Play(HostileScenario scenario, Torture.Run run) {
      this.name = scenario.name();
      this.run = run;
      this.report = run.report();
      this.endpoints = run.hostile();
      this.warmUp = Duration.ofSeconds(Math.clamp(endpoints / 50, 2, 40));
      this.calm = Duration.ofSeconds(Math.clamp(endpoints / 200, 2, 15));
    }

    void play() throws IOException {
      long files = Footprint.mostOpenFiles();
      if (files < endpoints + OTHER_FILES) {
        throw new ProofException(
            "%,d hostile endpoints need %,d open files, and there may be %,d: raise ulimit -n, or"
                    .formatted(endpoints, endpoints + OTHER_FILES, files)
                + " play with fewer (--hostile N)");
      }
      Certificates certificates = Certificates.make(run.directory());
      Child host = startHost(certificates);
      run.track(host);
      host.awaitPort();
      int port = freePorts(1).getFirst();
      Path logs = Files.createDirectories(run.directory().resolve(name + "-logs"));
      try (Http http = new Http()) {
        Server server =
            new Server(
                Server.Options.embedded(
                    run.directory().resolve(name), logs, port, KEY, program(certificates)),
                http);
        run.track(server);
        server.awaitReady();
        besiege(server, port);
      }
    }

    private Server.Program program(Certificates certificates) throws IOException {
      return new Server.Program(
          Server.MAIN,
          List.of(
              "-Xmx" + MOST_HEAP_MEGABYTES + "m",
              "-Djavax.net.ssl.trustStore=" + certificates.trusted(),
              "-Djavax.net.ssl.trustStorePassword=" + Certificates.PASSWORD),
          List.of());
    }

    private Child startHost(Certificates certificates) throws IOException {
      List<Integer> free = freePorts(Hostility.values().length);
      List<String> arguments = new ArrayList<>();
      arguments.add(certificates.file().toString());
      for (Hostility hostility : Hostility.values()) {
        int port = free.get(ports.size());
        ports.put(hostility, port);
        arguments.add(hostility + "=" + port);
      }
      return Child.start(
          "host of hostile endpoints",
          List.of("-Xmx512m", "-XX:+UseSerialGC"),
          HostileHost.class.getName(),
          arguments,
          run.directory().resolve(name + "-host.log"),
          false);
    }

    private void besiege(Server server, int port) throws IOException {
      subscribe(server);
      try (HealthyTraffic healthy = new HealthyTraffic(server, port, KEY, RATE)) {
        warmUp(server, healthy);
        Scene.pause(calm);
        HealthyTraffic.Figures before = healthy.figures();
        run.progress().step("%,d hostile endpoints get their messages".formatted(endpoints));
        Footprint process = new Footprint(server.pid());
        List<String> events = new ArrayList<>();
        events.add(server.publish("hostile", SMALL_BYTES));
        events.add(server.publish("hostile.unread", LARGE_BYTES));
        awaitAttempts(server, process);
        HealthyTraffic.Figures during = healthy.figures();
        Scene.pause(calm);
        HealthyTraffic.Figures after = healthy.figures();
        int rounds = (endpoints + hanging.get() - 1) / hanging.get();
        run.progress().step("%,d attempts that hang".formatted(rounds * hanging.get()));
        Footprint whileHanging = new Footprint(server.pid());
        for (int i = 0; i < rounds; i++) {
          events.add(server.publish("hostile.hanging", SMALL_BYTES));
        }
        awaitAttempts(server, whileHanging);
        HealthyTraffic.Figures besideHanging = healthy.figures();
        healthy.stop();
        awaitArrivals(server, healthy);
        for (String event : events) {
          read(server, event);
        }
        reportAttempts();
        reportHealthy("before", before);
        reportHealthy("during", during);
        reportHealthy("after", after);
        reportHealthy("while they hang", besideHanging);
        report.count(name, "most open files while they hang", whileHanging.mostOpen());
        reportServer(server, process);
        reportLosses(server, healthy);
      }
      server.stop();
    }

    /**
     * Meets each kind of endpoint once, and waits, within a limit, until events that are well go
     * through as fast as they will: what is loaded and compiled only once is not what is measured.
     */
    private void warmUp(Server server, HealthyTraffic healthy) {
      run.progress().step("warming up");
      server.publish("hostile.first", SMALL_BYTES);
      long until = System.nanoTime() + warmUp.toNanos();
      int calmSeconds = 0;
      do {
        Scene.pause(Duration.ofSeconds(1));
        calmSeconds = healthy.figures().p99() < CALM_MILLIS ? calmSeconds + 1 : 0;
      } while (System.nanoTime() < until && calmSeconds < CALM_SECONDS);
    }

    private void subscribe(Server server) {
      run.progress().step("subscribing %,d hostile endpoints".formatted(endpoints));
      Hostility[] all = Hostility.values();
      each(
          endpoints,
          i -> {
            Hostility hostility = all[i % all.length];
            boolean read = hostility != Hostility.UNREAD;
            String url = url(read ? hostility : Hostility.SILENT, i);
            if (hostility == Hostility.SILENT || hostility == Hostility.TLS_SILENT) {
              hanging.incrementAndGet();
              server.subscribe(url, "hostile", "hostile.hanging");
            } else {
              server.subscribe(url, "hostile");
            }
          });
      each(all.length, i -> server.subscribe(url(all[i], endpoints + UNREAD + i), "hostile.first"));
      each(UNREAD, i -> server.subscribe(url(Hostility.UNREAD, i), "hostile.unread"));
    }

    private String url(Hostility hostility, int number) {
      return "%s://127.0.0.1:%d/%s/%d"
          .formatted(
              hostility.overTls() ? "https" : "http", ports.get(hostility), hostility, number);
    }

    /** Until each hostile endpoint has had its attempt. */
    private void awaitAttempts(Server server, Footprint process) {
      long deadline = System.nanoTime() + LONGEST.toNanos();
      long pending;
      do {
        Scene.pause(ASK_EVERY);
        process.look();
        if (!server.isAlive()) {
          throw new ProofException("the server ended by itself:\n" + server.tail());
        }
        pending = process.openFiles() < OTHER_FILES ? pendingMessages(server) : endpoints;
        run.progress().tick("%,d open files".formatted(process.openFiles()));
      } while (pending > 0 && System.nanoTime() < deadline);
      run.progress().end();
    }

    private static long pendingMessages(Server server) {
      return JSON.readTree(server.call("GET", "/v1/messages?status=pending&limit=1", ""))
          .path("items")
          .size();
    }

    private void awaitArrivals(Server server, HealthyTraffic healthy) {
      long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
      while (healthy.missing() > 0 && server.isAlive() && System.nanoTime() < deadline) {
        Scene.pause(ASK_EVERY);
      }
    }

    /** Reads from the server what has become of the messages of an event. */
    private void read(Server server, String event) {
      List<String> messages = new ArrayList<>();
      String cursor = "";
      do {
        JsonNode page =
            JSON.readTree(
                server.call("GET", "/v1/messages?event=" + event + "&limit=1000" + cursor, ""));
        page.path("items").forEach(item -> messages.add(item.path("id").asString()));
        JsonNode next = page.path("next");
        cursor = next.isString() ? "&cursor=" + next.asString() : "";
      } while (!cursor.isEmpty());
      each(
          messages.size(),
          i -> {
            JsonNode message =
                JSON.readTree(server.call("GET", "/v1/messages/" + messages.get(i), ""));
            read(server, message);
          });
    }

    private void read(Server server, JsonNode message) {
      String endpoint =
          JSON.readTree(
                  server.call("GET", "/v1/endpoints/" + message.path("endpoint").asString(), ""))
              .path("url")
              .asString();
      Hostility hostility = Hostility.valueOf(endpoint.split("/", -1)[3]);
      for (JsonNode attempt : message.path("attempts")) {
        JsonNode error = attempt.path("error");
        attempts.add(
            new Attempt(
                hostility,
                attempt.path("durationMillis").asLong(),
                error.isString() ? error.asString() : attempt.path("outcome").asString()));
      }
    }

    private void reportAttempts() {
      Map<String, List<Long>> groups = new TreeMap<>();
      for (Attempt attempt : attempts) {
        groups
            .computeIfAbsent(
                attempt.hostility().title() + " " + attempt.ended(), _ -> new ArrayList<>())
            .add(attempt.millis());
      }
      groups.forEach(
          (title, millis) -> {
            report.count(name, title, millis.size());
            report.add(name, "  median", median(millis), "ms");
            report.add(name, "  slowest", slowest(millis), "ms");
          });
      List<Long> all = attempts.stream().map(Attempt::millis).toList();
      report.count(name, "hostile attempts", all.size());
      report.add(name, "hostile attempts, median", median(all), "ms");
      double slowest = slowest(all);
      report.add(name, "hostile attempts, slowest", slowest, "ms");
      long late = all.stream().filter(each -> each > run.longestAttempt()).count();
      if (late > 0) {
        report.fail(
            "%s: %,d attempts took longer than %,d ms, the slowest %,.0f ms"
                .formatted(name, late, run.longestAttempt(), slowest));
      }
      if (all.size() < endpoints + UNREAD) {
        report.fail(
            "%s: of %,d hostile endpoints only %,d had an attempt"
                .formatted(name, endpoints + UNREAD, all.size()));
      }
    }

    private static double slowest(List<Long> millis) {
      return millis.stream().mapToDouble(Long::doubleValue).max().orElse(0);
    }

    private static double median(List<Long> millis) {
      return millis.isEmpty() ? 0 : millis.stream().sorted().toList().get(millis.size() / 2);
    }

    private void reportHealthy(String when, HealthyTraffic.Figures figures) {
      report.count(name, "healthy arrivals " + when, figures.count());
      report.add(name, "  p50", figures.p50(), "ms");
      report.add(name, "  p99", figures.p99(), "ms");
      report.add(name, "  p99.9", figures.p999(), "ms");
      report.add(name, "  slowest", figures.most(), "ms");
    }

    private void reportServer(Server server, Footprint process) throws IOException {
      report.count(name, "most open files of the server", process.mostOpen());
      report.add(name, "heap of the server, full collection", process.heapMegabytes(), "MB");
      report.add(name, "most memory of the server, all in all", process.mostMegabytes(), "MB");
      if (server.log().contains("OutOfMemory")) {
        report.fail(name + ": the server ran out of memory");
      }
      run.progress()
          .step("the server has logged %,d lines".formatted(server.log().lines().count()));
      report.count(name, "lines logged by the server", server.log().lines().count());
    }

    private void reportLosses(Server server, HealthyTraffic healthy) {
      report.count(name, "healthy events acknowledged", healthy.acceptedCount());
      report.count(name, "acknowledged and not arrived", healthy.missing());
      report.count(name, "arrived again", healthy.repeats());
      report.count(name, "healthy events refused", healthy.refused());
      if (healthy.missing() > 0 || healthy.acceptedCount() == 0) {
        report.fail(
            "%s: %,d of %,d acknowledged healthy events did not arrive"
                .formatted(name, healthy.missing(), healthy.acceptedCount()));
      }
      long failed = failedAttempts(server);
      report.count(name, "attempts of these recorded as failed", failed);
      if (healthy.repeats() > failed) {
        report.fail(name + ": healthy events arrived again without a reason");
      }
    }

    /** Those to healthy endpoints: on a machine that is busy enough, some take too long. */
    private static long failedAttempts(Server server) {
      String list = server.call("GET", "/v1/endpoints?limit=1000&q=" + HealthyTraffic.PATH, "");
      return JSON.readTree(list)
          .path("items")
          .valueStream()
          .mapToLong(endpoint -> endpoint.path("failures").asLong())
          .sum();
    }

    /** Does something for each number, a few at a time. */
    private static void each(int count, IntConsumer work) {
      AtomicInteger next = new AtomicInteger();
      ConcurrentLinkedQueue<RuntimeException> failed = new ConcurrentLinkedQueue<>();
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        callers.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      try {
                        for (int n = next.getAndIncrement();
                            n < count && failed.isEmpty();
                            n = next.getAndIncrement()) {
                          work.accept(n);
                        }
                      } catch (RuntimeException e) {
                        failed.add(e);
                      }
                    }));
      }
      for (Thread caller : callers) {
        try {
          caller.join();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new ProofException("interrupted", e);
        }
      }
      RuntimeException first = failed.peek();
      if (first != null) {
        throw first;
      }
    }

    private static List<Integer> freePorts(int count) throws IOException {
      List<ServerSocket> sockets = new ArrayList<>();
      List<Integer> free = new ArrayList<>();
      try {
        for (int i = 0; i < count; i++) {
          ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
          sockets.add(socket);
          free.add(socket.getLocalPort());
        }
      } finally {
        for (ServerSocket socket : sockets) {
          socket.close();
        }
      }
      return free;
    }
  }
}
