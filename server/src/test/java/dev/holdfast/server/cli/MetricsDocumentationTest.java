package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.Settings.Sources;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whether the documentation, the alerts and the dashboard speak of the metrics that there are. */
@Timeout(60)
class MetricsDocumentationTest {
  private static final Path DOCS = Path.of("..", "docs");
  private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (\\w+) (\\w+)$");
  private static final Pattern OURS =
      Pattern.compile("(?m)^\\| `(holdfast_\\w+)` \\| (\\w+) \\| ((?:`\\w+` ?)*)\\| (.+) \\|$");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^(holdfast_\\w+)(?:\\{([^}]*)})? ");
  private static final Pattern IN_QUERY =
      Pattern.compile("\\b(?:holdfast|jvm|process|system)_[a-z0-9_]+");
  private static final Pattern SELECTOR = Pattern.compile("\\b(holdfast_\\w+)\\{([^}]*)}");

  private static final Map<String, String> served = new TreeMap<>();
  private static final Map<String, Map<String, Set<String>>> labels = new TreeMap<>();

  @BeforeAll
  static void scrape(@TempDir Path data) throws Exception {
    Server server =
        Wiring.start(
            Settings.read(
                new Sources(
                    null,
                    Map.of("HOLDFAST_DATA", data.toString()),
                    List.of("admin.key=k", "server.port=0"),
                    Map.of())),
            InstantSource.system(),
            new PrintWriter(Writer.nullWriter(), true));
    try (HttpClient client = HttpClient.newHttpClient()) {
      System.gc();
      String text = "";
      while (!text.contains("jvm_gc_pause_seconds_max")) {
        text = scrape(client, server);
      }
      Matcher type = TYPE.matcher(text);
      while (type.find()) {
        served.put(type.group(1), type.group(2));
      }
      Matcher sample = SAMPLE.matcher(text);
      while (sample.find()) {
        String name = family(sample.group(1));
        Map<String, Set<String>> known = labels.computeIfAbsent(name, _ -> new TreeMap<>());
        if (sample.group(2) != null) {
          Matcher label = LABEL.matcher(sample.group(2));
          while (label.find()) {
            if (!label.group(1).equals("le")) {
              known.computeIfAbsent(label.group(1), _ -> new TreeSet<>()).add(label.group(2));
            }
          }
        }
      }
    } finally {
      server.stop().await();
    }
    assertThat(served).containsKey("holdfast_attempts_total");
  }

  private static String scrape(HttpClient client, Server server) throws Exception {
    URI metrics = URI.create("http://127.0.0.1:" + server.port() + "/metrics");
    HttpRequest request =
        HttpRequest.newBuilder(metrics).header("Authorization", "Bearer k").build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  /** The metric that a sample belongs to: a histogram's have endings of their own. */
  private static String family(String sample) {
    String family = sample.replaceFirst("_(bucket|sum|count)$", "");
    return "histogram".equals(served.get(family)) || "summary".equals(served.get(family))
        ? family
        : sample;
  }

  @Test
  void every_metric_of_ours_is_documented_with_its_type_and_labels_and_no_other() throws Exception {
    Map<String, String> documented = new TreeMap<>();
    Matcher row = OURS.matcher(docs("metrics.md"));
    while (row.find()) {
      String labelNames = row.group(3).replace("`", "").strip();
      documented.put(row.group(1), row.group(2) + " " + labelNames);
    }
    Map<String, String> real = new TreeMap<>();
    served.forEach(
        (name, type) -> {
          if (name.startsWith("holdfast_")) {
            real.put(name, type + " " + documentedOrder(name, documented));
          }
        });
    assertThat(documented).isEqualTo(real);
  }

  /** The labels that a metric has, in the order of the documentation if they are the same. */
  private static String documentedOrder(String name, Map<String, String> documented) {
    Set<String> real = labels.getOrDefault(name, Map.of()).keySet();
    List<String> told =
        List.of(documented.getOrDefault(name, "").replaceFirst("^\\w* ?", "").split(" ", -1));
    return new TreeSet<>(told).equals(real) ? String.join(" ", told) : String.join(" ", real);
  }

  @Test
  void every_metric_of_the_process_is_documented() throws Exception {
    String documentation = docs("metrics.md");
    for (String name : served.keySet()) {
      assertThat(documentation).contains("`" + name + "`");
    }
  }

  @Test
  void every_value_that_the_documentation_gives_for_a_label_is_told_and_real() throws Exception {
    Matcher row = OURS.matcher(docs("metrics.md"));
    while (row.find()) {
      Map<String, Set<String>> real = labels.getOrDefault(row.group(1), Map.of());
      if (real.size() == 1 && !row.group(1).equals("holdfast_http_refusals_total")) {
        for (String value : real.values().iterator().next()) {
          assertThat(row.group(4)).as(row.group(1)).contains("`" + value + "`");
        }
      }
    }
  }

  @Test
  void no_metric_has_an_endpoint_or_a_tenant_as_a_label() {
    labels.forEach(
        (name, known) -> assertThat(known.keySet()).as(name).doesNotContain("endpoint", "tenant"));
  }

  @Test
  void alerts_use_only_metrics_that_there_are() throws Exception {
    check(docs("alerts.yml").replaceAll("(?m)^\\s*(summary|runbook_url|#).*$", ""));
  }

  @Test
  void every_alert_has_a_severity_and_leads_to_its_entry_in_the_runbook() throws Exception {
    Set<String> entries = new TreeSet<>();
    Matcher heading = Pattern.compile("(?m)^## (\\w+)$").matcher(docs("runbook.md"));
    while (heading.find()) {
      entries.add(heading.group(1));
    }
    Set<String> alerts = new TreeSet<>();
    for (String rule : docs("alerts.yml").split("(?m)^      - alert: ", -1)) {
      if (!rule.startsWith("Holdfast")) {
        continue;
      }
      String name = rule.lines().findFirst().orElseThrow();
      alerts.add(name);
      assertThat(rule)
          .contains("expr: ")
          .containsPattern("severity: (critical|warning|info)\n")
          .contains("summary: ")
          .contains("runbook_url: docs/runbook.md#" + name.toLowerCase(Locale.ROOT) + "\n");
    }
    assertThat(alerts).hasSizeGreaterThan(10).isEqualTo(entries);
  }

  @Test
  void every_entry_of_the_runbook_says_what_it_means_where_to_look_and_what_to_do()
      throws Exception {
    for (String entry : docs("runbook.md").split("(?m)^## ", -1)) {
      if (entry.startsWith("Holdfast")) {
        assertThat(entry).contains("**Means:**", "**Look:**", "**Do:**");
      }
    }
    check(docs("runbook.md"));
  }

  @Test
  void the_dashboard_can_be_imported_and_uses_only_metrics_that_there_are() throws Exception {
    JsonNode dashboard = new JsonMapper().readTree(docs("grafana/holdfast.json"));
    assertThat(dashboard.get("title").asString()).isEqualTo("Holdfast");
    assertThat(dashboard.get("templating").get("list").get(0).get("type").asString())
        .isEqualTo("datasource");
    int queries = 0;
    for (JsonNode panel : dashboard.get("panels")) {
      if (panel.get("type").asString().equals("row")) {
        continue;
      }
      assertThat(panel.get("datasource").get("uid").asString()).isEqualTo("${datasource}");
      for (JsonNode target : panel.get("targets")) {
        check(target.get("expr").asString());
        queries++;
      }
    }
    assertThat(queries).isGreaterThan(20);
  }

  /** Checks all names, labels and values of labels in a text with queries. */
  private static void check(String text) {
    Matcher name = IN_QUERY.matcher(text);
    while (name.find()) {
      assertThat(served.keySet()).as("in " + text).contains(family(name.group()));
    }
    Matcher selector = SELECTOR.matcher(text);
    while (selector.find()) {
      Map<String, Set<String>> known = labels.get(family(selector.group(1)));
      Matcher label = Pattern.compile("(\\w+)(=~|=)\"([^\"]*)\"").matcher(selector.group(2));
      while (label.find()) {
        if (!Set.of("job", "instance").contains(label.group(1))) {
          Set<String> values = known == null ? null : known.get(label.group(1));
          for (String value : label.group(3).split("\\|", -1)) {
            assertThat(values).as(selector.group()).isNotNull().contains(value);
          }
        }
      }
    }
  }

  private static String docs(String name) throws IOException {
    return Files.readString(DOCS.resolve(name));
  }
}
