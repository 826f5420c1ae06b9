package dev.holdfast.proof.torture;

import java.io.IOException;

/** One way to torture a server. */
interface Scenario {

  String name();

  /** What is done, in a line. */
  String about();

  void run(Torture.Run run) throws IOException;
}
