package dev.holdfast.engine.store;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seals what a store of an earlier version has in plain text, and wipes that out of its files.
 *
 * <p>All rows are sealed by one transaction, which also makes the table {@code unwiped}. That says,
 * until it is dropped, that plain text may still be in pages that are not used any more and in the
 * log. Wiping can be repeated; after a crash it is done at the next open.
 */
final class Sealing {
  private static final Logger LOG = LoggerFactory.getLogger(Sealing.class);

  /** How many rows are looked at together. */
  private static final int ROWS = 1_000;

  /** A file up to this size is rewritten, which takes seconds, and room for it. */
  private static final long REWRITTEN_BYTES = 1L << 30;

  private static final String PLAIN_ENDPOINTS = " FROM endpoints WHERE sealed IS NULL";

  private static final String PLAIN_SUBSCRIPTIONS =
      " FROM subscriptions WHERE sealed IS NULL AND (auth_token IS NOT NULL OR headers != ''"
          + " OR secrets != '' OR written_url IS NOT NULL)";

  private static final String UNWIPED =
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'unwiped'";

  private static final String DROP_UNWIPED = "DROP TABLE unwiped";

  private final Connection connection;
  private final Writer writer;
  private final Seals seals;
  private final long rewrittenBytes;

  /**
   * @param connection the writer's own, that nobody else uses yet
   */
  Sealing(Connection connection, Writer writer, Seals seals) {
    this(connection, writer, seals, REWRITTEN_BYTES);
  }

  /**
   * @param rewrittenBytes how large a file may be that is rewritten
   */
  Sealing(Connection connection, Writer writer, Seals seals, long rewrittenBytes) {
    this.connection = connection;
    this.writer = writer;
    this.seals = seals;
    this.rewrittenBytes = rewrittenBytes;
  }

  void run() throws SQLException, StoreException {
    sealRows();
    wipe();
  }

  /**
   * Seals every row that is not; together with that it is noted that there is something to wipe.
   */
  void sealRows() throws SQLException, StoreException {
    int endpoints = Sqlite.number(connection, "SELECT count(*)" + PLAIN_ENDPOINTS);
    int subscriptions = Sqlite.number(connection, "SELECT count(*)" + PLAIN_SUBSCRIPTIONS);
    if (endpoints == 0 && subscriptions == 0) {
      return;
    }
    LOG.info(
        "store.sealing endpoints={} subscriptions={} next=\"what others should not know is"
            + " encrypted, and its plain text wiped out\"",
        endpoints,
        subscriptions);
    int before = Sqlite.number(connection, "PRAGMA secure_delete");
    Sqlite.execute(connection, "PRAGMA secure_delete = ON");
    try {
      writer.behind(
          "sealing what was in plain text",
          () -> {
            Sqlite.execute(connection, "CREATE TABLE IF NOT EXISTS unwiped (id INTEGER)");
            sealEndpoints();
            sealSubscriptions();
            return true;
          });
    } finally {
      Sqlite.execute(connection, "PRAGMA secure_delete = " + before);
    }
  }

  private void sealEndpoints() throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE endpoints SET url = ?, sealed = ?, sum = ? WHERE id = ?")) {
      for (List<Endpoint> plain = endpoints(); !plain.isEmpty(); plain = endpoints()) {
        for (Endpoint endpoint : plain) {
          update.setString(1, seals.digest(endpoint));
          update.setBytes(2, seals.seal(endpoint));
          update.setLong(3, Rows.sum(endpoint, true));
          update.setLong(4, endpoint.id());
          update.executeUpdate();
        }
      }
    }
  }

  private List<Endpoint> endpoints() throws SQLException {
    List<Endpoint> plain = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT " + Rows.ENDPOINT_COLUMNS + PLAIN_ENDPOINTS + " LIMIT " + ROWS)) {
      while (rows.next()) {
        plain.add(Rows.endpoint(rows, seals));
      }
    }
    return plain;
  }

  private record Plain(Subscription subscription, @Nullable Instant endedAt) {}

  private void sealSubscriptions() throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE subscriptions SET auth_token = NULL, headers = '', secrets = '',"
                + " written_url = NULL, sealed = ?, sum = ? WHERE id = ?")) {
      for (List<Plain> plain = subscriptions(); !plain.isEmpty(); plain = subscriptions()) {
        for (Plain row : plain) {
          update.setBytes(1, seals.seal(row.subscription()));
          update.setLong(2, SubscriptionRow.sum(row.subscription(), row.endedAt(), true));
          update.setLong(3, row.subscription().id());
          update.executeUpdate();
        }
      }
    }
  }

  private List<Plain> subscriptions() throws SQLException {
    List<Plain> plain = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT " + SubscriptionRow.COLUMNS + PLAIN_SUBSCRIPTIONS + " LIMIT " + ROWS)) {
      while (rows.next()) {
        plain.add(new Plain(SubscriptionRow.read(rows, seals), SubscriptionRow.endedAt(rows)));
      }
    }
    return plain;
  }

  /**
   * Wipes what is left of plain text, if there may be some. What cannot be done now is put off to
   * the next open: secrets are sealed all the same, and nobody is served by a store that is shut.
   */
  void wipe() throws SQLException {
    if (Sqlite.number(connection, UNWIPED) == 0) {
      return;
    }
    try {
      long bytes = (long) Sqlite.number(connection, "PRAGMA page_count") * Sqlite.PAGE_BYTES;
      if (bytes > rewrittenBytes) {
        isMoved();
        LOG.warn(
            "store.not-rewritten bytes={} next=\"plain text that was deleted before may be left in"
                + " unused parts of the file; make a backup and restore it, that has none of it\"",
            bytes);
        return;
      }
      rewrite();
      if (isMoved()) {
        Sqlite.execute(connection, DROP_UNWIPED);
        LOG.info("store.sealed next=\"no secret is in the store's files in plain text\"");
      } else {
        postpone(null);
      }
    } catch (SQLException e) {
      if (Sqlite.isDamage(e)) {
        throw e;
      }
      postpone(e);
    }
  }

  private static void postpone(@Nullable SQLException cause) {
    LOG.warn(
        "store.wiping-postponed next=\"plain text may be left in the store's files; tried again at"
            + " the next start\"",
        cause);
  }

  private void rewrite() throws SQLException {
    Sqlite.execute(connection, "PRAGMA temp_store = FILE");
    try {
      Sqlite.execute(connection, "VACUUM");
    } finally {
      Sqlite.execute(connection, "PRAGMA temp_store = MEMORY");
    }
  }

  /** Whether anything that should be sealed is not. */
  static boolean isNeeded(Connection connection) throws SQLException {
    return Sqlite.number(connection, "SELECT EXISTS (SELECT 1" + PLAIN_ENDPOINTS + ")") != 0
        || Sqlite.number(connection, "SELECT EXISTS (SELECT 1" + PLAIN_SUBSCRIPTIONS + ")") != 0;
  }

  /** Notes that a copy which was made row by row has nothing to wipe. */
  static void copied(Connection copy) throws SQLException {
    if (Sqlite.number(copy, UNWIPED) != 0) {
      Sqlite.execute(copy, DROP_UNWIPED);
    }
  }

  /** Moves all of the log into the file and cuts it off, unless somebody reads from it. */
  private boolean isMoved() throws SQLException {
    return Sqlite.number(connection, "PRAGMA wal_checkpoint(TRUNCATE)") == 0;
  }
}
