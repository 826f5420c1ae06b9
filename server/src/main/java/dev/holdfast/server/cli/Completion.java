package dev.holdfast.server.cli;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast completion}. */
@Command(
    name = "completion",
    description = "Print a script that makes a shell complete commands and options with Tab.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  source <(./holdfast completion bash)                 for this shell",
      "  ./holdfast completion bash > ~/.holdfast-completion  and in ~/.bashrc or ~/.zshrc:",
      "  source ~/.holdfast-completion",
      "",
      ClientOptions.EXIT_CODES
    })
final class Completion implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "bash|zsh", description = "The shell: ${COMPLETION-CANDIDATES}.")
  private Shell shell = Shell.bash;

  /** Shells that the script is for. */
  enum Shell {
    bash,
    zsh
  }

  @Override
  public void run() {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    String script = AutoComplete.bash("holdfast", spec.root().commandLine());
    if (shell == Shell.zsh) {
      // The script is for both, but zsh must have loaded what it is written with.
      line.getOut()
          .println(
              "autoload -U +X compinit && compinit; autoload -U +X bashcompinit && bashcompinit");
    }
    line.getOut().print(script);
    line.getOut().flush();
  }
}
