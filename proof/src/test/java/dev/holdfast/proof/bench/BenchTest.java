package dev.holdfast.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
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

  /** One run, so that what they are compared with is measured once. */
  @Test
  void a_server_delivers_everything_it_accepts_and_nothing_is_left_behind() throws IOException {
    Path html = directory.resolve("report.html");
    List<String> scenarios =
        List.of("batch", "large", "fan-out", "signed", "https", "https-cold", "cost", "recovery");
    assertThat(
            bench(
                String.join(",", scenarios),
                "--endpoints",
                "20",
                "--many-endpoints",
                "50",
                "--parked",
                "200",
                "--set",
                "retry.unit=1s",
                "--html",
                html.toString()))
        .isZero();

    for (String scenario : scenarios) {
      assertThat(figure(scenario, "accepted")).isPositive();
      assertThat(figure(scenario, "accepted and not arrived")).isZero();
    }
    for (String scenario : List.of("large", "fan-out")) {
      assertThat(figure(scenario, "arrived more than once")).isZero();
    }
    for (String scenario : List.of("https", "https-cold")) {
      assertThat(figure(scenario, "delivered per second, HTTP")).isNotNegative();
      assertThat(figure(scenario, "delivered per second, HTTPS")).isNotNegative();
    }
    for (String load : List.of("batches", "batches to 50 endpoints", "batches, caller-given ids")) {
      assertThat(figure("cost", load + ", written, times the payload")).isPositive();
    }
    assertThat(figure("recovery", "drained per second")).isPositive();
    assertThat(figure("recovery", "accepted")).isGreaterThan(200);
    assertThat(report().path("series").findValuesAsString("name"))
        .contains("before", "while it drains");
    assertThat(html)
        .content()
        .contains("<h2>batch</h2>", "POST to arrival at others, ms</figcaption>");
    assertThat(figure("batch", "share of the bare client")).isPositive();
    assertThat(figure("batch", "bare client in turns with it")).isPositive();
    assertThat(data()).isEmptyDirectory();
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
  @EnabledIfSystemProperty(named = "holdfast.slow", matches = "true")
  void a_server_starts_and_delivers_beside_what_a_store_has() throws IOException {
    assertThat(
            bench(
                "long-tail,history,start",
                "--many-endpoints",
                "60",
                "--subscriptions",
                "300",
                "--history",
                "20000"))
        .isZero();

    for (String scenario : List.of("long-tail", "history")) {
      assertThat(figure(scenario, "accepted")).isPositive();
      assertThat(figure(scenario, "accepted and not arrived")).isZero();
    }
    assertThat(figure("long-tail", "300 subscriptions, POST to arrival, p99.9")).isPositive();
    assertThat(figure("history", "finished messages removed in its turns"))
        .isBetween(1.0, 20_000.0);
    assertThat(figure("start", "without the cache, a subscription there, first delivery"))
        .isPositive();
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
                // Of four, one node may happen to have all.
                "--endpoints",
                "40",
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
                "--seconds",
                "2",
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
    assertThat(report().path("series").findValuesAsString("name"))
        .contains("accepted", "delivered");
  }

  @Test
  void a_server_that_has_no_room_left_has_no_figures() throws IOException {
    assertThat(
            bench("single", "--server-main", FakeServer.class.getName(), "--set", "fake.room=50"))
        .isEqualTo(1);

    assertThat(report().path("failures").toString())
        .contains("single: the server could not take events; choose a disk with more room");
    assertThat(report().path("figures").findValuesAsString("scenario")).containsOnly("reference");
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
  void a_file_that_cannot_be_written_is_refused_before_anything_is_measured() {
    String nowhere = directory.resolve("nowhere").resolve("report.html").toString();

    assertThat(new CommandLine(new Bench()).execute("--html", nowhere)).isEqualTo(2);
    assertThat(new CommandLine(new Bench()).execute("--json", nowhere)).isEqualTo(2);
  }

  @Test
  void two_builds_have_their_turns_and_their_figures_are_paired() throws IOException {
    Path base = checkout(System.getProperty("java.class.path"));

    assertThat(bench("single", "--compare", base.toString(), "--rounds", "1")).isZero();

    JsonNode delivered = report().path("comparisons").get(0);
    assertThat(delivered.path("figure").asString()).isEqualTo("delivered per second");
    assertThat(delivered.path("baseValues")).hasSize(1);
    assertThat(delivered.path("thisValues")).hasSize(1);
    assertThat(delivered.path("verdict").asString()).startsWith("too few rounds");
    assertThat(report().path("notes").toString()).contains("nothing can be shown");
    assertThat(data()).isEmptyDirectory();
  }

  @Test
  void the_base_is_served_from_its_own_class_path() throws IOException {
    Path base = checkout("");

    assertThat(bench("single", "--compare", base.toString(), "--rounds", "1")).isEqualTo(1);

    assertThat(report().path("failures")).hasSize(1);
    assertThat(report().path("failures").get(0).asString())
        .startsWith("round 1 of 1, base: single:")
        .contains("ClassNotFoundException");
  }

  @Test
  void a_base_that_is_not_built_or_not_there_is_told_with_what_to_do() throws IOException {
    Path base = Files.createDirectory(directory.resolve("base"));
    assertThat(bench("single", "--compare", base.toString())).isEqualTo(1);
    assertThat(report().path("failures").toString()).contains("no checkout of Holdfast");

    Files.createFile(base.resolve("holdfast"));
    assertThat(bench("single", "--compare", base.toString())).isEqualTo(1);
    assertThat(report().path("failures").toString()).contains("run ./holdfast version there");

    assertThat(bench("single", "--compare", "no-such-revision")).isEqualTo(1);
    assertThat(report().path("failures").toString()).contains("no-such-revision");
  }

  @Test
  void what_cannot_be_compared_is_refused() {
    assertThat(new CommandLine(new Bench()).execute("--compare", ".", "--scenario", "match"))
        .isEqualTo(2);
    assertThat(new CommandLine(new Bench()).execute("--compare", ".", "--rounds", "0"))
        .isEqualTo(2);
  }

  /** What looks like a checkout that is built; its jar leads to a class path. */
  private Path checkout(String classPath) throws IOException {
    Path root = directory.resolve("base");
    Path lib = Files.createDirectories(root.resolve("proof/target/lib"));
    Files.createFile(root.resolve("holdfast"));
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    String entries =
        Stream.of(classPath.split(File.pathSeparator, -1))
            .filter(entry -> !entry.isEmpty())
            .map(entry -> Path.of(entry).toUri().toString())
            .collect(Collectors.joining(" "));
    manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, entries);
    Path jar = lib.resolve("holdfast-server-0.jar");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return root;
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
