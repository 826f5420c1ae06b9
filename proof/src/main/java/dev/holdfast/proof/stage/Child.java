package dev.holdfast.proof.stage;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A process that we started: mostly one with the same Java and class path as our own. */
public final class Child implements AutoCloseable {
  /** What a process of ours prints, followed by its port, when it is ready. */
  public static final String LISTENING = "listening ";

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LONGEST_START = Duration.ofMinutes(1);
  private static final int LOG_LINES_SHOWN = 20;

  private final String name;
  private final Process process;
  private final Path log;

  private Child(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  /**
   * Starts a process.
   *
   * @param log where its error output goes, and its output too when {@code outputToLog}
   */
  public static Child start(
      String name,
      List<String> javaFlags,
      String mainClass,
      List<String> arguments,
      Path log,
      boolean outputToLog)
      throws IOException {
    String ours = System.getProperty("java.class.path");
    return start(name, javaFlags, ours, mainClass, arguments, log, outputToLog);
  }

  /** The same for a program of another class path. */
  public static Child start(
      String name,
      List<String> javaFlags,
      String classPath,
      String mainClass,
      List<String> arguments,
      Path log,
      boolean outputToLog)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.addAll(javaFlags);
    command.add("-cp");
    command.add(classPath);
    command.add(mainClass);
    command.addAll(arguments);
    return start(name, command, log, outputToLog);
  }

  /** Starts a process of any program; all its output is added to the log. */
  public static Child run(String name, List<String> command, Path log) throws IOException {
    return start(name, command, log, true);
  }

  private static Child start(String name, List<String> command, Path log, boolean outputToLog)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(Redirect.appendTo(log.toFile()));
    if (outputToLog) {
      builder.redirectErrorStream(true);
      builder.redirectOutput(Redirect.appendTo(log.toFile()));
    }
    return new Child(name, builder.start(), log);
  }

  /** The port that a process of ours prints when it is ready. */
  public int awaitPort() {
    CompletableFuture<Integer> port = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> readPort(port));
    try {
      return port.get(LONGEST_START.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new ProofException("the " + name + " did not start:\n" + tail(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  private void readPort(CompletableFuture<Integer> port) {
    // The reader is not closed: that would close the process's output.
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    try {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (line.startsWith(LISTENING)) {
          port.complete(Integer.parseInt(line.substring(LISTENING.length())));
          return;
        }
      }
      port.completeExceptionally(new IOException("it ended"));
    } catch (IOException e) {
      port.completeExceptionally(e);
    }
  }

  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** What it and those that it started have used of the machine until now. */
  public Usage usage() {
    return process.descendants().map(Usage::of).reduce(Usage.of(process.toHandle()), Usage::plus);
  }

  /** The last lines of its log. */
  public String tail() {
    try {
      List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
      return lines.subList(Math.max(0, lines.size() - LOG_LINES_SHOWN), lines.size()).stream()
          .map(line -> "  | " + line)
          .collect(Collectors.joining("\n"));
    } catch (IOException e) {
      return "  (its log cannot be read: " + e.getMessage() + ")";
    }
  }

  /** Everything that it has logged. */
  public String log() {
    try {
      return Files.readString(log, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new ProofException("the log of the " + name + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** Sends it a signal, such as {@code STOP}. */
  public void signal(String signal) throws IOException {
    Process kill =
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
            .redirectErrorStream(true)
            .start();
    try {
      if (kill.waitFor() != 0) {
        throw new ProofException("kill -" + signal + " of the " + name + " failed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  /** Waits for its end and says what it ended with; absent when it has not. */
  public OptionalInt awaitEnd(Duration patience) {
    try {
      return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)
          ? OptionalInt.of(process.exitValue())
          : OptionalInt.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  /** Asks it to end, and makes it end when it takes too long. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        kill();
      }
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
  }

  public void kill() {
    process.destroyForcibly();
  }

  /** Kills it and all that it started. */
  public void killAll() {
    List<ProcessHandle> others = process.descendants().toList();
    process.destroyForcibly();
    others.forEach(ProcessHandle::destroyForcibly);
  }
}
