package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Machine;
import dev.holdfast.proof.stage.ProofException;
import dev.holdfast.proof.stage.Report.Point;
import dev.holdfast.proof.stage.Report.Series;
import dev.holdfast.proof.stage.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What happened between two moments while a load was running.
 *
 * @param seconds how long that was
 * @param usage what each process used, by its name
 * @param busy the share of the machine that was used, from 0 to 1
 * @param others the share of the machine that processes other than ours used, from 0 to 1
 * @param stolen the share of the machine's time in which its host did not let it run, from 0 to 1
 */
record Window(
    double seconds,
    double acceptedPerSecond,
    double deliveredPerSecond,
    long delivered,
    Map<String, Usage> usage,
    double busy,
    double others,
    double stolen) {

  /** Above this share the figures are not the server's alone. */
  private static final double OTHERS_MATTER = 0.05;

  /** Above this share it is among the slowest hundredth of all times. */
  private static final double STOLEN_MATTERS = 0.002;

  private static final String CHART = "messages per second";

  /** Runs the load that has been started for {@code seconds} more, and looks before and after. */
  static Window measure(
      Rig rig,
      LoadProcess load,
      ReceiverProcess receiver,
      char group,
      List<Child> children,
      int seconds) {
    return measure(rig, load, receiver, group, children, seconds, 0, "");
  }

  /**
   * The same with a receiver that has counted before.
   *
   * @param before how many events it was sent by loads before this one
   * @param what the load is, among others of the same scenario
   */
  static Window measure(
      Rig rig,
      LoadProcess load,
      ReceiverProcess receiver,
      char group,
      List<Child> children,
      int seconds,
      long before,
      String what) {
    Moment first = Moment.now(load, receiver, group, children);
    Moment last = first;
    List<Point> accepted = new ArrayList<>();
    List<Point> delivered = new ArrayList<>();
    for (int i = 1; i <= seconds; i++) {
      Rig.pause(Duration.ofSeconds(1));
      Moment now = Moment.now(load, receiver, group, children);
      rig.progress()
          .tick(
              "measuring %d/%d s: %,.0f accepted/s, %,.0f delivered/s, %,d on the way"
                  .formatted(
                      i,
                      seconds,
                      now.acceptedPerSecondSince(last),
                      now.deliveredPerSecondSince(last),
                      before + now.accepted.accepted() - now.arrived.numbers(group)));
      accepted.add(new Point(i, now.acceptedPerSecondSince(last)));
      delivered.add(new Point(i, now.deliveredPerSecondSince(last)));
      last = now;
    }
    rig.progress().end();
    draw(rig, what, accepted, delivered);
    Window window = last.since(first);
    if (window.others > OTHERS_MATTER) {
      rig.report()
          .note(
              "%s: other processes used %.0f %% of the machine while it was measured"
                  .formatted(rig.progress().currentScenario(), window.others * 100));
    }
    if (window.stolen > STOLEN_MATTERS) {
      rig.report()
          .note(
              "%s: the host of this virtual machine let it stand still for %.1f %% of the time"
                  .formatted(rig.progress().currentScenario(), window.stolen * 100));
    }
    return window;
  }

  /** Adds the rates as a chart; those of what was measured before have numbers. */
  private static void draw(Rig rig, String what, List<Point> accepted, List<Point> delivered) {
    if (delivered.size() < 2) {
      return;
    }
    String scenario = rig.progress().currentScenario();
    String first = what.isEmpty() ? CHART : CHART + ", " + what;
    Set<String> taken =
        rig.report().lines().stream()
            .filter(line -> line.scenario().equals(scenario))
            .map(Series::chart)
            .collect(Collectors.toSet());
    String chart = first;
    for (int i = 2; taken.contains(chart); i++) {
      chart = first + ", " + i;
    }
    rig.report().line(new Series(scenario, chart, "accepted", "seconds", "/s", accepted));
    rig.report().line(new Series(scenario, chart, "delivered", "seconds", "/s", delivered));
  }

  double cpuMicros(Child child) {
    return usage.getOrDefault(child.name(), Usage.NONE).cpuMicrosPer(delivered);
  }

  double writtenBytes(Child child) {
    long bytes = usage.getOrDefault(child.name(), Usage.NONE).writtenBytes();
    return delivered == 0 ? 0 : (double) bytes / delivered;
  }

  /** What everybody had counted at one moment. */
  private record Moment(
      LoadProcess.Counts accepted,
      ReceiverProcess.Counts arrived,
      char group,
      Map<String, Usage> usage,
      Machine machine,
      long atNanos) {

    static Moment now(
        LoadProcess load, ReceiverProcess receiver, char group, List<Child> children) {
      Map<String, Usage> usage = new LinkedHashMap<>();
      for (Child child : children) {
        if (!child.isAlive()) {
          throw new ProofException("the " + child.name() + " has ended:\n" + child.tail());
        }
        usage.put(child.name(), child.usage());
      }
      // What has arrived is asked first, so that no more has arrived than was accepted.
      ReceiverProcess.Counts arrived = receiver.counts();
      return new Moment(load.counts(), arrived, group, usage, Machine.now(), System.nanoTime());
    }

    double acceptedPerSecondSince(Moment earlier) {
      return perSecond(
          accepted.accepted() - earlier.accepted.accepted(),
          accepted.atNanos() - earlier.accepted.atNanos());
    }

    double deliveredPerSecondSince(Moment earlier) {
      return perSecond(deliveredSince(earlier), arrived.atNanos() - earlier.arrived.atNanos());
    }

    Window since(Moment earlier) {
      Map<String, Usage> used = new LinkedHashMap<>();
      usage.forEach(
          (name, now) -> used.put(name, now.minus(earlier.usage.getOrDefault(name, Usage.NONE))));
      return new Window(
          (atNanos - earlier.atNanos) / 1e9,
          acceptedPerSecondSince(earlier),
          deliveredPerSecondSince(earlier),
          deliveredSince(earlier),
          used,
          machine.busySince(earlier.machine),
          othersSince(earlier, used),
          machine.stolenSince(earlier.machine));
    }

    private long deliveredSince(Moment earlier) {
      return arrived.numbers(group) - earlier.arrived.numbers(group);
    }

    private double othersSince(Moment earlier, Map<String, Usage> used) {
      double ours = used.values().stream().mapToLong(each -> each.cpu().toNanos()).sum();
      double all =
          (double) (atNanos - earlier.atNanos) * Runtime.getRuntime().availableProcessors();
      return Math.max(0, machine.busySince(earlier.machine) - ours / all);
    }

    private static double perSecond(long count, long nanos) {
      return nanos <= 0 ? 0 : count * 1e9 / nanos;
    }
  }
}
