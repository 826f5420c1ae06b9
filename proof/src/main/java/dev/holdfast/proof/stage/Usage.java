package dev.holdfast.proof.stage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a process has used of the machine.
 *
 * @param writtenBytes what it caused to be written to disk; 0 where the system does not tell
 */
public record Usage(Duration cpu, long writtenBytes) {
  public static final Usage NONE = new Usage(Duration.ZERO, 0);

  private static final String WRITTEN = "write_bytes: ";

  public static Usage of(ProcessHandle process) {
    return new Usage(
        process.info().totalCpuDuration().orElse(Duration.ZERO), writtenBytes(process.pid()));
  }

  public Usage plus(Usage other) {
    return new Usage(cpu.plus(other.cpu), writtenBytes + other.writtenBytes);
  }

  public Usage minus(Usage earlier) {
    return new Usage(cpu.minus(earlier.cpu), writtenBytes - earlier.writtenBytes);
  }

  public double cpuMicrosPer(long things) {
    return things == 0 ? 0 : cpu.toNanos() / 1_000.0 / things;
  }

  private static long writtenBytes(long pid) {
    try {
      return Files.readAllLines(Path.of("/proc", Long.toString(pid), "io")).stream()
          .filter(line -> line.startsWith(WRITTEN))
          .mapToLong(line -> Long.parseLong(line.substring(WRITTEN.length())))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }
}
