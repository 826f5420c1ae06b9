package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.postgres.Gathered.Type.BYTES;
import static dev.holdfast.engine.store.postgres.Gathered.Type.LONG;
import static dev.holdfast.engine.store.postgres.Gathered.Type.TEXT;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.engine.store.ContentDigest;
import dev.holdfast.engine.store.Key;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.postgres.Gathered.Form;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The ids that callers gave to the events of one batch. Each is taken by the first event with it,
 * and then tells repeats from conflicts: of all batches, of all nodes.
 *
 * <p>All of them are claimed at once; whoever claims one that another transaction has claimed waits
 * for its end. They are claimed in their order, so that no two wait for each other. After that it
 * is known which ones were taken before, and what becomes of each request follows in memory.
 */
final class Claims {
  static final Form CLAIM =
      Form.of(
          "INSERT INTO keys (tenant, caller_id, event, content, sum) SELECT * FROM %s"
              + " ON CONFLICT DO NOTHING RETURNING tenant, caller_id",
          TEXT, TEXT, LONG, BYTES, LONG);

  /** The event is found in its partition by its id, the key in the same view of the tables. */
  private static final String FIND =
      "SELECT "
          + "k.tenant, k.caller_id, k.event, k.content, k.sum, "
          + "e.id, e.tenant, e.type, e.subject, e.occurred_at, e.caller_id, e.traceparent,"
          + " e.messages, e.sum"
          + " FROM unnest(?, ?) AS w(tenant, caller_id)"
          + " JOIN keys k ON k.tenant = w.tenant AND k.caller_id = w.caller_id"
          + " JOIN events e ON e.tenant = k.tenant AND e.id = k.event";

  /** Ids of events that were removed, as far as these are still there: they are anybody's. */
  private static final String FREE =
      "DELETE FROM keys k USING unnest(?, ?) AS w(tenant, caller_id)"
          + " WHERE k.tenant = w.tenant AND k.caller_id = w.caller_id"
          + " AND NOT holdfast_is_kept(k.event)";

  private static final String LET_GO =
      "DELETE FROM keys k USING unnest(?, ?) AS w(tenant, caller_id)"
          + " WHERE k.tenant = w.tenant AND k.caller_id = w.caller_id";

  private static final String OTHER_STATE = "40001";

  private final ContentDigest digest;

  /** The first event with each id. */
  private final Map<Name, Claim> wanted = new TreeMap<>();

  /** Ids that were taken before this batch. */
  private final Map<Name, Claim> before = new HashMap<>();

  private final Map<Long, byte[]> contents = new HashMap<>();

  /** An id, in the order in which they are claimed. */
  private record Name(String tenant, String callerId) implements Comparable<Name> {
    @Override
    public int compareTo(Name other) {
      int byTenant = tenant.compareTo(other.tenant);
      return byTenant != 0 ? byTenant : callerId.compareTo(other.callerId);
    }
  }

  /**
   * An event that has taken an id.
   *
   * @param messages how many messages it has
   */
  private record Claim(long event, byte[] content, int messages) {}

  private Claims(ContentDigest digest) {
    this.digest = digest;
  }

  /** Those of a batch. */
  static Claims of(Batch batch, ContentDigest digest) {
    Claims claims = new Claims(digest);
    for (Write write : batch.writes()) {
      if (write instanceof Write.Accept accept) {
        for (AcceptedEvent accepted : accept.events()) {
          claims.add(accepted);
        }
      }
    }
    return claims;
  }

  private void add(AcceptedEvent accepted) {
    Name name = name(accepted.event());
    if (name != null) {
      byte[] content = digest.of(accepted.event());
      contents.put(accepted.event().id(), content);
      wanted.putIfAbsent(name, new Claim(accepted.event().id(), content, accepted.total()));
    }
  }

  private static @Nullable Name name(Event event) {
    return event.callerId() == null ? null : new Name(event.tenant(), event.callerId());
  }

  boolean isEmpty() {
    return wanted.isEmpty();
  }

  /** What is to be claimed. */
  Gathered rows() {
    Gathered rows = CLAIM.rows();
    wanted.forEach((name, claim) -> add(rows, name, claim));
    return rows;
  }

  private static void add(Gathered rows, Name name, Claim claim) {
    rows.add(
        name.tenant(),
        name.callerId(),
        claim.event(),
        claim.content(),
        new Key(name.tenant(), name.callerId(), claim.event(), claim.content()).sum());
  }

  /**
   * Takes in which ids were claimed, and reads whose the others are.
   *
   * @return whether that was needed
   */
  boolean learn(Connection connection, ResultSet claimed) throws SQLException {
    Map<Name, Claim> others = new TreeMap<>(wanted);
    takeAway(others, claimed);
    if (others.isEmpty()) {
      return false;
    }
    try (PreparedStatement statement = connection.prepareStatement(FIND)) {
      setNames(connection, statement, new ArrayList<>(others.keySet()));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          Key key = Key.from(rows);
          Name name = new Name(key.tenant(), Objects.requireNonNull(key.callerId()));
          int messages = Rows.eventHead(rows, 6).messages();
          before.put(name, new Claim(key.event(), key.content(), messages));
          others.remove(name);
        }
      }
    }
    if (!others.isEmpty()) {
      claimFreed(connection, others);
    }
    return true;
  }

  /** Claims ids again whose events were removed. */
  private static void claimFreed(Connection connection, Map<Name, Claim> freed)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(FREE)) {
      setNames(connection, statement, new ArrayList<>(freed.keySet()));
      statement.executeUpdate();
    }
    Gathered rows = CLAIM.rows();
    freed.forEach((name, claim) -> add(rows, name, claim));
    try (PreparedStatement statement = connection.prepareStatement(rows.sql())) {
      rows.set(connection, statement, 1);
      try (ResultSet claimed = statement.executeQuery()) {
        takeAway(freed, claimed);
      }
    }
    if (!freed.isEmpty()) {
      // Another has taken it in this moment: at the next try that one is found.
      throw new SQLException("an id of a caller has just been given up", OTHER_STATE);
    }
  }

  private static void takeAway(Map<Name, Claim> claims, ResultSet claimed) throws SQLException {
    while (claimed.next()) {
      claims.remove(new Name(claimed.getString(1), claimed.getString(2)));
    }
  }

  private static void setNames(Connection connection, PreparedStatement statement, List<Name> names)
      throws SQLException {
    statement.setArray(1, texts(connection, names.stream().map(Name::tenant).toList()));
    statement.setArray(2, texts(connection, names.stream().map(Name::callerId).toList()));
  }

  private static Array texts(Connection connection, List<String> texts) throws SQLException {
    return connection.createArrayOf("text", texts.toArray());
  }

  /** What becomes of each request, and which ids were claimed for events that are not kept. */
  Verdicts judge(Batch batch) {
    Map<Name, Claim> taken = new HashMap<>(before);
    List<AcceptResult> results = new ArrayList<>();
    for (Write write : batch.writes()) {
      if (write instanceof Write.Accept accept) {
        results.add(judge(accept.events(), taken));
      }
    }
    Map<Name, @Nullable Claim> corrected = new TreeMap<>();
    wanted.forEach(
        (name, claim) -> {
          Claim by = taken.get(name);
          if (!before.containsKey(name) && (by == null || by.event() != claim.event())) {
            corrected.put(name, by);
          }
        });
    return new Verdicts(results, corrected);
  }

  private AcceptResult judge(List<AcceptedEvent> accepted, Map<Name, Claim> taken) {
    List<Receipt> receipts = new ArrayList<>(accepted.size());
    List<Name> claimed = new ArrayList<>();
    for (int index = 0; index < accepted.size(); index++) {
      Event event = accepted.get(index).event();
      int messages = accepted.get(index).total();
      Name name = name(event);
      byte[] content = contents.get(event.id());
      if (name == null || content == null) {
        receipts.add(new Receipt(event.id(), event.publicId(), messages, false));
        continue;
      }
      Claim first = taken.putIfAbsent(name, new Claim(event.id(), content, messages));
      if (first == null) {
        claimed.add(name);
        receipts.add(new Receipt(event.id(), event.publicId(), messages, false));
      } else if (Arrays.equals(content, first.content())) {
        receipts.add(new Receipt(first.event(), event.publicId(), first.messages(), true));
      } else {
        claimed.forEach(taken::remove);
        return new AcceptResult.Conflict(index);
      }
    }
    return new AcceptResult.Kept(receipts);
  }

  /**
   * What became of the requests of a batch.
   *
   * @param corrected ids that the first event with them did not get, and the one that did, if any
   */
  record Verdicts(List<AcceptResult> results, Map<Name, @Nullable Claim> corrected) {

    /**
     * Gives ids that were claimed for events that are not kept to those that are.
     *
     * @return whether that was needed
     */
    boolean correct(Connection connection) throws SQLException {
      if (corrected.isEmpty()) {
        return false;
      }
      try (PreparedStatement statement = connection.prepareStatement(LET_GO)) {
        setNames(connection, statement, new ArrayList<>(corrected.keySet()));
        statement.executeUpdate();
      }
      Gathered claims = CLAIM.rows();
      corrected.forEach(
          (name, claim) -> {
            if (claim != null) {
              add(claims, name, claim);
            }
          });
      if (!claims.isEmpty()) {
        try (PreparedStatement statement = connection.prepareStatement(claims.sql())) {
          claims.set(connection, statement, 1);
          statement.execute();
        }
      }
      return true;
    }
  }
}
