package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void help_lists_the_commands_and_the_exit_codes() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString())
        .contains("serve", "listen", "settings", "version", "Examples:", "Exit codes: 0");
    assertThat(err.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "serve",
        "demo",
        "listen",
        "send",
        "messages",
        "messages list",
        "messages show",
        "messages retry",
        "subscriptions",
        "subscriptions list",
        "subscriptions export",
        "subscriptions import",
        "endpoints",
        "endpoints list",
        "endpoints show",
        "endpoints enable",
        "endpoints disable",
        "endpoints freeze",
        "endpoints test",
        "replay",
        "key",
        "key create",
        "key list",
        "key revoke",
        "doctor",
        "check",
        "settings",
        "version",
        "completion"
      })
  void every_command_has_help_with_an_example(String command) {
    assertThat(run((command + " --help").split(" ", -1))).isZero();
    assertThat(out.toString())
        .contains("Usage: holdfast " + command, "Example", "./holdfast " + command);
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void the_help_of_serve_points_to_the_settings() {
    run("serve", "--help");
    assertThat(out.toString()).contains("./holdfast settings", "--config", "--set", "--port");
  }

  @Test
  void no_command_is_wrong_usage() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("Which command?", "Usage: holdfast");
  }

  @Test
  void an_unknown_command_is_wrong_usage_and_the_right_one_suggested() {
    assertThat(run("serv")).isEqualTo(2);
    assertThat(err.toString()).contains("'serv'", "Did you mean serve?");
  }

  @Test
  void an_unknown_option_is_wrong_usage() {
    assertThat(run("serve", "--prot", "1")).isEqualTo(2);
    assertThat(err.toString())
        .contains("'--prot'", "Did you mean --port?", "Try ./holdfast serve --help")
        .doesNotContain("\tat ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--port=x",
        "--port=70000",
        "--status=7",
        "--delay=5",
        "--fail-first=-1",
        "--body=x"
      })
  void a_bad_value_of_an_option_is_wrong_usage(String option) {
    assertThat(run("listen", option)).isEqualTo(2);
    assertThat(err.toString())
        .contains(option.substring(0, option.indexOf('=')))
        .contains("Try ./holdfast listen --help");
  }

  @Test
  void a_number_that_is_none_is_told_as_a_person_would() {
    assertThat(run("extra", "--times", "x1")).isEqualTo(2);
    assertThat(err.toString()).contains("--times", "'x1' is not a whole number such as 100");
    assertThat(run("extra", "--times", "99999999999")).isEqualTo(2);
    assertThat(err.toString()).contains("'99999999999' is too large a number");
  }

  @Test
  void a_key_on_the_command_line_is_refused_and_not_repeated() {
    for (String[] arguments :
        List.of(
            new String[] {"send", "--type", "t", "--key", "hf_secret"},
            new String[] {"send", "--type", "t", "--key=hf_secret"})) {
      assertThat(run(arguments)).isEqualTo(2);
      assertThat(err.toString())
          .contains("There is no option '--key'.", "Did you mean --key-file?")
          .doesNotContain("hf_secret");
    }
  }

  @Test
  void a_word_that_is_no_choice_is_told_with_those_that_are() {
    assertThat(run("endpoints", "--state", "broken")).isEqualTo(2);
    assertThat(err.toString()).contains("'broken' is none of enabled, disabled, frozen");
  }

  @Test
  void an_argument_too_many_is_told() {
    assertThat(run("version", "now")).isEqualTo(2);
    assertThat(err.toString()).contains("'now' is one argument too many.");
  }

  @Test
  void a_port_that_is_taken_is_told_in_one_line() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(run("listen", "--port", "" + taken.getLocalPort())).isEqualTo(1);
      assertThat(err.toString())
          .isEqualTo(
              "Port %d on 127.0.0.1 is in use. End what uses it, or choose another with --port.%n"
                  .formatted(taken.getLocalPort()));
    }
  }

  @Test
  void an_address_of_another_machine_is_told_in_one_line() {
    assertThat(run("listen", "--port", "0", "--host", "192.0.2.1")).isEqualTo(1);
    assertThat(err.toString()).contains("192.0.2.1 is no address of this machine").hasLineCount(1);
  }

  @Test
  void settings_lists_every_setting_with_its_default() {
    assertThat(run("settings")).isZero();
    assertThat(Settings.catalogue())
        .allSatisfy(
            setting ->
                assertThat(out.toString().lines())
                    .anySatisfy(
                        line ->
                            assertThat(line)
                                .startsWith(setting.key() + " ")
                                .contains(" " + setting.defaultText() + " ")));
    assertThat(out.toString()).contains("HOLDFAST_JAVA_OPTS");
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void version_tells_the_version() {
    assertThat(run("version")).isZero();
    assertThat(out.toString()).matches("(?s)Holdfast \\d+\\.\\d+\\.\\d+\\S*\\RJava 25.*");
  }

  @Command(name = "extra", description = "From another module.")
  static final class Extra implements Runnable {
    @Option(names = "--times")
    @SuppressWarnings("UnusedVariable")
    private int times;

    @Override
    public void run() {
      throw new IllegalStateException("nobody foresaw this");
    }
  }

  @Test
  void another_module_can_add_commands() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("extra", "From another module.");
    assertThat(run("extra", "--help")).isZero();
  }

  @Test
  void what_nobody_foresaw_is_a_failure() {
    assertThat(run("extra")).isEqualTo(1);
    assertThat(err.toString()).contains("nobody foresaw this");
  }

  private int run(String... arguments) {
    CommandLine line = Main.commandLine(List.of(new Extra()));
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }
}
