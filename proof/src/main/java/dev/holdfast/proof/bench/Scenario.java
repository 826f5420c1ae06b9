package dev.holdfast.proof.bench;

import java.io.IOException;

/** One thing to be measured. */
interface Scenario {

  /** The word for it on the command line and in the report. */
  String name();

  /** What it measures, in one sentence. */
  String about();

  /**
   * Whether it can be measured with this kind of store.
   *
   * @param shared a database that several servers can share
   */
  default boolean runsOn(boolean shared) {
    return true;
  }

  /** Whether it is measured only when it is named. */
  default boolean isOnlyOnRequest() {
    return false;
  }

  /** Measures, and puts what it found into {@link Rig#report}. */
  void run(Rig rig) throws IOException;
}
