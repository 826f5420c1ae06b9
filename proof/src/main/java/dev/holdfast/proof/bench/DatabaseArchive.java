package dev.holdfast.proof.bench;

import dev.holdfast.core.model.Id;
import dev.holdfast.proof.stage.History;
import dev.holdfast.proof.stage.History.Part;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;

/** Databases of PostgreSQL. What is in the full one is of the last days and of today. */
final class DatabaseArchive implements Archive {
  /** How many there are of what has finished, today among them. */
  private static final int DAYS = 10;

  /** How wide nodes make a part with the usual retention. */
  private static final Duration PART = Duration.ofDays(1);

  private final Rig rig;
  private final ReceiverProcess receiver;
  private final Database full;

  private DatabaseArchive(Rig rig, ReceiverProcess receiver, Database full) {
    this.rig = rig;
    this.receiver = receiver;
    this.full = full;
  }

  /** Makes one with as many messages as the settings say. */
  static Archive make(Rig rig, ReceiverProcess receiver, InstantSource clock) throws IOException {
    Database full = newDatabase(rig, receiver);
    fill(rig, full, clock);
    return new DatabaseArchive(rig, receiver, full);
  }

  @Override
  public String word() {
    return "database";
  }

  @Override
  public Place full() {
    return full.place();
  }

  @Override
  public Place newEmpty() throws IOException {
    return newDatabase(rig, receiver).place();
  }

  @Override
  public void drop(Place place) {
    if (place.database() != null) {
      rig.stores().drop(place.database());
    }
  }

  @Override
  public List<String> settings() {
    return List.of();
  }

  @Override
  public double megabytes() {
    return full.number("SELECT pg_database_size(current_database())") / 1e6;
  }

  /** Its nodes drop whole parts, of which none is old enough. */
  @Override
  public OptionalLong events() {
    return OptionalLong.empty();
  }

  /** A database with subscriptions and no messages, made by a server. */
  private static Database newDatabase(Rig rig, ReceiverProcess receiver) throws IOException {
    Database database = rig.stores().newDatabase();
    ServerProcess server = rig.startServer(database.place());
    rig.subscribe(server, receiver, rig.settings().endpoints);
    // The lowest part is for what is older, the next is the one that is written to.
    while (database.number("SELECT count(*) FROM parts") < 2) {
      rig.progress().tick("waiting until the tables are cut");
      Rig.pause(Duration.ofMillis(100));
    }
    rig.stop(server.child());
    return database;
  }

  /**
   * Events and their messages, each delivered at the first attempt, over the last days and today:
   * as many in the part that is written to as in each of the others.
   */
  private static void fill(Rig rig, Database database, InstantSource clock) {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      History history = new History(connection);
      history.cutLowest(PART, DAYS - 1);
      statement.execute("SET synchronous_commit = off");
      long now = Id.floor(clock.instant());
      // The lowest is for what is older.
      List<Part> past =
          history.parts().stream().skip(1).filter(part -> part.first() < now).toList();
      int rows = rig.settings().history / past.size();
      for (int i = 0; i < past.size(); i++) {
        Part part = past.get(i);
        int before = i * rows;
        history.fill(
            new Part(part.first(), Math.min(part.until(), now)),
            rows,
            written ->
                rig.progress()
                    .tick(
                        "writing message %,d of %,d"
                            .formatted(before + written, rig.settings().history)));
      }
      rig.progress().tick("vacuuming, as the database would have done over the days");
      statement.execute("VACUUM ANALYZE");
      statement.execute("CHECKPOINT");
      rig.report().count(HistoryScenario.NAME, "parts with finished messages", past.size());
      rig.report()
          .count(HistoryScenario.NAME, "finished messages in the part that is written to", rows);
    } catch (SQLException e) {
      throw Database.failed(e);
    } finally {
      rig.progress().end();
    }
  }
}
