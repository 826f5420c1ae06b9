package dev.holdfast.engine.store;

import dev.holdfast.core.path.Activity;
import dev.holdfast.core.path.Delays;
import java.io.ByteArrayOutputStream;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/**
 * What has happened of a tenant's in one minute.
 *
 * @param at when the minute began
 */
public record ActivityRow(Instant at, Activity counts) {
  private static final int SEVEN_BITS = 0x7f;
  private static final int MORE = 0x80;

  public static final String COLUMNS =
      "tenant, at, slot, accepted, delivered, failed, dropped, delays, sum";

  /** What was counted of the same minute by two. */
  ActivityRow plus(ActivityRow other) {
    Delays delays = new Delays();
    delays.add(counts.delays());
    delays.add(other.counts.delays());
    return new ActivityRow(
        at,
        new Activity(
            counts.tenant(),
            counts.accepted() + other.counts.accepted(),
            counts.delivered() + other.counts.delivered(),
            counts.failed() + other.counts.failed(),
            counts.dropped() + other.counts.dropped(),
            delays));
  }

  /** Reads a row, which must be as it was written. */
  public static ActivityRow read(ResultSet row) throws SQLException {
    int slot = row.getInt(3);
    return Damaged.orIntact(
        "activity", row.getLong(2), row.getLong(9), () -> decode(row), read -> read.sum(slot));
  }

  private static ActivityRow decode(ResultSet row) throws SQLException {
    return new ActivityRow(
        Rows.instant(row.getLong(2)),
        new Activity(
            row.getString(1),
            row.getLong(4),
            row.getLong(5),
            row.getLong(6),
            row.getLong(7),
            delays(row.getBytes(8))));
  }

  void set(PreparedStatement statement, int slot) throws SQLException {
    statement.setString(1, counts.tenant());
    statement.setLong(2, Rows.micros(at));
    statement.setInt(3, slot);
    statement.setLong(4, counts.accepted());
    statement.setLong(5, counts.delivered());
    statement.setLong(6, counts.failed());
    statement.setLong(7, counts.dropped());
    statement.setBytes(8, bytes(counts.delays()));
    statement.setLong(9, sum(slot));
  }

  private long sum(int slot) {
    return RowSum.of("activity")
        .add(counts.tenant())
        .add(at)
        .add(slot)
        .add(counts.accepted())
        .add(counts.delivered())
        .add(counts.failed())
        .add(counts.dropped())
        .add(bytes(counts.delays()))
        .value();
  }

  private static byte[] bytes(Delays delays) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int empty = 0;
    for (int bucket = 0; bucket < Delays.BUCKETS; bucket++) {
      if (delays.count(bucket) == 0) {
        empty++;
      } else {
        write(out, empty);
        write(out, delays.count(bucket));
        empty = 0;
      }
    }
    return out.toByteArray();
  }

  private static void write(ByteArrayOutputStream out, long number) {
    long left = number;
    while (left > SEVEN_BITS) {
      out.write((int) (left & SEVEN_BITS) | MORE);
      left >>>= 7;
    }
    out.write((int) left);
  }

  /** What is not such numbers throws something that tells that the row is damaged. */
  private static Delays delays(byte[] bytes) {
    Delays delays = new Delays();
    int bucket = 0;
    int from = 0;
    while (from < bytes.length) {
      bucket += (int) number(bytes, from);
      from = after(bytes, from);
      delays.add(bucket, number(bytes, from));
      from = after(bytes, from);
      bucket++;
    }
    return delays;
  }

  private static long number(byte[] bytes, int from) {
    long number = 0;
    int shift = 0;
    int at = from;
    while ((bytes[at] & MORE) != 0) {
      number |= (long) (bytes[at] & SEVEN_BITS) << shift;
      shift += 7;
      at++;
    }
    return number | (long) bytes[at] << shift;
  }

  private static int after(byte[] bytes, int from) {
    int at = from;
    while ((bytes[at] & MORE) != 0) {
      at++;
    }
    return at + 1;
  }
}
