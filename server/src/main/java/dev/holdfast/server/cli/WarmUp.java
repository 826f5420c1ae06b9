package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Settings.Sources;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast warm-up}: what Java's start-up cache is made from.
 *
 * <p>It goes the way that a server goes from its start to its first delivery, so that Java notes
 * which classes that takes and loads them from its cache the next time.
 */
@Command(
    name = "warm-up",
    hidden = true,
    description = {
      "Start a server on an empty store in a temporary directory, deliver a few events to this",
      "process, and end: what Java's start-up cache is made from."
    },
    footerHeading = "%nExample:%n",
    footer = {
      "  java -XX:AOTCacheOutput=holdfast.aot -jar holdfast.jar warm-up",
      "  java -XX:AOTCache=holdfast.aot -jar holdfast.jar serve",
      "",
      "Exit codes: 0 done, 1 failed."
    })
final class WarmUp implements Callable<Integer> {
  private static final int EVENTS = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String KEY = "hf_warm-up";

  private final InstantSource clock;
  @Spec private @Nullable CommandSpec spec;

  WarmUp(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public Integer call() throws IOException {
    PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
    Path directory = Files.createTempDirectory("holdfast-warm-up");
    try {
      return run(directory, err);
    } catch (CommandFailed | CannotStart | InvalidSettings e) {
      err.println("The warm-up failed: " + e.getMessage());
      return ExitCode.FAILED;
    } finally {
      remove(directory);
    }
  }

  private int run(Path directory, PrintWriter err)
      throws CommandFailed, CannotStart, InvalidSettings {
    Settings settings =
        Settings.read(
            new Sources(
                null,
                Map.of(),
                List.of(
                    "server.port=0",
                    "data=" + directory.resolve("data"),
                    "admin.key=" + KEY,
                    "egress.allow=127.0.0.0/8"),
                Map.of()));
    CountDownLatch arrived = new CountDownLatch(EVENTS);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    Server server = Wiring.start(settings, clock, new PrintWriter(Writer.nullWriter()));
    try {
      int port =
          new Receiver(
                  vertx,
                  clock,
                  new Receiver.Manner(200, Duration.ZERO, 0),
                  _ -> arrived.countDown())
              .listen("127.0.0.1", 0)
              .await()
              .actualPort();
      send(URI.create("http://127.0.0.1:" + server.port()), port);
      if (!arrived.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new CommandFailed("nothing was delivered.");
      }
      LoggerFactory.getLogger(WarmUp.class).info("warm-up.done events={}", EVENTS);
      return ExitCode.DONE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("The warm-up was interrupted.");
      return ExitCode.FAILED;
    } finally {
      server.stop().eventually(vertx::close).await();
    }
  }

  private static void send(URI server, int receiver) throws CommandFailed {
    try (ApiClient api = new ApiClient(server, new ApiClient.Key(KEY, "here"), null, null)) {
      api.post(
          "/v1/subscriptions",
          "{\"url\":\"http://127.0.0.1:%d/\",\"types\":[\"warm.*\"]}".formatted(receiver));
      for (int i = 0; i < EVENTS; i++) {
        api.post(
            "/v1/events",
            "{\"type\":\"warm.up\",\"subject\":\"s\",\"data\":{\"n\":%d}}".formatted(i));
      }
      api.get("/v1/endpoints");
      api.get("/v1/messages");
    }
  }

  private static void remove(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(
              file -> {
                try {
                  Files.delete(file);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    } catch (IOException | UncheckedIOException e) {
      LoggerFactory.getLogger(WarmUp.class)
          .warn("warm-up.left-behind directory={} next=\"remove it by hand\"", directory, e);
    }
  }
}
