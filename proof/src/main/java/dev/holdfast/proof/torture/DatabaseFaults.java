package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Postgres;
import dev.holdfast.proof.stage.Postgres.Ending;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What happens to the database of a cluster. */
final class DatabaseFaults {
  private static final Duration SOONEST = Duration.ofMillis(300);
  private static final Duration LATEST = Duration.ofMillis(1_500);
  private static final int NODES = 2;

  /** Whose connections keep those of others from being made. */
  private static final String TAKER = "taker";

  private DatabaseFaults() {}

  private interface Fault {
    void happen() throws IOException, SQLException;
  }

  /**
   * Does something to the database, and waits until everything goes on.
   *
   * @param fault is over when it returns
   */
  private static void suffer(ClusterScene scene, Fault fault) throws IOException, SQLException {
    Scene.pause(scene.plan().between(SOONEST, LATEST));
    long from = System.nanoTime();
    fault.happen();
    long over = System.nanoTime();
    scene.awaitAcceptance(over);
    scene.ledger().watch(ClusterScene.allEndpoints());
    scene.awaitDelivery(over);
    scene.awaitBalance();
    // A lease that could not be kept in that time is lost after it.
    scene.ledger().trouble(from, System.nanoTime(), ClusterScene.allEndpoints());
  }

  /** Each refusal is definite. */
  private static void begin(ClusterScene scene) {
    scene.publishers().start();
    scene.awaitBalance();
  }

  /** Who cannot ask whether something was committed in the end cannot tell. */
  private static void beginUncertain(ClusterScene scene) {
    begin(scene);
    scene.ledger().refusalsAreUncertain();
  }

  /** The last time for longer than a lease. */
  static void restart(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(NODES)) {
      beginUncertain(scene);
      int restarts = 3 * stage.rounds();
      for (int restart = 0; restart < restarts; restart++) {
        scene.tick("restart %d of %d".formatted(restart + 1, restarts));
        Postgres postgres = scene.postgres();
        int way = restart % 3;
        boolean isLong = restart == restarts - 1;
        suffer(
            scene,
            () -> {
              switch (way) {
                case 0 -> postgres.stop(Ending.FAST);
                case 1 -> postgres.stop(Ending.IMMEDIATE);
                default -> postgres.kill();
              }
              Scene.pause(scene.plan().between(SOONEST, LATEST));
              if (isLong) {
                Scene.pause(ClusterScene.LEASE);
              }
              postgres.start();
            });
      }
      scene.settle();
      stage.count("restarts and kills of the database", restarts);
    }
  }

  /** Nodes know both by their URL, and find out by themselves which of them takes writes. */
  static void promote(ClusterScenario.Stage stage) throws IOException, SQLException {
    Postgres primary = stage.postgres();
    ClusterScene.prepare(primary, "");
    Postgres standby =
        primary.startStandby(stage.run().directory().resolve(stage.name() + "-standby"));
    stage.run().track(standby);
    ClusterScene.Options usual = ClusterScene.Options.nodes(NODES, ClusterScenario.Stage.usual());
    String hosts = "127.0.0.1:%d,127.0.0.1:%d".formatted(primary.port(), standby.port());
    try (ClusterScene scene =
        new ClusterScene(
            stage.run(),
            stage.name(),
            primary,
            new ClusterScene.Options(usual.programs(), hosts))) {
      beginUncertain(scene);
      suffer(
          scene,
          () -> {
            primary.kill();
            Scene.pause(scene.plan().between(SOONEST, LATEST));
            standby.promote();
            scene.moveTo(standby);
          });
      scene.settle();
      stage.count("databases lost", 1);
    }
  }

  private static Optional<SmallDisk> smallDisk(ClusterScenario.Stage stage, int megabytes)
      throws IOException {
    StringBuilder why = new StringBuilder();
    Path place = stage.run().directory().resolve(stage.name() + "-disk");
    Optional<SmallDisk> mounted = SmallDisk.mount(place, megabytes, why);
    if (mounted.isEmpty()) {
      stage
          .run()
          .skip(
              "%s: SKIPPED, since no small file system can be mounted here: %s. Run it as root."
                  .formatted(stage.name(), why));
    }
    return mounted;
  }

  /** Events are refused while there is no room for tables, and accepted when there is. */
  static void full(ClusterScenario.Stage stage) throws IOException, SQLException {
    Optional<SmallDisk> mounted = smallDisk(stage, 64);
    if (mounted.isEmpty()) {
      return;
    }
    SmallDisk disk = mounted.get();
    Postgres postgres = stage.postgres();
    Path tables = Files.createDirectory(disk.root().resolve("tables"));
    postgres.execute(Postgres.USER, "CREATE TABLESPACE small LOCATION '%s'".formatted(tables));
    ClusterScene.prepare(postgres, "TABLESPACE small");
    stage.run().track(disk);
    stage.run().track(postgres);
    try (ClusterScene scene =
        new ClusterScene(
            stage.run(),
            stage.name(),
            postgres,
            ClusterScene.Options.nodes(NODES, ClusterScenario.Stage.usual()))) {
      begin(scene);
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("full %d of %d".formatted(round, stage.rounds()));
        suffer(
            scene,
            () -> {
              disk.fill();
              scene.awaitRefusal();
              Scene.pause(scene.plan().between(SOONEST, LATEST));
              disk.free();
            });
      }
      scene.settle();
      stage.count("times full", stage.rounds());
    }
  }

  /** Without room for its log PostgreSQL gives up, and is started again when there is some. */
  static void log(ClusterScenario.Stage stage) throws IOException, SQLException {
    Optional<SmallDisk> mounted = smallDisk(stage, 128);
    if (mounted.isEmpty()) {
      return;
    }
    SmallDisk disk = mounted.get();
    // Without checkpoints none of the log is used again, so that it needs room soon.
    Postgres postgres =
        stage.postgres(
            "max_wal_size = 1GB",
            "min_wal_size = 8MB",
            "checkpoint_timeout = 1h",
            "restart_after_crash = off");
    postgres.moveLog(disk.root().resolve("log"));
    ClusterScene.prepare(postgres, "");
    stage.run().track(disk);
    stage.run().track(postgres);
    try (ClusterScene scene =
        new ClusterScene(
            stage.run(),
            stage.name(),
            postgres,
            ClusterScene.Options.nodes(NODES, ClusterScenario.Stage.usual()))) {
      beginUncertain(scene);
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("no room for the log %d of %d".formatted(round, stage.rounds()));
        suffer(
            scene,
            () -> {
              disk.fill();
              scene.await(
                  () -> !isUpAfterSwitch(postgres),
                  ClusterScene.LEASE.multipliedBy(5),
                  () -> "PostgreSQL goes on without room:\n" + postgres.child().tail());
              scene.awaitUnready();
              Scene.pause(scene.plan().between(SOONEST, LATEST));
              disk.free();
              postgres.start();
            });
      }
      scene.settle();
      stage.count("times without room for the log", stage.rounds());
    }
  }

  /** Makes it begin another file of its log, and says whether it is there after that. */
  private static boolean isUpAfterSwitch(Postgres postgres) {
    try {
      postgres.execute(Postgres.USER, "SELECT pg_switch_wal()");
    } catch (SQLException e) {
      // It is about to end, as it should.
      return postgres.isAlive();
    }
    return postgres.isAlive();
  }

  /** Others take all connections, and those of the nodes break. */
  static void connections(ClusterScenario.Stage stage) throws IOException, SQLException {
    Postgres postgres = stage.postgres("max_connections = 40");
    try (ClusterScene scene =
        stage.scene(postgres, ClusterScene.Options.nodes(NODES, ClusterScenario.Stage.usual()))) {
      beginUncertain(scene);
      postgres.execute(Postgres.USER, "CREATE ROLE %s LOGIN".formatted(TAKER));
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("no connections %d of %d".formatted(round, stage.rounds()));
        Duration shortage = scene.plan().between(LATEST, ClusterScene.LEASE);
        suffer(scene, () -> takeConnections(postgres, shortage));
      }
      scene.settle();
      stage.count("times without connections", stage.rounds());
    }
  }

  private static void takeConnections(Postgres postgres, Duration time) throws SQLException {
    String limit = "ALTER ROLE %s CONNECTION LIMIT %d";
    List<Connection> taken = new ArrayList<>();
    try {
      // So that it is not the nodes who are faster.
      postgres.execute(Postgres.USER, limit.formatted(ClusterScene.ROLE, 0));
      postgres.execute(
          Postgres.USER,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'"
              .formatted(ClusterScene.ROLE));
      take(postgres, taken);
      postgres.execute(Postgres.USER, limit.formatted(ClusterScene.ROLE, -1));
      Scene.pause(time);
    } finally {
      for (Connection connection : taken) {
        connection.close();
      }
    }
  }

  private static void take(Postgres postgres, List<Connection> taken) {
    try {
      while (true) {
        taken.add(
            DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:%d/%s?user=%s"
                    .formatted(postgres.port(), Postgres.USER, TAKER)));
      }
    } catch (SQLException e) {
      // There are no more, as it should be.
      return;
    }
  }

  /** Everything goes on when each answer takes a while, and waits when it takes too long. */
  static void slow(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(NODES)) {
      beginUncertain(scene);
      for (int round = 1; round <= stage.rounds(); round++) {
        scene.tick("slow %d of %d".formatted(round, stage.rounds()));
        for (ClusterScene.Node node : scene.nodes()) {
          node.proxy().slow(Duration.ofMillis(50));
        }
        long at = System.nanoTime();
        scene.ledger().watch(ClusterScene.allEndpoints());
        scene.awaitDelivery(at);
        scene.awaitAcceptance(at);
        suffer(
            scene,
            () -> {
              for (ClusterScene.Node node : scene.nodes()) {
                node.proxy().slow(ClusterScene.LEASE);
              }
              Scene.pause(ClusterScene.LEASE.plus(scene.plan().between(SOONEST, LATEST)));
              for (ClusterScene.Node node : scene.nodes()) {
                node.proxy().heal();
              }
            });
      }
      scene.settle();
      stage.count("times slow", stage.rounds());
    }
  }

  /**
   * A node refuses tables that are newer than it, and says so; those that run go on. What is older
   * is brought up to date by whoever comes first: the nodes of each scene start all at once on
   * none.
   */
  static void schema(ClusterScenario.Stage stage) throws IOException, SQLException {
    try (ClusterScene scene = stage.nodes(NODES)) {
      begin(scene);
      ClusterScene.Node late = scene.nodes().getLast();
      late.server().stop();
      String version = "UPDATE schema_version SET version = version %s 1";
      scene.postgres().execute(ClusterScene.DATABASE, version.formatted("+"));
      late.server().restart();
      OptionalInt code = late.server().awaitEnd(Duration.ofSeconds(30));
      if (code.isEmpty() || code.getAsInt() == 0) {
        throw new ProofException(
            "a node has not refused tables that are newer than it:\n" + late.server().tail());
      }
      if (!late.server().log().contains("later version")) {
        scene
            .ledger()
            .problem("a refusal of newer tables that does not say so:\n" + late.server().tail());
      }
      long at = System.nanoTime();
      scene.ledger().watch(ClusterScene.allEndpoints());
      scene.awaitDelivery(at);
      scene.postgres().execute(ClusterScene.DATABASE, version.formatted("-"));
      late.server().restart();
      scene.awaitStart(late);
      scene.awaitBalance();
      scene.settle();
      stage.count("nodes refused", 1);
    }
  }
}
