package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts from outside how often a server asks the system for what it wrote to be on disk.
 *
 * <p>It watches with {@code strace} the threads that write to the store. These get slower by it, so
 * nothing else is measured meanwhile, and what it finds is how many there are for each commit.
 */
final class Syncs {
  /** How the names of the threads begin that write to the store, as the system cuts them. */
  private static final Pattern WRITERS = Pattern.compile("holdfast-(commit|checkp|upkeep).*");

  /** A line of strace's summary: its fourth column is the count, its last the call. */
  private static final Pattern CALLS =
      Pattern.compile(
          "^\\s*[\\d.]+\\s+[\\d.]+\\s+\\d+\\s+(\\d+)\\s.*(?:fsync|fdatasync)\\s*$",
          Pattern.MULTILINE);

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Rig rig;

  Syncs(Rig rig) {
    this.rig = rig;
  }

  /**
   * How many for each commit, over some seconds from now on; absent when they cannot be counted.
   */
  OptionalDouble perCommit(ServerProcess server, int seconds) throws IOException {
    List<String> threads = writers(server.child().pid());
    Path summary = rig.newDirectory().resolve("syncs");
    List<String> command =
        new ArrayList<>(
            List.of("strace", "-c", "-e", "trace=fsync,fdatasync", "-o", summary.toString()));
    threads.forEach(thread -> command.addAll(List.of("-p", thread)));
    Child strace;
    try {
      strace = rig.startOther("strace", command);
    } catch (IOException e) {
      return none("there is no strace here");
    }
    long commits = server.commits();
    rig.watch("counting fsyncs", seconds);
    if (threads.isEmpty() || !strace.isAlive()) {
      rig.stop(strace);
      return none("strace may not watch the server");
    }
    commits = server.commits() - commits;
    strace.signal("INT");
    if (strace.awaitEnd(PATIENCE).isEmpty()) {
      throw new ProofException("strace does not end");
    }
    rig.stop(strace);
    long calls = 0;
    Matcher matcher = CALLS.matcher(Files.readString(summary));
    while (matcher.find()) {
      calls += Long.parseLong(matcher.group(1));
    }
    return OptionalDouble.of((double) calls / Math.max(1, commits));
  }

  private OptionalDouble none(String why) {
    rig.report()
        .note("%s: fsyncs were not counted: %s".formatted(rig.progress().currentScenario(), why));
    return OptionalDouble.empty();
  }

  private static List<String> writers(long pid) throws IOException {
    List<String> found = new ArrayList<>();
    Path tasks = Path.of("/proc", Long.toString(pid), "task");
    if (!Files.isDirectory(tasks)) {
      return found;
    }
    try (Stream<Path> threads = Files.list(tasks)) {
      for (Path thread : threads.toList()) {
        if (WRITERS.matcher(Files.readString(thread.resolve("comm")).strip()).matches()) {
          found.add(thread.getFileName().toString());
        }
      }
    }
    return found;
  }
}
