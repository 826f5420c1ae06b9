package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks into the store of a server that does not run, without leaving a trace: through other names
 * of the same files, so that nothing is written beside them; through a copy on another disk.
 */
final class StoreLook {
  static final String FILE = "holdfast.db";
  static final String LOG = "holdfast.db-wal";
  static final String LOCK = "holdfast.lock";

  private StoreLook() {}

  /**
   * A finished message.
   *
   * @param reason why it was dropped; absent when it was delivered
   */
  record Finished(int attempts, @Nullable String reason) {}

  /** All messages in a store, by their ids. */
  record Contents(Set<Long> unfinished, Map<Long, Finished> finished) {}

  /** The ids of the unfinished messages. */
  static Set<Long> unfinished(Path data, Path look) {
    return read(data, look, StoreLook::unfinished);
  }

  static Contents contents(Path data, Path look) {
    return read(
        data, look, connection -> new Contents(unfinished(connection), finished(connection)));
  }

  private interface Read<T> {
    T from(Statement statement) throws SQLException;
  }

  private static <T> T read(Path data, Path look, Read<T> read) {
    try {
      Files.createDirectories(look);
      try {
        for (String name : List.of(FILE, LOG)) {
          if (Files.exists(data.resolve(name))) {
            linkOrCopy(data.resolve(name), look.resolve(name));
          }
        }
        String url = "jdbc:sqlite:file:" + look.resolve(FILE).toUri().getRawPath() + "?mode=ro";
        try (Connection connection = DriverManager.getConnection(url);
            Statement statement = connection.createStatement()) {
          return read.from(statement);
        }
      } finally {
        Scene.delete(look);
      }
    } catch (IOException | SQLException e) {
      throw new ProofException("the store cannot be looked into: " + e.getMessage(), e);
    }
  }

  private static void linkOrCopy(Path file, Path other) throws IOException {
    if (Files.getFileStore(file)
        .equals(Files.getFileStore(Objects.requireNonNull(other.getParent())))) {
      Files.createLink(other, file);
    } else {
      Files.copy(file, other);
    }
  }

  static Set<Long> unfinished(Statement statement) throws SQLException {
    Set<Long> ids = new HashSet<>();
    try (ResultSet rows = statement.executeQuery("SELECT id FROM open")) {
      while (rows.next()) {
        ids.add(rows.getLong(1));
      }
    }
    return ids;
  }

  static Map<Long, Finished> finished(Statement statement) throws SQLException {
    Map<Long, Finished> finished = new HashMap<>();
    try (ResultSet rows = statement.executeQuery("SELECT id, attempts, reason FROM messages")) {
      while (rows.next()) {
        finished.put(rows.getLong(1), new Finished(rows.getInt(2), rows.getString(3)));
      }
    }
    return finished;
  }
}
