package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CompletionTest {
  private final Typed typed = new Typed();

  @Test
  void bash_takes_the_script() throws Exception {
    assertThat(typed.run("completion", "bash")).isZero();
    assertThat(typed.out)
        .contains("complete -F _complete_holdfast", "doctor", "--key-file", "publisher");
    assertThat(completed(typed.out, "end")).isEqualTo("endpoints");
    assertThat(completed(typed.out, "dem")).isEqualTo("demo");
    assertThat(completed(typed.out, "sub")).isEqualTo("subscriptions");
    assertThat(completed(typed.out, "subscriptions", "exp")).isEqualTo("export");
    assertThat(completed(typed.out, "subscriptions", "import", "--dry")).isEqualTo("--dry-run");
  }

  /** What bash makes of the last word, which is not typed to its end. */
  private static String completed(String script, String... words) throws Exception {
    Process bash =
        new ProcessBuilder(
                "bash",
                "-c",
                "compopt() { :; }; source /dev/stdin; COMP_WORDS=(holdfast %s); COMP_CWORD=%d; _complete_holdfast; echo \"${COMPREPLY[@]}\""
                    .formatted(String.join(" ", words), words.length))
            .redirectErrorStream(true)
            .start();
    try (var in = bash.outputWriter(StandardCharsets.UTF_8)) {
      in.write(script);
    }
    String completed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return completed.strip();
  }

  @Test
  void zsh_is_told_to_load_what_the_script_needs() {
    assertThat(typed.run("completion", "zsh")).isZero();
    assertThat(typed.out).startsWith("autoload -U +X compinit").contains("bashcompinit");
  }

  @Test
  void another_shell_is_wrong_usage() {
    assertThat(typed.run("completion", "fish")).isEqualTo(2);
    assertThat(typed.err).contains("bash", "zsh");
    assertThat(typed.run("completion")).isEqualTo(2);
  }
}
