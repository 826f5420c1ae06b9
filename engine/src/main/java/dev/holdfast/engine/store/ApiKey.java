package dev.holdfast.engine.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who may use the API. The key itself is known to nobody but its holder.
 *
 * @param tenant the tenant that the key belongs to; absent for a key for all tenants
 * @param expiresAt from when on it opens nothing; absent for a key that does not end
 * @param lastUsedAt when it was last seen, as far as that was written down; absent for never
 */
public record ApiKey(
    long id,
    String name,
    Role role,
    @Nullable String tenant,
    Instant createdAt,
    @Nullable Instant expiresAt,
    @Nullable Instant lastUsedAt) {

  /** What the holder of a key may do. */
  public enum Role {
    ADMIN,
    OPERATOR,
    PUBLISHER,
    VIEWER
  }
}
