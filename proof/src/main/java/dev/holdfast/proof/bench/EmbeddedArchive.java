package dev.holdfast.proof.bench;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;

/**
 * Embedded stores. What is in the full one is of a little more than an hour, and servers keep one:
 * so some of it is removed while it is measured, as it is wherever history is kept for a time.
 */
final class EmbeddedArchive implements Archive {
  private static final String FILE = "holdfast.db";
  private static final int DATA_BYTES = 256;

  /** The shortest retention that there is. */
  private static final Duration KEPT = Duration.ofHours(1);

  private static final Duration SPAN = KEPT.plusMinutes(6);

  private final Rig rig;
  private final ReceiverProcess receiver;
  private final Path full;

  private EmbeddedArchive(Rig rig, ReceiverProcess receiver, Path full) {
    this.rig = rig;
    this.receiver = receiver;
    this.full = full;
  }

  /** Makes one with as many messages as the settings say. */
  static Archive make(Rig rig, ReceiverProcess receiver, InstantSource clock) throws IOException {
    // What is written belongs before everything that the server puts into the store.
    Instant until = clock.instant();
    Path full = newStore(rig, receiver);
    fill(rig, full, until);
    return new EmbeddedArchive(rig, receiver, full);
  }

  /** A store with subscriptions and no messages, made by a server. */
  private static Path newStore(Rig rig, ReceiverProcess receiver) throws IOException {
    Path data = rig.newDirectory();
    ServerProcess server = rig.startServer(Place.in(data));
    rig.subscribe(server, receiver, rig.settings().endpoints);
    rig.stop(server.child());
    return data;
  }

  /** Writes events whose messages were delivered at once, evenly over the time. */
  private static void fill(Rig rig, Path data, Instant until) {
    int count = rig.settings().history;
    Instant from = until.minus(SPAN);
    try (SqliteStore store = SqliteStore.open(data)) {
      StoredMessages.ofThePast(store, Rig.EVENTS, DATA_BYTES)
          .write(
              count,
              number -> from.plusMillis(SPAN.toMillis() * number / count),
              StoredMessages.delivered(),
              written -> {
                rig.progress().tick("writing message %,d of %,d".formatted(written, count));
                index(store, until);
              });
    } catch (StoreRefused | StoreException e) {
      throw new ProofException("the store could not be filled: " + e.getMessage(), e);
    } finally {
      rig.progress().end();
    }
  }

  /** As a server does between batches, so that none has to make up for it. */
  private static void index(SqliteStore store, Instant now) throws StoreException {
    while (store.upkeep(Retention.FOREVER, now).isMore()) {
      // It goes on a little at a time.
    }
  }

  @Override
  public String word() {
    return "store";
  }

  @Override
  public Place full() {
    return Place.in(full);
  }

  @Override
  public Place newEmpty() throws IOException {
    return Place.in(newStore(rig, receiver));
  }

  @Override
  public void drop(Place place) {
    rig.delete(Path.of(place.arguments().getLast()));
  }

  @Override
  public List<String> settings() {
    return List.of("retention=%ds".formatted(KEPT.toSeconds()));
  }

  @Override
  public double megabytes() {
    try {
      return Files.size(full.resolve(FILE)) / 1e6;
    } catch (IOException e) {
      throw new ProofException("the store's size cannot be read: " + e.getMessage(), e);
    }
  }

  /** As the store counts them itself: counting all would take longer than what is measured. */
  @Override
  public OptionalLong events() {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + full.resolve(FILE));
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT sum(events) FROM tenants")) {
      return OptionalLong.of(rows.next() ? rows.getLong(1) : 0);
    } catch (SQLException e) {
      throw Database.failed(e);
    }
  }
}
