package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A file system of a few megabytes, which can be filled up and freed again. */
final class SmallDisk implements AutoCloseable {
  private static final String BALLAST = "ballast";
  private static final int CHUNK_BYTES = 4_096;

  private final Path root;
  private final boolean mounted;

  private SmallDisk(Path root, boolean mounted) {
    this.root = root;
    this.mounted = mounted;
  }

  /** A directory that somebody else has made on a small disk. */
  static SmallDisk of(Path root) {
    return new SmallDisk(root, false);
  }

  /** Mounts one in memory; absent, with a reason in {@code why}, where that is not allowed. */
  static Optional<SmallDisk> mount(Path root, int megabytes, StringBuilder why) throws IOException {
    Files.createDirectories(root);
    String problem =
        run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", root.toString());
    if (problem.isEmpty()) {
      return Optional.of(new SmallDisk(root, true));
    }
    why.append(problem);
    return Optional.empty();
  }

  Path root() {
    return root;
  }

  /** Leaves about so many bytes free, or fewer when there are fewer. */
  void fillBut(long freeBytes) {
    byte[] chunk = new byte[CHUNK_BYTES];
    try (OutputStream ballast = Files.newOutputStream(root.resolve(BALLAST))) {
      FileStore disk = Files.getFileStore(root);
      while (disk.getUsableSpace() > freeBytes) {
        ballast.write(chunk);
      }
    } catch (IOException e) {
      throw new ProofException("could not fill " + root, e);
    }
  }

  /** Leaves no byte free. */
  void fill() {
    byte[] chunk = new byte[CHUNK_BYTES];
    try (OutputStream ballast = Files.newOutputStream(root.resolve(BALLAST))) {
      while (true) {
        ballast.write(chunk);
      }
    } catch (IOException e) {
      // It is full, as it should be.
      return;
    }
  }

  void free() throws IOException {
    Files.deleteIfExists(root.resolve(BALLAST));
  }

  /** Unmounts it; what is still open in it ends with the processes that have it open. */
  @Override
  public void close() throws IOException {
    free();
    if (mounted) {
      String problem = run("umount", "-l", root.toString());
      if (!problem.isEmpty()) {
        throw new ProofException("could not unmount " + root + ": " + problem);
      }
    }
  }

  /** Runs a command; what it complained of, or nothing. */
  private static String run(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? "" : output.isBlank() ? "it failed" : output.strip();
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }
}
