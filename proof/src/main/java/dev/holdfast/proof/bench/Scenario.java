package dev.holdfast.proof.bench;

import java.io.IOException;

/** One thing to be measured. */
interface Scenario {

  /** The word for it on the command line and in the report. */
  String name();

  /** What it measures, in one sentence. */
  String about();

  /** Measures, and puts what it found into {@link Rig#report}. */
  void run(Rig rig) throws IOException;
}
