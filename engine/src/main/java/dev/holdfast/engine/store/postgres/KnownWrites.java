package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import dev.holdfast.engine.store.SubscriptionRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a batch changes of what everyone knows. That is rare, and done by one node at a time:
 * whoever does it has the lock of the version from then on, so versions are committed in their
 * order.
 */
final class KnownWrites {
  private static final String NEXT_VERSION =
      "UPDATE known SET version = version + 1 WHERE id = 0 RETURNING version";

  private static final String VERSIONS =
      "INSERT INTO known_of_tenants (tenant, version) VALUES (?, ?)"
          + " ON CONFLICT (tenant) DO UPDATE SET version = excluded.version";

  private static final String NEW_ENDPOINT =
      "INSERT INTO endpoints ("
          + Rows.ENDPOINT_COLUMNS
          + ", shard, changed) VALUES ("
          + "?, ".repeat(21)
          + "?) ON CONFLICT (tenant, id) DO NOTHING";

  private static final String SETTINGS =
      "UPDATE endpoints SET rate_limit = ?, sealed = ?, changed = ? WHERE tenant = ? AND id = ?";

  private static final String END = "UPDATE subscriptions SET ended_at = ?, sum = ? WHERE id = ?";

  private static final String CHANGED = "UPDATE subscriptions SET changed = ? WHERE id = ?";

  private static final String FORGET =
      "UPDATE subscriptions SET forgotten = clock_timestamp(), changed = ? WHERE id = ?";

  private static final int RATE_LIMIT = 18;

  private final Seals seals;
  private final List<Endpoint> newEndpoints = new ArrayList<>();
  private final List<Endpoint> configured = new ArrayList<>();
  private final List<Subscription> created = new ArrayList<>();
  private final List<Subscription> updated = new ArrayList<>();
  private final List<Write.Unsubscribe> ended = new ArrayList<>();
  private final List<Long> forgotten = new ArrayList<>();
  private final Set<String> tenants = new HashSet<>();
  private long version;

  private KnownWrites(Seals seals) {
    this.seals = seals;
  }

  static KnownWrites of(Batch batch, Seals seals) {
    KnownWrites writes = new KnownWrites(seals);
    Set<Long> set = new HashSet<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Subscribe subscribe -> writes.add(subscribe);
        case Write.Update update -> writes.add(update);
        case Write.Import all -> {
          all.created().forEach(writes::add);
          all.changed().forEach(writes::add);
        }
        case Write.Unsubscribe unsubscribe -> {
          writes.ended.add(unsubscribe);
          writes.tenants.add(unsubscribe.subscription().tenant());
        }
        case Write.Forget forget -> writes.forgotten.add(forget.subscription());
        case Write.Configure configure -> set.add(configure.endpoint());
        default -> {}
      }
    }
    for (Deed deed : batch.deeds()) {
      if (deed.what() instanceof Deed.Configured done) {
        set.add(done.after().id());
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      if (set.contains(endpoint.id())) {
        writes.configured.add(endpoint);
        writes.tenants.add(endpoint.tenant());
      }
    }
    return writes;
  }

  private void add(Write.Subscribe subscribe) {
    if (subscribe.newEndpoint() != null) {
      newEndpoints.add(subscribe.newEndpoint());
    }
    created.add(subscribe.subscription());
    tenants.add(subscribe.subscription().tenant());
  }

  private void add(Write.Update update) {
    if (update.newEndpoint() != null) {
      newEndpoints.add(update.newEndpoint());
    }
    updated.add(update.subscription());
    tenants.add(update.subscription().tenant());
  }

  boolean isEmpty() {
    return tenants.isEmpty() && forgotten.isEmpty();
  }

  /** Those whose events go another way from now on. */
  Set<String> tenants() {
    return tenants;
  }

  /** The version that this makes. */
  long version() {
    return version;
  }

  /** Keeps others from changing anything until the transaction ends. */
  void lock(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(NEXT_VERSION);
        ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        throw new SQLException("the version of what everyone knows is missing");
      }
      version = row.getLong(1);
    }
  }

  /**
   * Writes it all.
   *
   * @return how often the server was asked
   */
  int write(Connection connection) throws SQLException {
    if (isEmpty()) {
      return 0;
    }
    return each(connection, VERSIONS, List.copyOf(tenants), null, this::setVersion)
        + each(connection, NEW_ENDPOINT, newEndpoints, null, this::setNew)
        + each(connection, SETTINGS, configured, null, this::setSettings)
        + each(
            connection,
            SubscriptionRow.INSERT,
            created,
            null,
            (row, subscription) -> SubscriptionRow.setNew(row, subscription, seals))
        + each(
            connection,
            SubscriptionRow.UPDATE,
            updated,
            "a subscription to be changed is not there",
            (row, subscription) -> SubscriptionRow.setChanged(row, subscription, seals))
        + each(connection, END, ended, null, KnownWrites::setEnd)
        + each(connection, CHANGED, changedSubscriptions(), null, this::setChanged)
        + each(connection, FORGET, forgotten, null, this::setChanged);
  }

  private List<Long> changedSubscriptions() {
    Set<Long> ids = new HashSet<>();
    created.forEach(subscription -> ids.add(subscription.id()));
    updated.forEach(subscription -> ids.add(subscription.id()));
    ended.forEach(end -> ids.add(end.subscription().id()));
    return List.copyOf(ids);
  }

  private void setVersion(PreparedStatement row, String tenant) throws SQLException {
    row.setString(1, tenant);
    row.setLong(2, version);
  }

  private void setNew(PreparedStatement row, Endpoint endpoint) throws SQLException {
    row.setLong(1, endpoint.id());
    row.setString(2, endpoint.tenant());
    row.setString(3, seals.digest(endpoint));
    row.setLong(4, Rows.micros(endpoint.health().createdAt()));
    Rows.setChanging(row, 5, endpoint.withRateLimit(null));
    setRateLimit(row, RATE_LIMIT, endpoint);
    row.setBytes(20, seals.seal(endpoint));
    row.setInt(21, Shards.of(endpoint.id()));
    row.setLong(22, version);
  }

  private void setSettings(PreparedStatement row, Endpoint endpoint) throws SQLException {
    setRateLimit(row, 1, endpoint);
    row.setBytes(2, seals.seal(endpoint));
    row.setLong(3, version);
    row.setString(4, endpoint.tenant());
    row.setLong(5, endpoint.id());
  }

  private static void setRateLimit(PreparedStatement row, int column, Endpoint endpoint)
      throws SQLException {
    if (endpoint.rateLimit() == null) {
      row.setNull(column, Types.DOUBLE);
    } else {
      row.setDouble(column, endpoint.rateLimit().perSecond());
    }
  }

  private static void setEnd(PreparedStatement row, Write.Unsubscribe end) throws SQLException {
    row.setLong(1, Rows.micros(end.at()));
    row.setLong(2, SubscriptionRow.sum(end.subscription(), end.at()));
    row.setLong(3, end.subscription().id());
  }

  private void setChanged(PreparedStatement row, long id) throws SQLException {
    row.setLong(1, version);
    row.setLong(2, id);
  }

  private static <T> int each(
      Connection connection,
      String sql,
      List<T> things,
      @Nullable String otherwise,
      SeldomWrites.Setting<T> setting)
      throws SQLException {
    return SeldomWrites.each(connection, sql, things, otherwise, setting);
  }
}
