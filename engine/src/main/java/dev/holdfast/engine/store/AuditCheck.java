package dev.holdfast.engine.store;

import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows all chains of the audit log from their beginning, and names the first entry of each that
 * is not as it was written or not there. What was cut off at the very end of the log it cannot see:
 * for that, hashes are kept elsewhere.
 */
public final class AuditCheck {
  /** How many rows are in memory at once, where it can be said. */
  private static final int FETCHED = 500;

  private final Connection connection;
  private final Consumer<String> problems;
  private final MessageDigest sha256 = Facts.sha256();
  private final Map<String, AuditChains.Link> heads = new HashMap<>();
  private final Set<String> broken = new HashSet<>();
  private long rows;

  private AuditCheck(Connection connection, Consumer<String> problems) {
    this.connection = connection;
    this.problems = problems;
  }

  /** Returns how many entries there are. */
  public static long run(Connection connection, Consumer<String> problems) throws SQLException {
    AuditCheck check = new AuditCheck(connection, problems);
    check.run();
    return check.rows;
  }

  private void run() throws SQLException {
    long lastId = 0;
    Long gap = null;
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(FETCHED);
      try (ResultSet row =
          statement.executeQuery(
              "SELECT id, chain, number, at, action, actor, target, entry, previous, hash"
                  + " FROM audit ORDER BY id")) {
        while (row.next()) {
          rows++;
          if (row.getLong(1) != lastId + 1 && gap == null) {
            gap = lastId;
          }
          lastId = row.getLong(1);
          look(row);
        }
      }
    }
    if (gap != null && broken.isEmpty()) {
      problems.accept(
          "audit log: the end of a chain is missing: there is nothing right behind row " + gap);
    }
  }

  private void look(ResultSet row) throws SQLException {
    String chain = String.valueOf(row.getString(2));
    long number = row.getLong(3);
    AuditChains.Link previous = heads.getOrDefault(chain, AuditChains.Link.start(chain));
    byte[] hash = row.getBytes(10);
    heads.put(chain, new AuditChains.Link(chain, number, "", hash));
    if (broken.contains(chain)) {
      return;
    }
    String fault = fault(row, previous);
    if (fault != null) {
      broken.add(chain);
      problems.accept("audit log: chain \"%s\": %s".formatted(chain, fault));
    }
  }

  private @Nullable String fault(ResultSet row, AuditChains.Link previous) throws SQLException {
    long number = row.getLong(3);
    if (number != previous.number() + 1) {
      return "entry %d is missing".formatted(previous.number() + 1);
    }
    String entry = String.valueOf(row.getString(8));
    if (!Arrays.equals(row.getBytes(9), previous.hash())) {
      return "entry %d does not follow the one before it".formatted(number);
    }
    boolean isAsHashed =
        Arrays.equals(row.getBytes(10), AuditChains.hash(sha256, previous.hash(), entry));
    String head =
        Act.head(
            String.valueOf(row.getString(2)),
            number,
            Rows.instant(row.getLong(4)),
            row.getString(5),
            row.getString(7));
    boolean isFoundByWhatItSays =
        entry.startsWith(head + ",\"actor\":")
            && entry.contains(Facts.quoted(String.valueOf(row.getString(6))));
    return isAsHashed && isFoundByWhatItSays ? null : "entry %d was changed".formatted(number);
  }
}
