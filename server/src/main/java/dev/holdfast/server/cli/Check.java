package dev.holdfast.server.cli;

import dev.holdfast.engine.store.StoreCheck;
import dev.holdfast.engine.store.StoreRefused;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast check}. */
@Command(
    name = "check",
    description = "Looks for damage in a store that no server uses, and changes nothing.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast check --data /var/lib/holdfast",
      "",
      "Everything in the store is read, which may take minutes. Exit codes: 0 all is as it was",
      "written, 1 something is damaged or the store cannot be opened."
    })
final class Check implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the store (default: ${DEFAULT-VALUE}).",
      defaultValue = "holdfast-data")
  private Path data = Path.of("holdfast-data");

  Check() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try {
      StoreCheck.Result result = StoreCheck.run(data);
      if (result.problems().isEmpty()) {
        out.printf("%,d rows, and each is as it was written.%n", result.rows());
        return ExitCode.DONE;
      }
      out.printf("The store in %s is damaged. Restore it from a backup.%n", data);
      result.problems().forEach(problem -> out.println("  " + problem));
      return ExitCode.FAILED;
    } catch (StoreRefused e) {
      out.println(e.getMessage());
      return ExitCode.FAILED;
    } finally {
      out.flush();
    }
  }
}
