package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.OutputStreamAppender;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the log's lines look like, and that all of them are described. */
class LogLinesTest {
  private static final Pattern CALL =
      Pattern.compile(
          "\\b(?:log|LOG)(?:\\(\\))?\\s*\\.(?:error|warn|info|debug)\\(\\s*"
              + "((?:\"(?:[^\"\\\\]|\\\\.)*\"\\s*\\+?\\s*)+)");
  private static final Pattern PIECE = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern DOCUMENTED = Pattern.compile("(?m)^\\| `([a-z.-]+)` \\| (\\w+) \\|");
  private static final Set<String> OF_EVERY_LINE =
      Set.of("time", "level", "event", "logger", "thread", "exception");

  @Test
  void every_line_is_a_name_and_fields() throws Exception {
    for (String line : lines()) {
      JsonLines.Line parsed = JsonLines.line(line, null);
      assertThat(parsed.name()).as(line).isNotNull();
      assertThat(parsed.fields()).as(line).doesNotContainKeys(OF_EVERY_LINE.toArray(String[]::new));
    }
  }

  @Test
  void every_name_is_in_the_documentation_and_every_documented_name_is_logged() throws Exception {
    Set<String> logged = new TreeSet<>();
    for (String line : lines()) {
      String name = line.replaceFirst(" .*", "");
      if (name.equals("endpoint.{}")) {
        logged.addAll(List.of("endpoint.enabled", "endpoint.disabled", "endpoint.frozen"));
      } else {
        logged.add(name);
      }
    }
    Set<String> documented = new TreeSet<>();
    Matcher row = DOCUMENTED.matcher(Files.readString(Path.of("..", "docs", "logs.md")));
    while (row.find()) {
      documented.add(row.group(1));
    }
    assertThat(documented).isEqualTo(logged);
  }

  @Test
  void what_goes_wrong_says_what_happens_next() throws Exception {
    for (String call : calls("(?:error|warn)")) {
      assertThat(call).contains("next=");
    }
  }

  @Test
  void a_line_in_json_has_its_fields_and_numbers_stay_numbers() throws Exception {
    JsonNode line =
        logged(
            log ->
                log.warn(
                    "store.full times={} free={} ok={} detail=\"{}\" counted={}/{} next=\"x = \\{}\"",
                    3,
                    4L,
                    true,
                    "no \"room\"\nleft=1",
                    7,
                    9));
    assertThat(line.get("level").asString()).isEqualTo("WARN");
    assertThat(line.get("event").asString()).isEqualTo("store.full");
    assertThat(line.get("times").asInt()).isEqualTo(3);
    assertThat(line.get("times").isNumber()).isTrue();
    assertThat(line.get("free").isNumber()).isTrue();
    assertThat(line.get("ok").isBoolean()).isTrue();
    assertThat(line.get("detail").asString()).isEqualTo("no \"room\"\nleft=1");
    assertThat(line.get("counted").asString()).isEqualTo("7/9");
    assertThat(line.get("logger").asString()).isEqualTo("Test");
    assertThat(line.get("time").asString()).endsWith("Z");
    assertThat(line.has("exception")).isFalse();
  }

  @Test
  void a_name_may_have_a_part_that_is_put_in() {
    assertThat(JsonLines.line("endpoint.{} endpoint={}", new Object[] {"frozen", "ep_1"}))
        .isEqualTo(new JsonLines.Line("endpoint.frozen", Map.of("endpoint", "ep_1")));
  }

  @Test
  void an_exception_stays_in_its_line() throws Exception {
    JsonNode line =
        logged(log -> log.error("api.failed reference={}", "r", new IllegalStateException("why")));
    assertThat(line.get("reference").asString()).isEqualTo("r");
    assertThat(line.get("exception").asString()).contains("IllegalStateException: why\n");
  }

  @Test
  void a_line_of_a_library_is_a_message() throws Exception {
    JsonNode line = logged(log -> log.info("Connected to {} in {} ms", "x", 3));
    assertThat(line.get("message").asString()).isEqualTo("Connected to x in 3 ms");
    assertThat(line.has("event")).isFalse();
  }

  @Test
  void the_level_decides_what_is_told() {
    LoggerContext context = new LoggerContext();
    Logger ours = context.getLogger("dev.holdfast.engine.LoopRunner");
    Logger library = context.getLogger("library");
    context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);

    Logging.apply(context, Logging.Format.HUMAN, Logging.Level.DEBUG);
    assertThat(ours.isDebugEnabled()).isTrue();
    assertThat(library.isDebugEnabled()).isFalse();

    Logging.apply(context, Logging.Format.HUMAN, Logging.Level.ERROR);
    assertThat(ours.isWarnEnabled()).isFalse();
    assertThat(library.isWarnEnabled()).isFalse();
  }

  private interface Logs {
    void to(Logger log);
  }

  private static JsonNode logged(Logs logs) {
    LoggerContext context = new LoggerContext();
    context.setMDCAdapter(new LogbackMDCAdapter());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PatternLayoutEncoder human = new PatternLayoutEncoder();
    human.setContext(context);
    human.setPattern("%msg");
    human.start();
    OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();
    appender.setContext(context);
    appender.setName("stderr");
    appender.setEncoder(human);
    appender.setOutputStream(bytes);
    appender.start();
    context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).addAppender(appender);
    Logging.apply(context, Logging.Format.JSON, Logging.Level.INFO);
    logs.to(context.getLogger("dev.holdfast.Test"));
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertThat(text).hasLineCount(1).endsWith("\n");
    return new JsonMapper().readTree(text);
  }

  /** The text of every line that the program logs, as it stands in the sources. */
  private static List<String> lines() throws IOException {
    return calls("\\w+");
  }

  private static List<String> calls(String level) throws IOException {
    List<String> lines = new ArrayList<>();
    Pattern atLevel = Pattern.compile("(?s).*\\." + level + "\\($");
    for (String module : List.of("engine", "server")) {
      Path sources = Path.of("..", module, "src", "main", "java");
      try (Stream<Path> files = Files.walk(sources)) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          Matcher call = CALL.matcher(Files.readString(file));
          while (call.find()) {
            String before = call.group().substring(0, call.group().indexOf('"')).strip();
            if (atLevel.matcher(before).matches()) {
              lines.add(joined(call.group(1)));
            }
          }
        }
      }
    }
    assertThat(lines).hasSizeGreaterThan(5);
    return lines;
  }

  private static String joined(String literals) {
    StringBuilder text = new StringBuilder();
    Matcher piece = PIECE.matcher(literals);
    while (piece.find()) {
      text.append(piece.group(1).translateEscapes());
    }
    return text.toString();
  }
}
