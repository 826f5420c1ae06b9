package dev.holdfast.proof.bench;

import java.io.IOException;

/** Asks what the machine can do with Vert.x alone, also when nobody needs to compare with it. */
final class ReferenceScenario implements Scenario {

  @Override
  public String name() {
    return Reference.NAME;
  }

  @Override
  public String about() {
    return "a bare Vert.x client that posts to the receiver, and a bare Vert.x server that answers"
        + " 202: what others are compared with";
  }

  @Override
  public void run(Rig rig) throws IOException {
    rig.reference().posts(LoadPlan.DATA_BYTES);
    rig.reference().takes();
  }
}
