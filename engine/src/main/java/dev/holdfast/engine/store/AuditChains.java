package dev.holdfast.engine.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends to the chains of the audit log, within the transaction that brings what they tell of.
 *
 * <p>An entry's hash is that of the hash before it and of its own text, so whoever changes an entry
 * has to change all behind it, and whoever knows one of those notices. Where each chain ends is in
 * memory once it was needed, unless others append too: then one transaction does at a time, and
 * looks where the chains end. A line in the log for each entry lets others know, too.
 */
public final class AuditChains {
  private static final Logger LOG = LoggerFactory.getLogger(Audit.class);
  private static final int HASH_BYTES = 32;
  private static final String UNIQUE_VIOLATION = "23505";

  private final Connection connection;
  private final @Nullable Transactions shared;
  private final MessageDigest sha256 = Facts.sha256();
  private final Map<String, Link> heads = new HashMap<>();

  /** What the transaction under way appends. */
  private final List<Link> appended = new ArrayList<>();

  /** The number of the last entry of all, in a transaction of a store that others append to. */
  private long last;

  private @Nullable PreparedStatement insert;
  private @Nullable PreparedStatement findHead;

  /** An entry as the next one needs to know it. */
  record Link(String chain, long number, String action, byte[] hash) {
    static Link start(String chain) {
      return new Link(chain, 0, "", new byte[HASH_BYTES]);
    }
  }

  AuditChains(Connection connection) {
    this(connection, null);
  }

  private AuditChains(Connection connection, @Nullable Transactions shared) {
    this.connection = connection;
    this.shared = shared;
  }

  /**
   * Those of a store that others append to as well, for one transaction, which sees what was
   * committed before each of its statements. What it does after the first entry keeps the others
   * waiting, so that is best appended at its end.
   */
  public static AuditChains shared(Connection connection, Transactions shared) {
    return new AuditChains(connection, shared);
  }

  /** Appends an entry. */
  public void append(Act act) throws SQLException {
    if (shared != null && appended.isEmpty()) {
      shared.lock(connection, Transactions.Lock.AUDIT);
      last = last(connection);
    }
    Link previous = head(act.chain());
    long number = previous.number() + 1;
    String entry = act.json(number);
    byte[] hash = hash(sha256, previous.hash(), entry);
    if (insert == null) {
      insert =
          connection.prepareStatement(
              "INSERT INTO audit (chain, number, at, action, actor, target, entry, previous, hash"
                  + (shared == null
                      ? ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                      : ", id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    }
    if (shared != null) {
      insert.setLong(10, ++last);
    }
    insert.setString(1, act.chain());
    insert.setLong(2, number);
    insert.setLong(3, Rows.micros(act.at()));
    insert.setString(4, act.action());
    insert.setString(5, act.actor());
    insert.setString(6, act.target());
    insert.setString(7, entry);
    insert.setBytes(8, previous.hash());
    insert.setBytes(9, hash);
    try {
      insert.executeUpdate();
    } catch (SQLException e) {
      if (Sqlite.isConstraint(e) || UNIQUE_VIOLATION.equals(e.getSQLState())) {
        // Tried again for ever it would keep everything else from being written.
        throw new Damaged(
            "the chain \"%s\" of the audit log has an entry %d that somebody else has written"
                .formatted(act.chain(), number),
            e);
      }
      throw e;
    }
    appended.add(new Link(act.chain(), number, act.action(), hash));
  }

  static byte[] hash(MessageDigest sha256, byte[] previous, String entry) {
    sha256.update(previous);
    return sha256.digest(entry.getBytes(StandardCharsets.UTF_8));
  }

  private static long last(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT coalesce(max(id), 0) FROM audit");
        ResultSet row = statement.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private Link head(String chain) throws SQLException {
    for (Link link : appended.reversed()) {
      if (link.chain().equals(chain)) {
        return link;
      }
    }
    Link known = heads.get(chain);
    if (known != null) {
      return known;
    }
    if (findHead == null) {
      findHead =
          connection.prepareStatement(
              "SELECT number, action, hash FROM audit WHERE chain = ?"
                  + " ORDER BY number DESC LIMIT 1");
    }
    findHead.setString(1, chain);
    try (ResultSet row = findHead.executeQuery()) {
      return row.next()
          ? new Link(chain, row.getLong(1), row.getString(2), row.getBytes(3))
          : Link.start(chain);
    }
  }

  /** What was appended is kept. */
  public void committed() {
    for (Link link : appended) {
      if (shared == null) {
        heads.put(link.chain(), link);
      }
      LOG.info(
          "audit.appended chain=\"{}\" number={} action={} hash={}",
          link.chain(),
          link.number(),
          link.action(),
          HexFormat.of().formatHex(link.hash()));
    }
    appended.clear();
  }

  void undone() {
    appended.clear();
  }
}
