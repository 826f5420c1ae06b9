package dev.holdfast.server.cli;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code holdfast version}. */
@Command(
    name = "version",
    description = "Print the version of Holdfast and of what it runs on.",
    footerHeading = "%nExample:%n",
    footer = "  ./holdfast version")
final class PrintVersion implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    Objects.requireNonNull(spec)
        .commandLine()
        .getOut()
        .printf(
            "Holdfast %s%nJava %s (%s) on %s %s%n",
            Version.NUMBER,
            System.getProperty("java.version"),
            System.getProperty("java.vendor"),
            System.getProperty("os.name"),
            System.getProperty("os.arch"));
  }
}
