package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Kind;
import dev.holdfast.proof.bench.LoadPlan.Setting;
import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.util.List;

/**
 * A bare client and a receiver of its own, which stay and take turns with a server: a machine that
 * others share is now fast and now slow, and only what was measured at nearly the same time can be
 * compared.
 */
final class BarePosts {
  private final Rig rig;
  private final LoadPlan plan;
  private final Runs runs;

  BarePosts(Rig rig, int dataBytes) throws IOException {
    this.rig = rig;
    this.runs = new Runs(rig, Rig.EVENTS);
    this.plan = plan(rig, runs.receiver().postPort(), dataBytes, false);
    runs.warmUp(plan, "bare client", rig.settings().warmUp);
  }

  static LoadPlan plan(Rig rig, int port, int dataBytes, boolean encrypted) {
    return LoadPlan.of(Kind.BARE_CLIENT, port, "none")
        .with(Setting.CONNECTIONS, rig.settings().connections)
        .with(Setting.ENDPOINTS, rig.settings().endpoints)
        .with(Setting.DATA_BYTES, dataBytes)
        .with(Setting.ENCRYPTED, encrypted ? 1 : 0);
  }

  /** How many posts a second it makes now. */
  double perSecond(int seconds) {
    runs.begin(plan, "bare client");
    List<Child> children = List.of(runs.load().child(), runs.receiver().child());
    Window window =
        Window.measure(
            rig,
            runs.load(),
            runs.receiver(),
            Rig.EVENTS,
            children,
            seconds,
            runs.accepted(),
            "the bare client");
    runs.stop();
    runs.awaitAll();
    long arrived = runs.receiver().counts().numbers(Rig.EVENTS);
    if (arrived < runs.accepted() || arrived == 0) {
      throw new ProofException(
          "%,d posts of the bare client were answered, but only %,d arrived"
              .formatted(runs.accepted(), arrived));
    }
    return window.deliveredPerSecond();
  }
}
