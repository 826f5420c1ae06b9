package dev.holdfast.engine.store;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a finished message beside its last attempt.
 *
 * @param reason why it was dropped; absent when it was delivered
 * @param version as {@link Message#version}
 */
public record Finished(
    long id,
    long event,
    long subscription,
    long endpoint,
    @Nullable DropReason reason,
    Instant at,
    int attempts,
    @Nullable Version version) {

  /** The columns that {@link #from} reads, in its order. */
  public static final String COLUMNS =
      "id, event, subscription, endpoint, reason, finished_at, attempts, sum, version";

  public static Finished of(
      Message message, @Nullable DropReason reason, Instant at, int attempts) {
    return new Finished(
        message.id(),
        message.event(),
        message.subscription(),
        message.endpoint(),
        reason,
        at,
        attempts,
        message.version());
  }

  public long sum() {
    RowSum sum =
        RowSum.of("messages")
            .add(id)
            .add(event)
            .add(subscription)
            .add(endpoint)
            .add(reason == null ? null : reason.name())
            .add(at)
            .add(attempts);
    if (version != null) {
      sum.add("version").add(Rows.code(version));
    }
    return sum.value();
  }

  public static Finished from(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "messages", row.getLong(1), row.getLong(8), () -> read(row), Finished::sum);
  }

  private static Finished read(ResultSet row) throws SQLException {
    String reason = row.getString(5);
    return new Finished(
        row.getLong(1),
        row.getLong(2),
        row.getLong(3),
        row.getLong(4),
        reason == null ? null : DropReason.valueOf(reason),
        Rows.instant(row.getLong(6)),
        row.getInt(7),
        Rows.version(row, 9));
  }
}
