package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.port.History.Change;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** How values of the model become columns, and columns values. */
public final class Rows {
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long NANOS_PER_MICRO = 1_000;

  /** The columns that {@link #message} reads, in its order. */
  public static final String MESSAGE_COLUMNS =
      "id, event, subscription, endpoint, status, attempts, slot, base, due, not_before,"
          + " last_attempt_at, size, sum, version";

  /** The columns that {@link #event} reads, in its order. */
  public static final String EVENT_COLUMNS =
      "id, tenant, type, subject, occurred_at, caller_id, traceparent, messages, sum, body_sum,"
          + " data, previous";

  /** The columns that {@link #eventHead} reads, in its order. */
  public static final String EVENT_HEAD_COLUMNS =
      "id, tenant, type, subject, occurred_at, caller_id, traceparent, messages, sum";

  /** The columns that {@link #attempt} reads, in its order. */
  public static final String ATTEMPT_COLUMNS =
      "attempt_at, duration_millis, scheduled, http_status, error, retry_after, response";

  /** The columns that {@link #endpoint} reads, in its order. */
  public static final String ENDPOINT_COLUMNS =
      "id, tenant, url, created_at, state, since, reason, successes, failures, previous_attempts,"
          + " previous_failures, current_attempts, current_failures, consecutive_failures,"
          + " last_success_at, next_probe_at, sum, rate_limit, gone_at, sealed";

  /** The columns that {@link #change} reads, in its order. */
  public static final String CHANGE_COLUMNS = "endpoint, at, state, reason, sum";

  private static final int NO_STATUS = -1;
  private static final byte[] NO_BYTES = new byte[0];

  private Rows() {}

  /**
   * A time as it is kept: whole microseconds, finer parts cut off, so that times compare in SQL as
   * they do in the model. What is too far away for that becomes the furthest that can be kept.
   */
  public static long micros(Instant time) {
    long seconds = time.getEpochSecond();
    if (seconds >= Long.MAX_VALUE / MICROS_PER_SECOND) {
      return Long.MAX_VALUE;
    }
    if (seconds <= Long.MIN_VALUE / MICROS_PER_SECOND) {
      return Long.MIN_VALUE;
    }
    return seconds * MICROS_PER_SECOND + time.getNano() / NANOS_PER_MICRO;
  }

  public static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, MICROS_PER_SECOND),
        Math.floorMod(micros, MICROS_PER_SECOND) * NANOS_PER_MICRO);
  }

  public static void setTime(PreparedStatement statement, int index, @Nullable Instant time)
      throws SQLException {
    if (time == null) {
      statement.setNull(index, Types.BIGINT);
    } else {
      statement.setLong(index, micros(time));
    }
  }

  public static @Nullable Instant time(ResultSet row, int column) throws SQLException {
    long micros = row.getLong(column);
    return micros == 0 && row.wasNull() ? null : instant(micros);
  }

  /** A status as a number, in the order in which an endpoint's messages are counted. */
  public static int code(Status status) {
    return switch (status) {
      case PENDING -> 0;
      case WAITING -> 1;
      case PARKED -> 2;
      case PAUSED -> 3;
    };
  }

  public static Status status(int code) throws SQLException {
    return switch (code) {
      case 0 -> Status.PENDING;
      case 1 -> Status.WAITING;
      case 2 -> Status.PARKED;
      case 3 -> Status.PAUSED;
      default -> throw new SQLException("unknown status of a message: " + code);
    };
  }

  public static int code(Version version) {
    return switch (version) {
      case V1 -> 1;
      case V2 -> 2;
    };
  }

  public static Version version(int code) {
    return switch (code) {
      case 1 -> Version.V1;
      case 2 -> Version.V2;
      default -> throw new IllegalArgumentException("unknown version of a message: " + code);
    };
  }

  public static void setVersion(PreparedStatement statement, int index, @Nullable Version version)
      throws SQLException {
    if (version == null) {
      statement.setNull(index, Types.INTEGER);
    } else {
      statement.setInt(index, code(version));
    }
  }

  public static @Nullable Version version(ResultSet row, int column) throws SQLException {
    int code = row.getInt(column);
    return code == 0 && row.wasNull() ? null : version(code);
  }

  public static long sum(Message message) {
    RowSum sum =
        RowSum.of("open")
            .add(message.id())
            .add(message.event())
            .add(message.subscription())
            .add(message.endpoint())
            .add(code(message.status()))
            .add(message.attempts())
            .add(message.slot())
            .add(message.base())
            .add(message.due())
            .add(message.notBefore())
            .add(message.lastAttemptAt())
            .add(message.size());
    if (message.version() != null) {
      sum.add("version").add(code(message.version()));
    }
    return sum.value();
  }

  public static Message message(ResultSet row) throws SQLException {
    return message(row, 1);
  }

  /** Reads the columns of a message, from {@code first} on. */
  public static Message message(ResultSet row, int first) throws SQLException {
    return Damaged.orIntact(
        "open",
        row.getLong(first),
        row.getLong(first + 12),
        () -> readMessage(row, first),
        Rows::sum);
  }

  private static Message readMessage(ResultSet row, int first) throws SQLException {
    return new Message(
        row.getLong(first),
        row.getLong(first + 1),
        row.getLong(first + 2),
        row.getLong(first + 3),
        status(row.getInt(first + 4)),
        row.getInt(first + 5),
        row.getInt(first + 6),
        time(row, first + 7),
        time(row, first + 8),
        time(row, first + 9),
        time(row, first + 10),
        row.getInt(first + 11),
        version(row, first + 13));
  }

  /**
   * What is kept of an event beside its payload.
   *
   * @param messages how many messages it has
   */
  public record EventHead(
      long id,
      String tenant,
      String type,
      @Nullable String subject,
      @Nullable String occurredAt,
      @Nullable String callerId,
      @Nullable String traceparent,
      int messages) {

    public static EventHead of(Event event, int messages) {
      return new EventHead(
          event.id(),
          event.tenant(),
          event.type(),
          event.subject(),
          event.occurredAt() == null ? null : event.occurredAt().toString(),
          event.callerId(),
          event.traceparent(),
          messages);
    }

    public long sum() {
      return RowSum.of("events")
          .add(id)
          .add(tenant)
          .add(type)
          .add(subject)
          .add(occurredAt)
          .add(callerId)
          .add(traceparent)
          .add(messages)
          .value();
    }
  }

  /** The sum of an event's payload. */
  public static long bodySum(Event event) {
    return RowSum.of("events.data").add(event.id()).add(event.data()).add(event.previous()).value();
  }

  /** Reads what is kept of an event beside its payload, from column {@code first} on. */
  public static EventHead eventHead(ResultSet row, int first) throws SQLException {
    return Damaged.orIntact(
        "events",
        row.getLong(first),
        row.getLong(first + 8),
        () -> readEventHead(row, first),
        EventHead::sum);
  }

  private static EventHead readEventHead(ResultSet row, int first) throws SQLException {
    return new EventHead(
        row.getLong(first),
        row.getString(first + 1),
        row.getString(first + 2),
        row.getString(first + 3),
        row.getString(first + 4),
        row.getString(first + 5),
        row.getString(first + 6),
        row.getInt(first + 7));
  }

  public static Event event(ResultSet row) throws SQLException {
    EventHead head = eventHead(row, 1);
    return Damaged.orIntact(
        "events", head.id(), row.getLong(10), () -> readEvent(head, row), Rows::bodySum);
  }

  private static Event readEvent(EventHead head, ResultSet row) throws SQLException {
    byte[] data = row.getBytes(11);
    return new Event(
        head.id(),
        head.tenant(),
        head.type(),
        head.subject(),
        head.occurredAt() == null ? null : Instant.parse(head.occurredAt()),
        data == null ? NO_BYTES : data,
        row.getBytes(12),
        head.callerId(),
        head.traceparent());
  }

  /** The sum of an attempt, in whichever table it stands. */
  public static long sum(Attempt attempt) {
    RowSum sum =
        RowSum.of("attempts")
            .add(attempt.message())
            .add(attempt.number())
            .add(attempt.at())
            .add(attempt.durationMillis())
            .add(attempt.scheduled() ? 1 : 0);
    switch (attempt.outcome()) {
      case Outcome.Success success -> sum.add(success.status()).add((String) null);
      case Failure failure ->
          sum.add(failure.status() == null ? NO_STATUS : failure.status())
              .add(failure.kind().name())
              .add(failure.retryAfter());
    }
    return sum.add(attempt.outcome().response()).value();
  }

  /** Sets the columns of an attempt, from {@code first} on. */
  public static void setAttempt(PreparedStatement statement, int first, Attempt attempt)
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

  /**
   * Reads the columns of an attempt, from {@code first} on.
   *
   * @param sum the column of its sum
   */
  public static Attempt attempt(ResultSet row, int first, int sum, long message, int number)
      throws SQLException {
    return Damaged.orIntact(
        "attempts",
        message,
        row.getLong(sum),
        () -> readAttempt(row, first, message, number),
        Rows::sum);
  }

  private static Attempt readAttempt(ResultSet row, int first, long message, int number)
      throws SQLException {
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

  /**
   * Sets the columns of an endpoint that change, from {@code first} on: state to next probe, the
   * sum, rate limit and when it was gone.
   */
  public static void setChanging(PreparedStatement statement, int first, Endpoint endpoint)
      throws SQLException {
    setHealth(statement, first, endpoint.health());
    statement.setLong(first + 12, sum(endpoint, true));
    if (endpoint.rateLimit() == null) {
      statement.setNull(first + 13, Types.DOUBLE);
    } else {
      statement.setDouble(first + 13, endpoint.rateLimit().perSecond());
    }
    setTime(statement, first + 14, endpoint.goneAt());
  }

  private static void setHealth(PreparedStatement statement, int first, Health health)
      throws SQLException {
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

  /**
   * The sum of an endpoint.
   *
   * @param sealed whether its URL is, and is not in the sum
   */
  public static long sum(Endpoint endpoint, boolean sealed) {
    Health health = endpoint.health();
    RowSum sum =
        RowSum.of("endpoints")
            .add(endpoint.id())
            .add(endpoint.tenant())
            .add(sealed ? "sealed" : endpoint.url())
            .add(health.createdAt())
            .add(health.state().name())
            .add(health.since())
            .add(health.reason().name())
            .add(health.successes())
            .add(health.failures())
            .add(health.previous().attempts())
            .add(health.previous().failures())
            .add(health.current().attempts())
            .add(health.current().failures())
            .add(health.consecutiveFailures())
            .add(health.lastSuccessAt())
            .add(health.nextProbeAt());
    if (endpoint.rateLimit() != null) {
      sum.add("rate_limit").add(Double.doubleToLongBits(endpoint.rateLimit().perSecond()));
    }
    if (endpoint.goneAt() != null) {
      sum.add("gone_at").add(endpoint.goneAt());
    }
    return sum.value();
  }

  /** The endpoint, as far as there are keys for it. */
  public static Endpoint endpoint(ResultSet row, Seals seals) throws SQLException {
    byte[] sealed = row.getBytes(20);
    Endpoint kept =
        Damaged.orIntact(
            "endpoints",
            row.getLong(1),
            row.getLong(17),
            () -> readEndpoint(row),
            endpoint -> sum(endpoint, sealed != null));
    return sealed == null ? kept : seals.open(kept, sealed);
  }

  private static Endpoint readEndpoint(ResultSet row) throws SQLException {
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
            time(row, 16)),
        rateLimit(row, 18),
        null,
        time(row, 19));
  }

  private static @Nullable RateLimit rateLimit(ResultSet row, int column) throws SQLException {
    double perSecond = row.getDouble(column);
    return row.wasNull() ? null : new RateLimit(perSecond);
  }

  /** The sum of a change of state that an endpoint has gone through. */
  public static long sum(long endpoint, Change change) {
    return RowSum.of("endpoint_changes")
        .add(endpoint)
        .add(change.at())
        .add(change.state().name())
        .add(change.reason().name())
        .value();
  }

  public static Change change(ResultSet row) throws SQLException {
    long endpoint = row.getLong(1);
    return Damaged.orIntact(
        "endpoint_changes",
        endpoint,
        row.getLong(5),
        () ->
            new Change(
                instant(row.getLong(2)),
                Health.State.valueOf(row.getString(3)),
                Health.Reason.valueOf(row.getString(4))),
        change -> sum(endpoint, change));
  }
}
