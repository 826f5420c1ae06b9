package dev.holdfast.engine.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who may use the API. The key itself is known to nobody but its holder.
 *
 * @param tenant the tenant that the key belongs to; absent for a key for all tenants
 */
public record ApiKey(long id, String name, Role role, @Nullable String tenant, Instant createdAt) {

  /** What the holder of a key may do. */
  public enum Role {
    ADMIN,
    OPERATOR,
    PUBLISHER,
    VIEWER
  }
}
