package dev.holdfast.proof.torture;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a process takes of the machine; 0 where the system does not tell. */
final class Footprint {
  private static final Pattern USED = Pattern.compile("used (\\d+)K");
  private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d+) kB");

  private final long pid;
  private long open;
  private long mostOpen;

  Footprint(long pid) {
    this.pid = pid;
  }

  /** How many files a process started from here may have open. */
  static long mostOpenFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  /** Counts its open files. */
  void look() {
    try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      open = files.count();
      mostOpen = Math.max(mostOpen, open);
    } catch (IOException e) {
      open = 0;
    }
  }

  /** When it was looked last. */
  long openFiles() {
    return open;
  }

  long mostOpen() {
    return mostOpen;
  }

  /** The most of the machine's memory that it has had at any time. */
  double mostMegabytes() {
    try {
      Matcher matcher =
          PEAK.matcher(Files.readString(Path.of("/proc", Long.toString(pid), "status")));
      return matcher.find() ? Long.parseLong(matcher.group(1)) / 1_024.0 : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Heap in use after a full collection. */
  double heapMegabytes() throws IOException {
    jcmd("GC.run");
    String info = jcmd("GC.heap_info");
    int classes = info.indexOf("Metaspace");
    Matcher matcher = USED.matcher(classes < 0 ? info : info.substring(0, classes));
    long kilobytes = 0;
    while (matcher.find()) {
      kilobytes += Long.parseLong(matcher.group(1));
    }
    return kilobytes / 1_024.0;
  }

  private String jcmd(String command) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(pid),
                command)
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
    return said;
  }
}
