package dev.holdfast.proof.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** This machine's clock, off by as much as a file says; somebody else may change that. */
final class SteppedClock implements InstantSource {
  private static final Duration LOOK_EVERY = Duration.ofMillis(10);

  private final Path file;
  private volatile Duration offset;

  SteppedClock(Path file) throws IOException {
    this.file = file;
    this.offset = read();
    Thread.ofPlatform().daemon().name("stepped-clock").start(this::follow);
  }

  /** Sets all clocks that go by the file. */
  static void set(Path file, Duration offset) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(next, offset.toString());
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public Instant instant() {
    return InstantSource.system().instant().plus(offset);
  }

  private Duration read() throws IOException {
    return Duration.parse(Files.readString(file));
  }

  private void follow() {
    try {
      while (true) {
        Thread.sleep(LOOK_EVERY);
        offset = read();
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("the clock does not know how late it is", e);
    }
  }
}
