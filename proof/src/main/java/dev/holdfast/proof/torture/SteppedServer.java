package dev.holdfast.proof.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The server, going by a {@link SteppedClock}. */
final class SteppedServer {
  static final String FILE_PROPERTY = "holdfast.torture.clock";

  private SteppedServer() {}

  public static void main(String[] arguments) throws IOException {
    SteppedClock clock = new SteppedClock(Path.of(System.getProperty(FILE_PROPERTY)));
    System.exit(dev.holdfast.server.cli.Main.commandLine(List.of(), clock).execute(arguments));
  }
}
