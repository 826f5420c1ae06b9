package dev.holdfast.proof.packaging;

import dev.holdfast.proof.stage.PostgresPrograms;
import dev.holdfast.server.cli.Main;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast package}. */
@Command(
    name = "package",
    description = {
      "Make one jar of the server and its commands, which java -jar runs.",
      "",
      "It holds everything but bench, simulate, torture and package, and needs a Java 25."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast package",
      "  ./holdfast package --output /opt/holdfast",
      "  java -jar holdfast-0.1.0.jar serve",
      "",
      "docs/install.md says how to install it. Exit codes: 0 done, 1 failed, 2 wrong usage."
    })
public final class PackageJar implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description = "Where to put it (default: the current directory).",
      defaultValue = ".")
  private Path output = Path.of(".");

  /** Made by the program's main class. */
  public PackageJar() {}

  @Override
  public Integer call() throws URISyntaxException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    Path jar = output.resolve("holdfast-" + Main.version() + ".jar").normalize();
    try {
      Files.createDirectories(output);
      RunnableJar.write(libraries(), Main.class.getName(), Main.version(), jar);
      out.printf(Locale.ROOT, "%s  (%.1f MB)%n", jar, Files.size(jar) / 1e6);
      out.printf("Run it with a Java 25: java -jar %s serve%n", jar);
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println("No jar was made: " + e.getMessage());
      return 1;
    }
  }

  /** What runs now, without what only the proof needs. */
  private static List<Path> libraries() throws URISyntaxException {
    List<Path> libraries = new ArrayList<>();
    for (String element : System.getProperty("java.class.path", "").split(File.pathSeparator, -1)) {
      Path path = Path.of(element);
      if (!element.isEmpty() && Files.exists(path)) {
        libraries.add(path.toAbsolutePath().normalize());
      }
    }
    libraries.remove(home(PackageJar.class));
    libraries.remove(home(Histogram.class));
    libraries.remove(home(XZInputStream.class));
    PostgresPrograms.jar().ifPresent(libraries::remove);
    return libraries;
  }

  private static Path home(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
        .toAbsolutePath()
        .normalize();
  }
}
