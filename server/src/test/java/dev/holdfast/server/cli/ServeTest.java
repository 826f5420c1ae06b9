package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ServeTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final List<String> happened = new ArrayList<>();
  private @Nullable Settings started;
  private @Nullable CannotStart obstacle;
  private Future<Void> stopped = Future.succeededFuture();

  @Test
  void it_says_what_runs_where() {
    assertThat(run("--data", "/srv/holdfast")).isZero();
    assertThat(out.toString())
        .contains("Holdfast " + Version.NUMBER)
        .contains("http://127.0.0.1:4711")
        .contains("from this machine only")
        .contains("/srv/holdfast")
        .contains("admin key  under the mat");
  }

  @Test
  void it_says_so_when_others_can_connect() {
    run("--set", "server.host=0.0.0.0");
    assertThat(out.toString())
        .contains("http://0.0.0.0:4711", "not encrypted")
        .doesNotContain("this machine only");
  }

  @Test
  void it_says_so_when_connections_are_encrypted() {
    run(
        "--set",
        "server.host=0.0.0.0",
        "--set",
        "server.tls.certificate=c",
        "--set",
        "server.tls.key=k");
    assertThat(out.toString())
        .contains("https://0.0.0.0:4711")
        .doesNotContain("not encrypted", "http://");
  }

  @Test
  void a_short_key_that_others_could_guess_is_refused() {
    assertThat(run("--set", "admin.key=hf_tour")).isZero();
    assertThat(run("--set", "admin.key=hf_tour", "--set", "server.host=0.0.0.0")).isEqualTo(2);
    assertThat(err.toString())
        .contains("admin.key", "has 7 characters", "server.host is 0.0.0.0", "openssl rand")
        .doesNotContain("hf_tour");
    assertThat(run("--set", "admin.key=" + "k".repeat(32), "--set", "server.host=0.0.0.0"))
        .isZero();
    assertThat(out.toString())
        .contains("  secrets    sealed with wax", "  warning    the wax is soft");
  }

  @Test
  void it_stops_when_asked_and_ends_with_0() {
    assertThat(run()).isZero();
    assertThat(happened).containsExactly("started", "stopped");
  }

  @Test
  void a_server_that_does_not_stop_is_left_after_the_time_out() {
    stopped = Promise.<Void>promise().future();
    assertThat(run("--set", "delivery.timeout=10ms")).isEqualTo(1);
    assertThat(happened).containsExactly("started", "stopped");
  }

  @Test
  void its_options_are_settings() {
    run("--port", "9090", "--data", "x", "--set", "retry.max=3");
    Settings settings = Objects.requireNonNull(started);
    assertThat(settings.get(Settings.SERVER_PORT)).isEqualTo(9090);
    assertThat(settings.get(Settings.DATA)).hasToString("x");
    assertThat(settings.get(Settings.RETRY_MAX)).isEqualTo(3);
    assertThat(settings.get(Settings.RETRY_UNIT)).hasSeconds(7);
  }

  @Test
  void wrong_settings_end_it_with_2_before_anything_starts() {
    assertThat(run("--port", "x", "--config", "absent", "--set", "retry.maxx=3")).isEqualTo(2);
    assertThat(err.toString())
        .contains("3 problems", "server.port", "absent", "retry.maxx", "did you mean retry.max?")
        .doesNotContain("\tat ");
    assertThat(out.toString()).isEmpty();
    assertThat(happened).isEmpty();
  }

  @Test
  void what_prevents_the_start_is_told_in_one_line_and_ends_it_with_1() {
    obstacle = new CannotStart("the dog ate it.");
    assertThat(run()).isEqualTo(1);
    assertThat(err.toString()).isEqualTo("Holdfast did not start: the dog ate it.%n".formatted());
    assertThat(out.toString()).isEmpty();
  }

  private int run(String... arguments) {
    StopSignal stop = new StopSignal();
    stop.ask();
    Serve serve =
        new Serve(Map.of("HOLDFAST_RETRY_UNIT", "7s"), this::start, () -> stop, Duration.ZERO);
    CommandLine line = new CommandLine(serve);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }

  private Server start(Settings settings, PrintWriter to) throws CannotStart {
    if (obstacle != null) {
      throw obstacle;
    }
    started = settings;
    happened.add("started");
    return new Server() {
      @Override
      public int port() {
        return 4711;
      }

      @Override
      public String adminKey() {
        return "under the mat";
      }

      @Override
      public String masterKey() {
        return "sealed with wax";
      }

      @Override
      public List<String> warnings() {
        return List.of("the wax is soft");
      }

      @Override
      public Future<Void> stop() {
        happened.add("stopped");
        return stopped;
      }
    };
  }
}
