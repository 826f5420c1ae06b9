package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Postgres;
import dev.holdfast.proof.stage.PostgresPrograms;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Gives each server an empty place for what it accepts: a directory, or a database of one
 * PostgreSQL, which is somebody else's or our own.
 */
final class Stores implements AutoCloseable {
  /** What is said instead of a URL for a PostgreSQL of our own. */
  static final String OWN = "own";

  private final Settings settings;
  private final Path directory;
  private final List<Database> made = new ArrayList<>();
  private final List<Path> directories = new ArrayList<>();
  private @Nullable Postgres own;
  private int places;

  Stores(Settings settings, Path directory) {
    this.settings = settings;
    this.directory = directory;
  }

  boolean areShared() {
    return settings.store != null;
  }

  /** A new and empty directory, whatever servers have. */
  Path newDirectory() throws IOException {
    Path made = Files.createDirectory(directory.resolve("data-" + ++places));
    directories.add(made);
    return made;
  }

  /** Drops all databases; the directories, which are forgotten here, are the caller's to delete. */
  synchronized List<Path> takeMade() {
    List.copyOf(made).forEach(this::drop);
    List<Path> taken = List.copyOf(directories);
    directories.clear();
    return taken;
  }

  /** A new and empty place, of the kind that was chosen. */
  Place newPlace() throws IOException {
    return areShared() ? newDatabase().place() : Place.in(newDirectory());
  }

  Database newDatabase() throws IOException {
    Database system = system();
    Database database = system.named("holdfast_bench_%d_%d".formatted(pid(), ++places));
    system.execute("CREATE DATABASE " + database.name());
    made.add(database);
    return database;
  }

  void drop(Database database) {
    if (made.remove(database)) {
      try {
        system().execute("DROP DATABASE IF EXISTS " + database.name() + " WITH (FORCE)");
      } catch (IOException | ProofException e) {
        System.err.println("could not drop " + database.name() + ": " + e.getMessage());
      }
    }
  }

  private static long pid() {
    return ProcessHandle.current().pid();
  }

  /** The process of our own PostgreSQL; absent when there is none. */
  Optional<Child> process() {
    return Optional.ofNullable(own).map(Postgres::child);
  }

  private synchronized Database system() throws IOException {
    String store = settings.store;
    if (store != null && !store.equals(OWN)) {
      return new Database(store, settings.storeUser, settings.storePassword);
    }
    if (own == null) {
      own =
          Postgres.create(
              PostgresPrograms.find(settings.postgres, directory.resolve("postgres-programs")),
              directory.resolve("postgres"),
              Postgres.settingsForMeasuring());
    }
    return new Database(
        "jdbc:postgresql://127.0.0.1:%d/%s".formatted(own.port(), Postgres.USER),
        Postgres.USER,
        "");
  }

  @Override
  public synchronized void close() {
    if (own != null) {
      own.close();
    } else {
      List.copyOf(made).forEach(this::drop);
    }
  }
}
