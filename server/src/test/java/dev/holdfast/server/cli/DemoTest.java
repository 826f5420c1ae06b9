package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Timeout(120)
class DemoTest {
  private static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));

  @TempDir private Path directory = Path.of("");

  private @Nullable Process process;

  @AfterEach
  void end() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  @Test
  void it_tells_what_to_open_and_what_to_expect_and_ends_by_itself_with_nothing_left()
      throws Exception {
    Set<Path> before = left();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(run(out, err, "--port", "0", "--seconds", "3")).as(err.toString()).isZero();
    assertThat(err.toString()).isEmpty();
    assertThat(out.toString())
        .containsPattern("http://127\\.0\\.0\\.1:\\d+/sign-in#key=hf_[a-z0-9_]+\\R")
        .contains("1,440 times as fast", "a second is 24 minutes", "Ctrl-C")
        .containsPattern("events +\\d+ accepted")
        .containsPattern("messages +[0-9,]+ made of them: [0-9,]+ delivered")
        .containsPattern("endpoints +\\d+ enabled, \\d+ disabled, \\d+ frozen")
        .contains("Nothing was lost")
        .doesNotContain("\tat ");
    for (DemoReceiver receiver : DemoReceiver.cast()) {
      assertThat(out.toString()).contains(receiver.name(), receiver.does());
    }
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 110);
    assertThat(left()).isEqualTo(before);
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("demo events"));
  }

  @Test
  void ctrl_c_ends_it_with_a_summary_and_0_and_removes_its_directory() throws Exception {
    Process demo = start("demo", "--port", "0");
    BufferedReader out = demo.inputReader(StandardCharsets.UTF_8);
    String line;
    do {
      line = out.readLine();
    } while (line != null && !line.startsWith("What you will see"));
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).anyMatch(file -> file.getFileName().toString().startsWith("holdfast-demo"));
    }
    assertThat(
            new ProcessBuilder("kill", "-INT", Long.toString(demo.pid()))
                .inheritIO()
                .start()
                .waitFor())
        .isZero();
    boolean isEnded = demo.waitFor(60, TimeUnit.SECONDS);
    if (!isEnded) {
      demo.destroyForcibly();
    }
    assertThat(isEnded).as("ends by SIGINT, which shells have background jobs ignore").isTrue();
    List<String> rest = out.lines().toList();
    assertThat(demo.exitValue()).isZero();
    assertThat(rest).anyMatch(one -> one.startsWith("Nothing was lost"));
    assertThat(rest).noneMatch(one -> one.startsWith("\tat "));
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files)
          .noneMatch(file -> file.getFileName().toString().startsWith("holdfast-demo"));
    }
  }

  @Test
  void a_port_that_is_asked_for_and_taken_is_told() throws Exception {
    Set<Path> before = left();
    StringWriter err = new StringWriter();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(run(new StringWriter(), err, "--port", "" + taken.getLocalPort())).isEqualTo(1);
      assertThat(err.toString())
          .startsWith("The demo did not start: Port " + taken.getLocalPort())
          .contains("--port")
          .hasLineCount(1);
    }
    assertThat(left()).isEqualTo(before);
  }

  @Test
  void with_the_same_seed_events_are_the_same() {
    assertThat(events(1)).isEqualTo(events(1)).isNotEqualTo(events(2));
  }

  @Test
  void events_are_of_many_types_with_subjects_and_data() {
    Set<String> types = new HashSet<>();
    for (String text : events(7)) {
      Item event = Objects.requireNonNull(Item.read(text));
      types.add(event.text("type"));
      assertThat(event.text("subject")).as(text).isNotEmpty();
      assertThat(event.object("data").node().size()).as(text).isGreaterThanOrEqualTo(3);
    }
    assertThat(types)
        .contains("order.created", "invoice.paid", "timesheet.approved", "user.joined");
    assertThat(types.size()).isGreaterThanOrEqualTo(15);
  }

  private static List<String> events(long seed) {
    DemoEvents events = new DemoEvents(seed);
    return IntStream.range(0, 500).mapToObj(_ -> events.next()).toList();
  }

  @Test
  void there_are_always_20_to_50_events_a_second() {
    assertThat(IntStream.range(0, 200).mapToDouble(DemoStream::perSecond).boxed())
        .allMatch(rate -> rate >= 20 && rate <= 50);
  }

  @Test
  void times_of_the_rules_are_divided_and_48_hours_are_two_minutes() {
    assertThat(DemoTime.settings())
        .contains("retry.unit=59ms", "circuit.probe-every=417ms", "circuit.freeze-silence=90000ms");
    assertThat(DemoTime.at(Duration.ofSeconds(120))).isEqualTo("  2:00  day 3 00:00");
    assertThat(DemoTime.at(Duration.ofMillis(-5))).isEqualTo("  0:00  day 1 00:00");
  }

  @Test
  void one_receiver_is_down_for_a_while_and_one_dies_and_one_asks_for_patience() {
    assertThat(answered("warehouse-down-and-back", 14)).isEqualTo(200);
    assertThat(answered("warehouse-down-and-back", 15)).isEqualTo(503);
    assertThat(answered("warehouse-down-and-back", 55)).isEqualTo(200);
    assertThat(answered(DemoReceiver.DYING, 49)).isEqualTo(200);
    assertThat(answered(DemoReceiver.DYING, 50)).isEqualTo(500);
    assertThat(answered(DemoReceiver.DYING, 200)).isEqualTo(200);
    DemoReceiver limited = receiver("mail-rate-limits");
    SplittableRandom random = new SplittableRandom(1);
    List<DemoReceiver.Answer> answers =
        IntStream.range(0, 11)
            .mapToObj(_ -> limited.behaviour().to(Duration.ofSeconds(5), random))
            .toList();
    assertThat(answers.subList(0, 10)).allMatch(DemoReceiver.Answer.Status.class::isInstance);
    assertThat(answers.getLast()).isInstanceOf(DemoReceiver.Answer.Later.class);
  }

  private static int answered(String name, int second) {
    return receiver(name).behaviour().to(Duration.ofSeconds(second), new SplittableRandom(1))
            instanceof DemoReceiver.Answer.Status answer
        ? answer.status()
        : 0;
  }

  private static DemoReceiver receiver(String name) {
    return DemoReceiver.cast().stream()
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void each_change_of_state_is_a_line_with_the_time_of_the_demo_in_plain_words() throws Exception {
    Instant start = Instant.parse("2026-03-01T12:00:00Z");
    StringWriter told = new StringWriter();
    try (FakeApi server = new FakeApi();
        ApiClient api = new ApiClient(URI.create(server.url()), null, null, null)) {
      String list = "GET /v1/endpoints?limit=1000";
      String changes = "GET /v1/endpoints/ep_1/changes?limit=20";
      server
          .on(list, 200, endpoint("12:00:00", "enabled", 0))
          .on(list, 200, endpoint("12:00:30", "disabled", 40))
          .on(list, 200, endpoint("12:01:00", "enabled", 25))
          .on(list, 200, endpoint("12:01:00", "enabled", 1))
          .on(list, 200, endpoint("12:03:20", "frozen", 1));
      server
          .on(changes, 200, changes("12:00:00 enabled created"))
          .on(changes, 200, changes("12:00:30 disabled failure-rate", "12:00:00 enabled created"))
          .on(changes, 200, changes("12:01:00 enabled probe-succeeded"))
          .on(changes, 200, changes("12:03:20 frozen silence", "12:01:30 disabled operator"));
      DemoStory story = new DemoStory(api, new PrintWriter(told), start);
      for (int look = 0; look < 5; look++) {
        story.look(start.plusSeconds(62));
      }
    }
    assertThat(told.toString().lines())
        .containsExactly(
            "  0:30  day 1 12:00  shop-fails                 is disabled: over 70 % failed. Probed every 10 minutes.",
            "  1:00  day 2 00:00  shop-fails                 is enabled: a probe was answered. A backlog of 40 drains.",
            "  1:02  day 2 00:48  shop-fails                 has caught up: a backlog of 40 is delivered.",
            "  1:30  day 2 12:00  shop-fails                 was disabled by hand: no probes until it is enabled by hand.",
            "  3:20  day 4 08:00  shop-fails                 is frozen: no success for 36 hours. Only people can enable it.");
  }

  private static String endpoint(String since, String state, int waiting) {
    return """
    {"items":[{"id":"ep_1","url":"http://127.0.0.1:9/shop-fails","state":"%s",
    "since":"2026-03-01T%sZ","pending":0,"waiting":%d,"parked":0}],"next":null}
    """
        .formatted(state, since, waiting);
  }

  /**
   * @param changes each a time, a state and a reason
   */
  private static String changes(String... changes) {
    return Stream.of(changes)
        .map(change -> change.split(" ", 3))
        .map(
            part ->
                "{\"at\":\"2026-03-01T%sZ\",\"state\":\"%s\",\"reason\":\"%s\"}"
                    .formatted((Object[]) part))
        .collect(Collectors.joining(",", "{\"items\":[", "],\"next\":null}"));
  }

  @Test
  void sums_are_complete_when_every_message_is_accounted_for() {
    DemoSums sums =
        DemoSums.read(
            """
            # TYPE holdfast_messages_accepted counter
            holdfast_events_accepted_total 5.0
            holdfast_messages_accepted_total 12.0
            holdfast_messages_finished_total{status="delivered"} 7.0
            holdfast_messages_finished_total{status="dropped"} 1.0
            holdfast_messages_dropped_total{reason="expired"} 1.0
            holdfast_messages_unfinished{status="parked"} 3.0
            holdfast_messages_unfinished{status="waiting"} 1.0
            """);
    assertThat(sums).isEqualTo(new DemoSums(5, 12, 7, 1, 4));
    assertThat(sums.isComplete(5)).isTrue();
    assertThat(sums.isComplete(6)).isFalse();
    assertThat(new DemoSums(5, 12, 7, 1, 3).isComplete(5)).isFalse();
  }

  private static int run(StringWriter out, StringWriter err, String... arguments) {
    CommandLine line =
        new CommandLine(new Demo(InstantSource.system(), StopSignal::new))
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }

  private static Set<Path> left() throws IOException {
    try (Stream<Path> files = Files.list(TEMPORARY)) {
      return new HashSet<>(
          files.filter(file -> file.getFileName().toString().startsWith("holdfast-demo")).toList());
    }
  }

  private Process start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("-Djava.io.tmpdir=" + directory);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    // Settings of whoever runs the tests are not the test's.
    builder.environment().keySet().removeIf(name -> name.startsWith("HOLDFAST_"));
    process = builder.start();
    return process;
  }
}
