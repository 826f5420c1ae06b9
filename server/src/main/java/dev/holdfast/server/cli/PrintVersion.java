package dev.holdfast.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast version}. */
@Command(
    name = "version",
    description = "Print the version of Holdfast and of what it runs on.",
    footerHeading = "%nExamples:%n",
    footer = {"  ./holdfast version", "  ./holdfast version --sbom > holdfast.cdx.json"})
final class PrintVersion implements Callable<Integer> {
  /** Made by the build when it packs the program. */
  static final String SBOM = "/META-INF/sbom/holdfast.cdx.json";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--sbom",
      description =
          "Print all that the program is made of instead, with licences and hashes: a CycloneDX bill"
              + " of materials in JSON.")
  private boolean sbom;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    if (!sbom) {
      out.printf(
          "Holdfast %s%nJava %s (%s) on %s %s%n",
          Version.NUMBER,
          System.getProperty("java.version"),
          System.getProperty("java.vendor"),
          System.getProperty("os.name"),
          System.getProperty("os.arch"));
      return ExitCode.DONE;
    }
    try (InputStream bill = PrintVersion.class.getResourceAsStream(SBOM)) {
      if (bill == null) {
        spec.commandLine()
            .getErr()
            .println(
                "This program was not packed, so it has no bill of materials. Use ./holdfast, or the"
                    + " jar that ./holdfast package makes.");
        return ExitCode.FAILED;
      }
      out.println(new String(bill.readAllBytes(), StandardCharsets.UTF_8).strip());
      return ExitCode.DONE;
    }
  }
}
