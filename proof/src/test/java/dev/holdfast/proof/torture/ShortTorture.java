package dev.holdfast.proof.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** One scenario of the torture, played in a test's own directory. */
record ShortTorture(Path directory) {

  /** Plays it, and shows what was not proven. */
  void prove(String scenario, int cycles) throws IOException {
    int code = play(scenario, cycles);
    assertThat(failures()).isEqualTo("[]");
    assertThat(code).isZero();
  }

  int play(String scenario, int cycles) {
    int code =
        new CommandLine(new Torture())
            .execute(
                "--only",
                scenario,
                "--cycles",
                Integer.toString(cycles),
                "--hostile",
                "50",
                "--longest-attempt",
                "60000",
                "--dir",
                directory.resolve("data").toString(),
                "--json",
                json().toString());
    assertThat(directory.resolve("data")).isEmptyDirectory();
    return code;
  }

  String failures() throws IOException {
    return report().path("failures").toString();
  }

  double figure(String scenario, String name) throws IOException {
    return report()
        .path("figures")
        .valueStream()
        .filter(each -> each.path("scenario").asString().equals(scenario))
        .filter(each -> each.path("figure").asString().equals(name))
        .mapToDouble(each -> each.path("value").asDouble())
        .findFirst()
        .orElseThrow();
  }

  private JsonNode report() throws IOException {
    return JsonMapper.shared().readTree(Files.readString(json()));
  }

  private Path json() {
    return directory.resolve("report.json");
  }
}
