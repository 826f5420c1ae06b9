package dev.holdfast.engine.vault;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Where a sealed value belongs. It opens nowhere else.
 *
 * @param table the kind of record, such as {@code subscriptions}
 * @param record which one
 */
public record Place(String table, String tenant, long record) {

  /** Each part with its length before it, so that no two places are the same bytes. */
  byte[] bytes() {
    byte[] tableBytes = table.getBytes(StandardCharsets.UTF_8);
    byte[] tenantBytes = tenant.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(
            Integer.BYTES * 3 + tableBytes.length + tenantBytes.length + Long.BYTES)
        .putInt(tableBytes.length)
        .put(tableBytes)
        .putInt(tenantBytes.length)
        .put(tenantBytes)
        .putInt(Long.BYTES)
        .putLong(record)
        .array();
  }
}
