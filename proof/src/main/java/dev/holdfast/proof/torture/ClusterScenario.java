package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Postgres;
import dev.holdfast.proof.stage.PostgresPrograms;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

/** Something that is done to nodes that share a database, or to the database. */
final class ClusterScenario implements Scenario {
  /** What all their names begin with. */
  static final String PREFIX = "cluster-";

  private static final int CYCLES_PER_ROUND = 10;
  private static final int MOST_ROUNDS = 50;

  private final String name;
  private final String about;
  private final Play play;

  private ClusterScenario(String name, String about, Play play) {
    this.name = PREFIX + name;
    this.about = about;
    this.play = play;
  }

  /** What is done. */
  interface Play {
    void on(Stage stage) throws IOException, SQLException;
  }

  /**
   * What it is done with.
   *
   * @param rounds how often
   */
  record Stage(Torture.Run run, String name, int rounds, PostgresPrograms programs) {

    /** A new database system, of which nothing has been made yet. */
    Postgres postgres(String... settings) throws IOException {
      Postgres made =
          Postgres.create(programs, run.directory().resolve(name + "-postgres"), settings);
      run.track(made);
      return made;
    }

    /** Nodes on a database system of their own. */
    ClusterScene nodes(int count) throws IOException, SQLException {
      return scene(postgres(), ClusterScene.Options.nodes(count, usual()));
    }

    ClusterScene scene(Postgres postgres, ClusterScene.Options options)
        throws IOException, SQLException {
      ClusterScene.prepare(postgres, "");
      return new ClusterScene(run, name, postgres, options);
    }

    /** Short enough that a lease is longer than an attempt. */
    static String[] usual() {
      return new String[] {"retry.unit=300ms", "delivery.timeout=1s"};
    }

    void count(String figure, long count) {
      run.report().count(name, figure, count);
    }
  }

  /** All of them, in the order in which they are played. */
  static List<Scenario> all() {
    return Stream.of(
            new ClusterScenario(
                "kill", "a node is killed by kill -9 and started again", NodeFaults::kill),
            new ClusterScenario(
                "stop", "a node stands still for longer than its lease", NodeFaults::freeze),
            new ClusterScenario("cut", "a node cannot reach the database", NodeFaults::cutOff),
            new ClusterScenario("roll", "nodes are stopped and started in turn", NodeFaults::roll),
            new ClusterScenario(
                "clock", "clocks of the nodes are an hour apart", NodeFaults::clocksApart),
            new ClusterScenario(
                "restart", "the database is restarted and killed", DatabaseFaults::restart),
            new ClusterScenario(
                "promote", "the database is lost, its standby goes on", DatabaseFaults::promote),
            new ClusterScenario(
                "full", "the database has no room for its tables", DatabaseFaults::full),
            new ClusterScenario(
                "log", "the database has no room for its log, and ends", DatabaseFaults::log),
            new ClusterScenario(
                "connections", "the database takes no connections", DatabaseFaults::connections),
            new ClusterScenario("slow", "the database is slow", DatabaseFaults::slow),
            new ClusterScenario(
                "schema", "the tables are of another version", DatabaseFaults::schema),
            new ClusterScenario(
                "parts",
                "parts of the tables are made and dropped beside one who reads for long",
                PartFaults::reader))
        .map(Scenario.class::cast)
        .toList();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String about() {
    return about;
  }

  @Override
  public void run(Torture.Run run) throws IOException {
    Path unpacked = run.directory().resolve("postgres-programs");
    PostgresPrograms programs;
    try {
      programs = PostgresPrograms.find(run.postgres(), unpacked);
    } catch (ProofException e) {
      run.skip("%s: SKIPPED, %s".formatted(name, e.getMessage()));
      return;
    }
    int rounds = Math.clamp(run.cycles() / CYCLES_PER_ROUND, 1, MOST_ROUNDS);
    try {
      play.on(new Stage(run, name, rounds, programs));
    } catch (SQLException e) {
      throw new ProofException("the database failed: " + e.getMessage(), e);
    }
  }
}
