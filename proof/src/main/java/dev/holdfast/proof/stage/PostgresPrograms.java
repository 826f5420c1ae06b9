package dev.holdfast.proof.stage;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * The programs of PostgreSQL: those that somebody has installed, or those that come with the build,
 * unpacked.
 *
 * @param bin where they are
 */
public record PostgresPrograms(Path bin) {
  private static final String PACKED = "/postgres-linux-x86_64.txz";
  private static final String SERVER = "postgres";

  /** The library in which those of the build are; absent when it has none. */
  public static Optional<Path> jar() {
    return packed()
        .map(URL::getPath)
        .filter(path -> path.startsWith("file:"))
        .map(path -> Path.of(URI.create(path.substring(0, path.lastIndexOf('!')))));
  }

  private static Optional<URL> packed() {
    return Optional.ofNullable(PostgresPrograms.class.getResource(PACKED));
  }

  /**
   * Those in a directory that somebody has named, or else those of the build.
   *
   * @param given where they are installed: the directory itself, or the one above its {@code bin}
   * @param unpackTo where the build's are unpacked to, if they are needed
   */
  public static PostgresPrograms find(@Nullable Path given, Path unpackTo) throws IOException {
    if (given != null) {
      for (Path bin : List.of(given, given.resolve("bin"))) {
        if (Files.isExecutable(bin.resolve(SERVER))) {
          return new PostgresPrograms(bin);
        }
      }
      throw new ProofException("there is no program named postgres in " + given);
    }
    String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
    if (packed().isEmpty() || !system.toLowerCase(Locale.ROOT).matches("linux (amd64|x86_64)")) {
      throw new ProofException(
          "there is no PostgreSQL for %s in this build; name one that is installed with --postgres"
              .formatted(system));
    }
    if (!Files.exists(unpackTo)) {
      unpack(packed().get(), Files.createDirectories(unpackTo));
    }
    return new PostgresPrograms(unpackTo.resolve("bin"));
  }

  /** Every Linux has a tar, but not every one that can read this format by itself. */
  private static void unpack(URL packed, Path to) throws IOException {
    Process tar =
        new ProcessBuilder("tar", "-x", "-C", to.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (InputStream in = new XZInputStream(packed.openStream());
        OutputStream out = tar.getOutputStream()) {
      in.transferTo(out);
    }
    if (awaitEnd(tar) != 0) {
      throw new ProofException("PostgreSQL could not be unpacked to " + to);
    }
  }

  /**
   * The command line of one of them. PostgreSQL does not want to be run by root, and in a namespace
   * of its own nobody is.
   */
  List<String> command(String program, List<String> arguments) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      command.addAll(List.of("unshare", "-U"));
    }
    command.add(bin.resolve(program).toString());
    command.addAll(arguments);
    return command;
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  /** Runs one of them to its end. */
  void run(String program, List<String> arguments) throws IOException {
    Process process =
        new ProcessBuilder(command(program, arguments)).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (awaitEnd(process) != 0) {
      throw new ProofException(program + " failed: " + output.strip());
    }
  }

  private static int awaitEnd(Process process) {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }
}
