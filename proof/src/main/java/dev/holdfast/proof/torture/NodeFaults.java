package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Postgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What happens to nodes of a cluster while their database is well. */
final class NodeFaults {
  private static final Duration SOONEST = Duration.ofMillis(300);
  private static final Duration LATEST = Duration.ofMillis(1_500);

  private NodeFaults() {}

  /** Enough that more than one takes over, but for what is to be short. */
  private static int nodes(ClusterScenario.Stage stage) {
    return stage.rounds() == 1 ? 2 : 3;
  }

  /** The others take over within the lease time and a second. */
  static void kill(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(nodes(stage))) {
      begin(scene);
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("kill %d of %d".formatted(round, stage.rounds()));
        killOne(scene);
      }
      scene.settle();
      stage.count("kills", stage.rounds());
    }
  }

  private static void begin(ClusterScene scene) {
    scene.publishers().start();
    scene.awaitBalance();
  }

  private static void killOne(ClusterScene scene) throws IOException {
    Scene.pause(scene.plan().between(SOONEST, LATEST));
    ClusterScene.Node victim = scene.busiest();
    long id = scene.id(victim);
    Set<Integer> endpoints = scene.endpoints(id);
    victim.server().kill();
    long at = System.nanoTime();
    scene.noteUnrecorded(id, endpoints, at);
    scene.awaitTakeover(id, at);
    scene.awaitDelivery(at);
    victim.server().restart();
    scene.awaitStart(victim);
    scene.awaitBalance();
  }

  /** Nothing that it writes when it goes on changes anything. */
  static void freeze(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(nodes(stage))) {
      begin(scene);
      // What it was asked, and would have asked the database, is answered by nobody who knows.
      scene.ledger().refusalsAreUncertain();
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("stop %d of %d".formatted(round, stage.rounds()));
        Scene.pause(scene.plan().between(SOONEST, LATEST));
        ClusterScene.Node victim = scene.busiest();
        long id = scene.id(victim);
        Set<Integer> endpoints = scene.endpoints(id);
        victim.server().signal("STOP");
        long at = System.nanoTime();
        scene.noteUnrecorded(id, endpoints, at);
        scene.awaitTakeover(id, at);
        scene.awaitDelivery(at);
        Scene.pause(scene.plan().between(SOONEST, LATEST));
        victim.server().signal("CONT");
        scene.awaitLog(victim, "node.fenced node=" + id);
        scene.awaitBack(victim, id);
        scene.awaitBalance();
      }
      scene.settle();
      stage.count("stops for longer than the lease", stage.rounds());
    }
  }

  /** Its connections break, or nothing comes through them any more. */
  static void cutOff(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(nodes(stage))) {
      begin(scene);
      scene.ledger().refusalsAreUncertain();
      int cuts = Math.max(2, stage.rounds());
      for (int cut = 1; cut <= cuts; cut++) {
        scene.tick("cut %d of %d".formatted(cut, cuts));
        Scene.pause(scene.plan().between(SOONEST, LATEST));
        ClusterScene.Node victim = scene.busiest();
        long id = scene.id(victim);
        Set<Integer> endpoints = scene.endpoints(id);
        long at = System.nanoTime();
        if (cut % 2 == 1) {
          victim.proxy().cut();
        } else {
          victim.proxy().hold();
        }
        scene.awaitTakeover(id, at);
        scene.ledger().trouble(at, System.nanoTime(), endpoints);
        scene.ledger().watch(endpoints);
        scene.awaitDelivery(at);
        Scene.pause(scene.plan().between(SOONEST, LATEST));
        victim.proxy().heal();
        scene.awaitBack(victim, id);
        scene.awaitBalance();
      }
      scene.settle();
      stage.count("cuts", cuts);
    }
  }

  /** A node that is asked to end lets go of what it has, so nothing comes again for that. */
  static void roll(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(nodes(stage))) {
      begin(scene);
      for (int round = 1; round <= stage.rounds(); round++) {
        for (ClusterScene.Node node : scene.nodes()) {
          scene.tick("round %d of %d, %s".formatted(round, stage.rounds(), node.name()));
          Scene.pause(scene.plan().between(SOONEST, LATEST));
          long id = scene.id(node);
          Set<Integer> endpoints = scene.endpoints(id);
          node.server().stop();
          long at = System.nanoTime();
          scene.ledger().watch(endpoints);
          scene.awaitTakeover(id, at);
          scene.awaitDelivery(at);
          node.server().restart();
          scene.awaitStart(node);
          scene.awaitBalance();
        }
      }
      scene.settle();
      stage.count("nodes stopped and started", (long) stage.rounds() * scene.nodes().size());
    }
  }

  /** The time is the database's: what one node has put off is due when another looks. */
  static void clocksApart(ClusterScenario.Stage stage) throws IOException, SQLException {
    List<Server.Program> programs = new ArrayList<>();
    for (Duration offset : List.of(Duration.ZERO, Duration.ofHours(1), Duration.ofHours(-1))) {
      Path clock = stage.run().directory().resolve("clock-of-node-" + (programs.size() + 1));
      SteppedClock.set(clock, offset);
      programs.add(
          new Server.Program(
              SteppedServer.class.getName(),
              Stream.concat(
                      Server.BRIEFLY.stream(),
                      Stream.of("-D" + SteppedServer.FILE_PROPERTY + "=" + clock))
                  .toList(),
              List.of(ClusterScenario.Stage.usual())));
    }
    Postgres postgres = stage.postgres();
    try (ClusterScene scene = stage.scene(postgres, new ClusterScene.Options(programs, ""))) {
      begin(scene);
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("kill %d of %d".formatted(round, stage.rounds()));
        killOne(scene);
      }
      scene.settle();
      stage.count("kills", stage.rounds());
    }
  }
}
