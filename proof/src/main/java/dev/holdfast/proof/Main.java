package dev.holdfast.proof;

import dev.holdfast.proof.bench.Bench;
import dev.holdfast.proof.packaging.PackageJar;
import dev.holdfast.proof.simulation.Simulate;
import dev.holdfast.proof.torture.Torture;
import java.util.List;

/** The program that {@code ./holdfast} runs: the server's commands and those of the proof. */
public final class Main {

  private Main() {}

  /** Runs the command line. */
  public static void main(String[] arguments) {
    System.exit(dev.holdfast.server.cli.Main.run(commands(), arguments));
  }

  /** Commands besides the server's: objects that have picocli's {@code @Command}. */
  private static List<Object> commands() {
    return List.of(new Bench(), new Simulate(), new Torture(), new PackageJar());
  }
}
