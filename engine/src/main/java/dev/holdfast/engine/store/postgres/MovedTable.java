package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Shards;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A table as it is moved: what its columns are here, and where the embedded store has their values.
 *
 * @param name what it is called on both sides
 * @param columns in one order for both sides
 * @param from what the embedded store has the values in, the table itself being {@code t}
 * @param key the columns that its rows are read in the order of, which tell each from all others
 */
record MovedTable(String name, List<Column> columns, String from, List<Column> key) {

  /** What everyone knows has this version when all is moved. */
  static final long VERSION = 1;

  private static final String OF_EVENT = " LEFT JOIN events e ON e.id = t.event";

  /** All of them. What others lead to comes first. */
  static final List<MovedTable> ALL =
      List.of(
          table("data_keys", "id:long, master:text, wrapped:bytes, created_at:long, sum:long"),
          table(
              "api_keys",
              "id:long, name:text, role:text, tenant:text, hash:bytes, created_at:long, sum:long,"
                  + " expires_at:long, last_used_at:long"),
          table(
              "sessions",
              "id:long, hash:bytes, key_hash:bytes, fixed:bytes, began_at:long, expires_at:long,"
                  + " sum:long"),
          table(
              "endpoints",
              "id:long, tenant:text, url:text, created_at:long, state:text, since:long, reason:text,"
                  + " successes:long, failures:long, previous_attempts:long,"
                  + " previous_failures:long, current_attempts:long, current_failures:long,"
                  + " consecutive_failures:long, last_success_at:long, next_probe_at:long,"
                  + " sum:endpoint_sum, rate_limit:real, gone_at:long, sealed:bytes,"
                  + " shard:shard=t.id, changed:long="
                  + VERSION),
          table(
              "endpoint_changes",
              "id:long, tenant:text, endpoint:long, at:long, state:text, reason:text, sum:long"),
          table(
              "subscriptions",
              "id:long, tenant:text, changed:long="
                  + VERSION
                  + ", endpoint:long, types:text, subject:text, created_at:long, ended_at:long,"
                  + " sum:long, paused:long, unsettled:text, connector:text, filters:text,"
                  + " format:text, base64:long, auth_token:text, headers:text, secrets:text,"
                  + " changed_at:long, version:text, version_changed_at:long, written_url:text,"
                  + " sealed:bytes"),
          table(
              "events",
              "id:long, tenant:text, type:text, subject:text, occurred_at:text, caller_id:text,"
                  + " traceparent:text, messages:long, sum:long, body_sum:long, data:bytes,"
                  + " previous:bytes"),
          table(
              "keys",
              "tenant:text, caller_id:text, event:long, content:bytes, sum:long",
              "",
              "tenant, caller_id"),
          table(
              "open",
              "id:long, tenant:text=e.tenant, shard:shard=t.endpoint, event:long,"
                  + " subscription:long, endpoint:long, status:small, attempts:int, slot:int,"
                  + " base:long, due:long, not_before:long, last_attempt_at:long, size:long,"
                  + " sum:long, version:small",
              OF_EVENT,
              "id"),
          table(
              "messages",
              "id:long, tenant:text=e.tenant, event:long, subscription:long, endpoint:long,"
                  + " reason:text, finished_at:long, attempts:int, sum:long, attempt_sum:long,"
                  + " attempt_at:long, duration_millis:long, scheduled:small, http_status:int,"
                  + " error:text, retry_after:text, response:bytes, version:small",
              OF_EVENT,
              "id"),
          table(
              "attempts",
              "tenant:text=e.tenant, message:long, number:int, attempt_at:long,"
                  + " duration_millis:long, scheduled:small, http_status:int, error:text,"
                  + " retry_after:text, response:bytes, sum:long",
              " LEFT JOIN messages m ON m.id = t.message LEFT JOIN open o ON o.id = t.message"
                  + " LEFT JOIN events e ON e.id = coalesce(m.event, o.event)",
              "message, number"),
          table(
              "fan_outs",
              "tenant:text=e.tenant, event:long, first:long, shard:shard=t.event,"
                  + " event_size:long, targets:bytes, sum:long, versions:bytes",
              OF_EVENT,
              "event, first"),
          table(
              "replays",
              "id:long, tenant:text, shard:shard=t.id, endpoint:long, subscription:long,"
                  + " endings:text, since:long, until:long, again:long, state:text, total:long,"
                  + " done:long, skipped:long, through:long, sum:long, below:long"),
          table(
              "replayed",
              "tenant:text=e.tenant, event:long, original:long, message:long, sum:long",
              OF_EVENT,
              "event, original, message"),
          table("tenants", "tenant:text, slot:int=0, events:long, bytes:long", "", "tenant"),
          table(
              "activity",
              "tenant:text, at:long, slot:int, accepted:long, delivered:long, failed:long,"
                  + " dropped:long, delays:bytes, sum:long",
              "",
              "tenant, at, slot"),
          table(
              "audit",
              "id:long, chain:text, number:long, at:long, action:text, actor:text, target:text,"
                  + " entry:text, previous:bytes, hash:bytes"));

  /** What a column's values are here. */
  enum Kind {
    LONG,
    INT,
    SMALL,
    REAL,
    TEXT,
    BYTES,

    /** The shard of an id; the embedded store has that id. */
    SHARD,

    /** An endpoint's sum, which is another here: it leaves out what any node may set. */
    ENDPOINT_SUM
  }

  /**
   * A column.
   *
   * @param source how the embedded store is asked for its value
   */
  record Column(String name, Kind kind, String source) {

    /** The value; absent, or a Long, Double, String or byte[]. */
    private @Nullable Object value(ResultSet row, int index) throws SQLException {
      return switch (kind) {
        case LONG, INT, SMALL, SHARD, ENDPOINT_SUM -> {
          long value = row.getLong(index);
          yield value == 0 && row.wasNull() ? null : Long.valueOf(value);
        }
        case REAL -> {
          double value = row.getDouble(index);
          yield value == 0 && row.wasNull() ? null : Double.valueOf(value);
        }
        case TEXT -> row.getString(index);
        case BYTES -> row.getBytes(index);
      };
    }
  }

  private static MovedTable table(String name, String columns) {
    return table(name, columns, "", "id");
  }

  /**
   * @param columns each as {@code NAME:KIND}, or {@code NAME:KIND=SOURCE} where the embedded store
   *     has no column of that name
   * @param joins where other values come from
   */
  private static MovedTable table(String name, String columns, String joins, String key) {
    List<Column> all = new ArrayList<>();
    for (String text : columns.split(", ", -1)) {
      String[] parts = text.split("[:=]", 3);
      Kind kind =
          Arrays.stream(Kind.values())
              .filter(one -> one.name().equalsIgnoreCase(parts[1]))
              .findFirst()
              .orElseThrow();
      all.add(new Column(parts[0], kind, parts.length > 2 ? parts[2] : "t." + parts[0]));
    }
    List<Column> keys = new ArrayList<>();
    for (String column : key.split(", ", -1)) {
      keys.add(all.stream().filter(one -> one.name().equals(column)).findFirst().orElseThrow());
    }
    return new MovedTable(name, List.copyOf(all), name + " t" + joins, List.copyOf(keys));
  }

  /** The names of the columns, as here. */
  String names() {
    return columns.stream().map(Column::name).collect(Collectors.joining(", "));
  }

  /** How the embedded store is asked for all rows. */
  String fromSource() {
    return "SELECT "
        + columns.stream().map(Column::source).collect(Collectors.joining(", "))
        + " FROM "
        + from;
  }

  /**
   * How the embedded store is asked for the rows that are left, in their order.
   *
   * @param isBegun whether there are some already: then the key of the last is a parameter
   */
  String fromSourceInOrder(boolean isBegun) {
    String keys = key.stream().map(Column::source).collect(Collectors.joining(", "));
    String rest =
        isBegun ? " WHERE (%s) > (%s)".formatted(keys, "?, ".repeat(key.size() - 1) + "?") : "";
    return fromSource() + rest + " ORDER BY " + keys;
  }

  /** How all rows are asked for here. */
  String fromTarget() {
    return "SELECT " + names() + " FROM " + name;
  }

  String copy() {
    return "COPY " + name + " (" + names() + ") FROM STDIN (FORMAT binary)";
  }

  /** Reads a row of the embedded store. */
  @Nullable Object[] source(ResultSet row) throws SQLException {
    @Nullable Object[] values = target(row);
    for (int i = 0; i < values.length; i++) {
      Kind kind = columns.get(i).kind();
      if (kind == Kind.SHARD && values[i] instanceof Long id) {
        values[i] = (long) Shards.of(id);
      } else if (kind == Kind.ENDPOINT_SUM) {
        values[i] = EndpointRow.sum(Rows.endpoint(row, Seals.closed()));
      }
    }
    return values;
  }

  /** Reads a row from here. */
  @Nullable Object[] target(ResultSet row) throws SQLException {
    @Nullable Object[] values = new @Nullable Object[columns.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = columns.get(i).value(row, i + 1);
    }
    return values;
  }

  /** The key of a row, as texts. */
  List<String> keyOf(@Nullable Object[] values) {
    return key.stream().map(column -> String.valueOf(values[columns.indexOf(column)])).toList();
  }
}
