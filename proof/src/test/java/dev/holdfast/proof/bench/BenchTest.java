package dev.holdfast.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The benchmark with tiny counts. No figure of time or speed is looked at.
 *
 * <p>Each scenario starts several processes; those that start many run only with {@code
 * -Dholdfast.slow=true}.
 */
@Execution(ExecutionMode.CONCURRENT)
class BenchTest {
  @TempDir Path directory;

  @Test
  void a_server_delivers_everything_it_accepts_and_nothing_is_left_behind() throws IOException {
    assertThat(bench("batch", "--set", "retry.unit=1s")).isZero();

    assertThat(figure("batch", "accepted")).isPositive();
    assertThat(figure("batch", "accepted and not arrived")).isZero();
    assertThat(figure("batch", "share of the bare client")).isPositive();
    assertThat(figure("reference", "bare client, posts per second, 1,024 bytes of data"))
        .isPositive();
    assertThat(data()).isEmptyDirectory();
  }

  @Test
  void large_events_and_those_that_many_want_arrive_everywhere() throws IOException {
    assertThat(bench("large,fan-out", "--endpoints", "20")).isZero();

    for (String scenario : List.of("large", "fan-out")) {
      assertThat(figure(scenario, "accepted")).isPositive();
      assertThat(figure(scenario, "accepted and not arrived")).isZero();
      assertThat(figure(scenario, "arrived more than once")).isZero();
    }
  }

  @Test
  void how_long_messages_take_is_measured_at_parts_of_the_throughput() throws IOException {
    assertThat(bench("latency", "--rate", "0")).isZero();

    for (String part : List.of("10 %", "50 %", "80 %")) {
      assertThat(figure("latency", part + ", POST to arrival, p99.9")).isPositive();
    }
    assertThat(figure("latency", "accepted and not arrived")).isZero();
  }

  @Test
  void a_server_delivers_over_https_on_kept_and_on_new_connections() throws IOException {
    assertThat(bench("https,https-cold", "--set", "retry.unit=1s")).isZero();

    for (String scenario : List.of("https", "https-cold")) {
      assertThat(figure(scenario, "delivered per second, HTTP")).isNotNegative();
      assertThat(figure(scenario, "delivered per second, HTTPS")).isNotNegative();
      assertThat(figure(scenario, "accepted")).isPositive();
      assertThat(figure(scenario, "accepted and not arrived")).isZero();
    }
  }

  @Test
  void a_server_delivers_with_and_without_signatures() throws IOException {
    assertThat(bench("signed")).isZero();

    assertThat(figure("signed", "accepted")).isPositive();
    assertThat(figure("signed", "accepted and not arrived")).isZero();
  }

  @Test
  @EnabledIfSystemProperty(named = "holdfast.slow", matches = "true")
  void a_server_delivers_what_hung_and_what_waited() throws IOException {
    assertThat(
            bench(
                "isolation,waiting",
                "--waiting",
                "500",
                "--claims",
                "100",
                "--set",
                "retry.unit=1s"))
        .isZero();

    for (String scenario : List.of("isolation", "waiting")) {
      assertThat(figure(scenario, "accepted")).isPositive();
      assertThat(figure(scenario, "accepted and not arrived")).isZero();
    }
    assertThat(figure("isolation", "attempts that hung")).isPositive();
    assertThat(figure("isolation", "attempts that failed")).isPositive();
    assertThat(figure("waiting", "due retries per second, beside 500")).isPositive();
  }

  @Test
  @EnabledIfSystemProperty(named = "holdfast.slow", matches = "true")
  void servers_deliver_what_they_keep_in_a_database() throws IOException {
    assertThat(
            bench(
                "batch,latency,trips,cluster,history,soak",
                "--store",
                "own",
                "--history",
                "1000",
                "--soak",
                "2"))
        .isZero();

    for (String scenario : List.of("batch", "latency", "trips", "cluster", "soak")) {
      assertThat(figure(scenario, "accepted")).isPositive();
      assertThat(figure(scenario, "accepted and not arrived")).isZero();
    }
    assertThat(figure("trips", "round trips per 100 messages")).isPositive();
    assertThat(figure("history", "full / empty")).isPositive();
    assertThat(data()).isEmptyDirectory();
  }

  @Test
  void a_scenario_for_another_store_is_refused() {
    assertThat(new CommandLine(new Bench()).execute("--scenario", "cluster")).isEqualTo(2);
    assertThat(new CommandLine(new Bench()).execute("--scenario", "waiting", "--store", "own"))
        .isEqualTo(2);
  }

  @Test
  void what_is_lost_or_comes_twice_shows() throws IOException {
    assertThat(
            bench(
                "single",
                "--server-main",
                FakeServer.class.getName(),
                "--set",
                "fake.lose=3",
                "--set",
                "fake.repeat=4",
                "--longest-drain",
                "1"))
        .isEqualTo(1);

    assertThat(figure("single", "accepted and not arrived")).isPositive();
    assertThat(figure("single", "arrived more than once")).isPositive();
    assertThat(report().path("failures").toString()).contains("did not arrive");
  }

  @Test
  void a_server_that_does_not_start_is_told_with_its_log() throws IOException {
    assertThat(bench("single", "--server-main", "no.such.Main")).isEqualTo(1);

    assertThat(report().path("failures").toString()).contains("ClassNotFoundException");
    assertThat(data()).isEmptyDirectory();
  }

  @Test
  void who_wants_an_event_is_found_in_each_shape() throws IOException {
    assertThat(bench("match", "--subscriptions", "1000")).isZero();

    assertThat(figure("match", "many types and subjects, 1,000")).isPositive();
    assertThat(figure("match", "one type, told apart by an eq filter, 1,000")).isPositive();
    assertThat(figure("match", "one type, range filters only, 1,000")).isPositive();
  }

  @Test
  void an_unknown_scenario_is_refused() {
    assertThat(new CommandLine(new Bench()).execute("--scenario", "nonsense")).isEqualTo(2);
  }

  private int bench(String scenarios, String... more) {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--scenario", scenarios, "--json", json().toString()));
    arguments.addAll(List.of("--data", data().toString(), "--quick"));
    arguments.addAll(List.of("--seconds", "1", "--warm-up", "0", "--connections", "8"));
    arguments.addAll(List.of("--batch-connections", "2", "--batch", "10", "--endpoints", "4"));
    arguments.addAll(List.of("--rate", "100", "--max-undelivered", "100"));
    // These processes live for seconds: what they do is not worth compiling twice.
    arguments.add("--helper-flag=-XX:TieredStopAtLevel=1");
    arguments.add("--server-flag=-XX:TieredStopAtLevel=1");
    arguments.addAll(List.of(more));
    return new CommandLine(new Bench())
        .setOverwrittenOptionsAllowed(true)
        .execute(arguments.toArray(String[]::new));
  }

  private Path json() {
    return directory.resolve("report.json");
  }

  private Path data() {
    return directory.resolve("data");
  }

  private JsonNode report() throws IOException {
    return JsonMapper.shared().readTree(Files.readString(json()));
  }

  private double figure(String scenario, String name) throws IOException {
    return figures()
        .filter(each -> each.path("scenario").asString().equals(scenario))
        .filter(each -> each.path("figure").asString().equals(name))
        .mapToDouble(each -> each.path("value").asDouble())
        .findFirst()
        .orElseThrow();
  }

  private Stream<JsonNode> figures() throws IOException {
    return report().path("figures").valueStream();
  }
}
