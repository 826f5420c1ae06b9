package dev.holdfast.server.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How many files and connections the system lets this process have open at once. */
final class OpenFiles {
  private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

  /** With fewer a few hundred endpoints that hang are felt by others. */
  private static final int FEW = 3_000;

  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Pattern LINE = Pattern.compile("Max open files +(\\d{1,9}) .*");

  private OpenFiles() {}

  /** How many connections attempts may have. Told in the log when that is not many. */
  static int forAttempts() {
    OptionalInt most = most();
    if (most.isEmpty()) {
      return Integer.MAX_VALUE;
    }
    int attempts = forAttempts(most.getAsInt());
    if (attempts < FEW) {
      log.warn(
          "server.files-few files={} attempts={} next=\"no more attempts than this are under way at"
              + " once; raise the limit on open files (LimitNOFILE, ulimit -n)\"",
          most.getAsInt(),
          attempts);
    }
    return attempts;
  }

  /** Absent where the system does not tell, or sets no limit. */
  private static OptionalInt most() {
    try {
      return mostIn(Files.readString(LIMITS));
    } catch (IOException e) {
      return OptionalInt.empty();
    }
  }

  static OptionalInt mostIn(String limits) {
    return limits
        .lines()
        .map(LINE::matcher)
        .filter(Matcher::matches)
        .mapToInt(line -> Integer.parseInt(line.group(1)))
        .findFirst();
  }

  /** How many of them attempts may have: callers, the store and the program itself need some. */
  static int forAttempts(int files) {
    return Math.max(1, files / 4 * 3);
  }
}
