package dev.holdfast.proof.torture;

import dev.holdfast.core.model.Id;
import dev.holdfast.proof.stage.History;
import dev.holdfast.proof.stage.History.Part;
import dev.holdfast.proof.stage.Postgres;
import dev.holdfast.proof.stage.Report.Target;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** What keeps nodes from making and dropping parts of their tables. */
final class PartFaults {
  private static final int NODES = 2;

  /** The shortest there is. Nodes look after parts each hundredth of it. */
  private static final Duration RETENTION = Duration.ofHours(1);

  /** How wide nodes make a part for that. */
  private static final Duration WIDTH = Duration.ofHours(1);

  /** How many parts of the past are not yet to go, nor were used. */
  private static final int RECENT = 2;

  private static final int OLD_ROWS = 20_000;

  /** Long enough for some looks, of which each may find somebody at work with the tables. */
  private static final Duration LONGEST_UPKEEP = Duration.ofMinutes(3);

  /** What the database logs of somebody who has waited for long enough. */
  private static final String GAVE_WAY = "STATEMENT:  LOCK TABLE ONLY ";

  /** Nobody waits for longer while a part is made, and that is a rare thing. */
  private static final Duration SHORTLY = Duration.ofSeconds(2);

  private PartFaults() {}

  /** How long nothing has arrived anywhere, at most. */
  private static final class Stillness {
    private final Ledger ledger;
    private long arrivals;
    private long sinceNanos = System.nanoTime();
    private long longestNanos;

    Stillness(Ledger ledger) {
      this.ledger = ledger;
    }

    void look() {
      long now = System.nanoTime();
      longestNanos = Math.max(longestNanos, now - sinceNanos);
      long arrived = ledger.counts().arrivals();
      if (arrived != arrivals) {
        arrivals = arrived;
        sinceNanos = now;
      }
    }

    Duration longest() {
      return Duration.ofNanos(longestNanos);
    }
  }

  /**
   * Somebody reads the tables in a transaction that does not end, while the oldest part is to go
   * and none was made in time: all that comes goes to the rest. Nodes give way to the reader and
   * nothing stands still. When he has gone, they make up for it.
   */
  static void reader(ClusterScenario.Stage stage) throws IOException, SQLException {
    String[] settings =
        Stream.concat(
                Stream.of(ClusterScenario.Stage.usual()),
                Stream.of("retention=" + RETENTION.toHours() + "h"))
            .toArray(String[]::new);
    Postgres postgres = stage.postgres();
    try (ClusterScene scene = stage.scene(postgres, ClusterScene.Options.nodes(NODES, settings))) {
      List<Part> before = makeOld(scene);
      scene.publishers().start();
      scene.awaitBalance();
      scene.await(
          () -> scene.ledger().counts().arrivals() > 0,
          LONGEST_UPKEEP,
          () -> "nothing arrives:\n" + scene.nodes().getFirst().server().tail());
      Stillness stillness = new Stillness(scene.ledger());
      try (Connection reader = postgres.connect(ClusterScene.DATABASE)) {
        reader.setAutoCommit(false);
        read(reader);
        long gaveWay = gaveWay(postgres);
        scene.tick("waiting until nodes have given way to a reader");
        scene.await(
            () -> {
              stillness.look();
              return gaveWay(postgres) > gaveWay;
            },
            LONGEST_UPKEEP,
            () -> "nobody wants to make parts:\n" + scene.nodes().getFirst().server().tail());
        scene.ledger().watch(ClusterScene.allEndpoints());
        scene.awaitDelivery(System.nanoTime());
        stillness.look();
        if (!parts(scene).equals(before)) {
          scene.ledger().problem("parts were made or dropped though somebody was reading");
        }
        reader.rollback();
      }
      scene.tick("waiting until parts are made and dropped");
      scene.await(
          () -> {
            stillness.look();
            return isMadeUpFor(scene, before);
          },
          LONGEST_UPKEEP,
          () -> "parts are not made up for:\n" + scene.nodes().getFirst().server().tail());
      long at = System.nanoTime();
      scene.awaitAcceptance(at);
      stillness.look();
      long left = inRest(scene);
      if (left > 0) {
        scene.ledger().problem("%d messages are in no part that can be dropped".formatted(left));
      }
      if (stillness.longest().compareTo(ClusterScene.LEASE) > 0) {
        scene.ledger().problem("nothing arrived for " + stillness.longest());
      }
      List<Part> after = parts(scene);
      scene.settle();
      stage
          .run()
          .report()
          .add(
              stage.name(),
              "nothing arrived for, at most",
              stillness.longest().toMillis() / 1_000.0,
              "s",
              Target.atMost(SHORTLY.toMillis() / 1_000.0));
      stage.count("parts made", after.stream().filter(part -> !before.contains(part)).count());
      stage.count("parts dropped", before.stream().filter(part -> !after.contains(part)).count());
    }
  }

  private static void read(Connection reader) throws SQLException {
    try (Statement statement = reader.createStatement()) {
      statement.executeQuery("SELECT count(*) FROM messages").close();
    }
  }

  private static long gaveWay(Postgres postgres) {
    return postgres.child().log().lines().filter(line -> line.contains(GAVE_WAY)).count();
  }

  /**
   * Makes the database as if its nodes had made no part for the last hours, with something in the
   * oldest that was kept for long enough.
   *
   * @return the parts that there are then
   */
  private static List<Part> makeOld(ClusterScene scene) throws SQLException {
    scene.await(
        () -> lastUntil(scene).isAfter(now(scene).plus(WIDTH)),
        LONGEST_UPKEEP,
        () -> "nobody makes parts:\n" + scene.nodes().getFirst().server().tail());
    try (Connection connection = scene.postgres().connect(ClusterScene.DATABASE);
        Statement statement = connection.createStatement()) {
      statement.execute("SET ROLE " + ClusterScene.ROLE);
      History history = new History(connection);
      history.cutLowest(WIDTH, RECENT);
      history.dropAbove(Id.floor(now(scene)));
      long end = history.parts().getFirst().until();
      long begin = Id.floor(Id.time(end).minus(WIDTH));
      history.fill(new Part(begin, end), OLD_ROWS, _ -> {});
      return history.parts();
    }
  }

  private static boolean isMadeUpFor(ClusterScene scene, List<Part> before) {
    return scene.look().number("SELECT min(first) FROM parts").orElse(0) > before.getFirst().first()
        && lastUntil(scene).isAfter(now(scene).plus(WIDTH));
  }

  private static long inRest(ClusterScene scene) {
    return scene.look().number("SELECT count(*) FROM messages_rest").orElse(0);
  }

  private static List<Part> parts(ClusterScene scene) throws SQLException {
    try (Connection connection = scene.postgres().connect(ClusterScene.DATABASE)) {
      return new History(connection).parts();
    }
  }

  private static Instant lastUntil(ClusterScene scene) {
    return Id.time(scene.look().number("SELECT max(until) FROM parts").orElse(0));
  }

  /** The time is the database's. */
  private static Instant now(ClusterScene scene) {
    return Instant.ofEpochMilli(
        scene
            .look()
            .number("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
            .orElseThrow());
  }
}
