package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How values of the model become columns, and columns values. */
final class Rows {
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long NANOS_PER_MICRO = 1_000;

  /** The columns that {@link #message} reads, in its order. */
  static final String MESSAGE_COLUMNS =
      "id, event, subscription, endpoint, status, attempts, slot, base, due, not_before,"
          + " last_attempt_at, size";

  /** The columns that {@link #event} reads, in its order. */
  static final String EVENT_COLUMNS =
      "id, tenant, type, subject, occurred_at, caller_id, traceparent, messages, data, previous";

  /** The columns that {@link #attempt} reads, in its order. */
  static final String ATTEMPT_COLUMNS =
      "attempt_at, duration_millis, scheduled, http_status, error, retry_after, response";

  /** The columns that {@link #endpoint} reads, in its order. */
  static final String ENDPOINT_COLUMNS =
      "id, tenant, url, created_at, state, since, reason, successes, failures, previous_attempts,"
          + " previous_failures, current_attempts, current_failures, consecutive_failures,"
          + " last_success_at, next_probe_at";

  /** The columns that {@link #subscription} reads, in its order. */
  static final String SUBSCRIPTION_COLUMNS = "id, tenant, endpoint, types, subject, created_at";

  private static final String TYPE_SEPARATOR = "\n";

  private Rows() {}

  /**
   * A time as it is kept: whole microseconds, finer parts cut off, so that times compare in SQL as
   * they do in the model. What is too far away for that becomes the furthest that can be kept.
   */
  static long micros(Instant time) {
    long seconds = time.getEpochSecond();
    if (seconds >= Long.MAX_VALUE / MICROS_PER_SECOND) {
      return Long.MAX_VALUE;
    }
    if (seconds <= Long.MIN_VALUE / MICROS_PER_SECOND) {
      return Long.MIN_VALUE;
    }
    return seconds * MICROS_PER_SECOND + time.getNano() / NANOS_PER_MICRO;
  }

  static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, MICROS_PER_SECOND),
        Math.floorMod(micros, MICROS_PER_SECOND) * NANOS_PER_MICRO);
  }

  static void setTime(PreparedStatement statement, int index, @Nullable Instant time)
      throws SQLException {
    if (time == null) {
      statement.setNull(index, Types.BIGINT);
    } else {
      statement.setLong(index, micros(time));
    }
  }

  static @Nullable Instant time(ResultSet row, int column) throws SQLException {
    long micros = row.getLong(column);
    return micros == 0 && row.wasNull() ? null : instant(micros);
  }

  /** A status as a number, in the order in which an endpoint's messages are counted. */
  static int code(Status status) {
    return switch (status) {
      case PENDING -> 0;
      case WAITING -> 1;
      case PARKED -> 2;
    };
  }

  static Status status(int code) throws SQLException {
    return switch (code) {
      case 0 -> Status.PENDING;
      case 1 -> Status.WAITING;
      case 2 -> Status.PARKED;
      default -> throw new SQLException("unknown status of a message: " + code);
    };
  }

  static Message message(ResultSet row) throws SQLException {
    return new Message(
        row.getLong(1),
        row.getLong(2),
        row.getLong(3),
        row.getLong(4),
        status(row.getInt(5)),
        row.getInt(6),
        row.getInt(7),
        time(row, 8),
        time(row, 9),
        time(row, 10),
        time(row, 11),
        row.getInt(12));
  }

  static Event event(ResultSet row) throws SQLException {
    String occurredAt = row.getString(5);
    return new Event(
        row.getLong(1),
        row.getString(2),
        row.getString(3),
        row.getString(4),
        occurredAt == null ? null : Instant.parse(occurredAt),
        row.getBytes(9),
        row.getBytes(10),
        row.getString(6),
        row.getString(7));
  }

  /** Sets the columns of an attempt, from {@code first} on. */
  static void setAttempt(PreparedStatement statement, int first, Attempt attempt)
      throws SQLException {
    statement.setLong(first, micros(attempt.at()));
    statement.setLong(first + 1, attempt.durationMillis());
    statement.setInt(first + 2, attempt.scheduled() ? 1 : 0);
    switch (attempt.outcome()) {
      case Outcome.Success success -> {
        statement.setInt(first + 3, success.status());
        statement.setNull(first + 4, Types.VARCHAR);
        statement.setNull(first + 5, Types.VARCHAR);
      }
      case Failure failure -> {
        if (failure.status() == null) {
          statement.setNull(first + 3, Types.INTEGER);
        } else {
          statement.setInt(first + 3, failure.status());
        }
        statement.setString(first + 4, failure.kind().name());
        statement.setString(first + 5, failure.retryAfter());
      }
    }
    statement.setBytes(first + 6, attempt.outcome().response());
  }

  /** Reads the columns of an attempt, from {@code first} on. */
  static Attempt attempt(ResultSet row, int first, long message, int number) throws SQLException {
    int httpStatus = row.getInt(first + 3);
    Integer statusIfAny = httpStatus == 0 && row.wasNull() ? null : Integer.valueOf(httpStatus);
    String error = row.getString(first + 4);
    byte[] kept = row.getBytes(first + 6);
    byte[] response = kept == null ? Outcome.NO_RESPONSE : kept;
    Outcome outcome =
        error == null
            ? new Outcome.Success(httpStatus, response)
            : new Failure(
                Failure.Kind.valueOf(error), statusIfAny, response, row.getString(first + 5));
    return new Attempt(
        message,
        number,
        instant(row.getLong(first)),
        row.getLong(first + 1),
        row.getInt(first + 2) != 0,
        outcome);
  }

  /** Sets the columns of an endpoint that change, from {@code first} on: state to next probe. */
  static void setHealth(PreparedStatement statement, int first, Health health) throws SQLException {
    statement.setString(first, health.state().name());
    statement.setLong(first + 1, micros(health.since()));
    statement.setString(first + 2, health.reason().name());
    statement.setLong(first + 3, health.successes());
    statement.setLong(first + 4, health.failures());
    statement.setInt(first + 5, health.previous().attempts());
    statement.setInt(first + 6, health.previous().failures());
    statement.setInt(first + 7, health.current().attempts());
    statement.setInt(first + 8, health.current().failures());
    statement.setInt(first + 9, health.consecutiveFailures());
    setTime(statement, first + 10, health.lastSuccessAt());
    setTime(statement, first + 11, health.nextProbeAt());
  }

  static Endpoint endpoint(ResultSet row) throws SQLException {
    return new Endpoint(
        row.getLong(1),
        row.getString(2),
        row.getString(3),
        new Health(
            Health.State.valueOf(row.getString(5)),
            instant(row.getLong(6)),
            Health.Reason.valueOf(row.getString(7)),
            instant(row.getLong(4)),
            row.getLong(8),
            row.getLong(9),
            new Bucket(row.getInt(10), row.getInt(11)),
            new Bucket(row.getInt(12), row.getInt(13)),
            row.getInt(14),
            time(row, 15),
            time(row, 16)));
  }

  static void setSubscription(PreparedStatement statement, Subscription subscription)
      throws SQLException {
    statement.setLong(1, subscription.id());
    statement.setString(2, subscription.tenant());
    statement.setLong(3, subscription.endpoint());
    statement.setString(4, types(subscription.types()));
    statement.setString(5, subscription.subject());
    statement.setLong(6, micros(subscription.createdAt()));
  }

  private static String types(List<TypePattern> types) {
    for (TypePattern type : types) {
      if (type.text().contains(TYPE_SEPARATOR)) {
        throw new IllegalArgumentException("a type cannot have a line break in it");
      }
    }
    return types.stream().map(TypePattern::text).collect(Collectors.joining(TYPE_SEPARATOR));
  }

  static Subscription subscription(ResultSet row) throws SQLException {
    return new Subscription(
        row.getLong(1),
        row.getString(2),
        row.getLong(3),
        Arrays.stream(row.getString(4).split(TYPE_SEPARATOR)).map(TypePattern::new).toList(),
        row.getString(5),
        instant(row.getLong(6)));
  }
}
