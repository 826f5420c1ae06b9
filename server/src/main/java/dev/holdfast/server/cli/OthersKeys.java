package dev.holdfast.server.cli;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreVault;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns of the keys that other servers make and revoke: those of the API, and those that values
 * are sealed with. While the database is away, what is known stays so. Lives on the event loop.
 */
final class OthersKeys {
  private static final Logger log = LoggerFactory.getLogger(OthersKeys.class);
  private static final Duration TOLD_AFTER = Duration.ofMinutes(1);

  private final Keys keys;
  private final StoreVault vault;
  private boolean isReading;

  /** When they were last read, or it was last told that they cannot be. */
  private long quietSince = System.nanoTime();

  OthersKeys(Keys keys, StoreVault vault) {
    this.keys = keys;
    this.vault = vault;
  }

  /** Reads them, if that is not under way. */
  void read(Vertx vertx) {
    if (isReading) {
      return;
    }
    isReading = true;
    vertx
        .executeBlocking(
            () -> {
              keys.readAgain();
              renew();
              return true;
            })
        .onComplete(_ -> isReading = false)
        .onSuccess(_ -> quietSince = System.nanoTime())
        .onFailure(this::tell);
  }

  /** Whoever lacks the master key in use was told so. */
  private void renew() {
    try {
      vault.renewIfBehind();
    } catch (StoreException e) {
      log.debug("secrets.keys-unread next=\"read again in a second\"", e);
    }
  }

  private void tell(Throwable cause) {
    long now = System.nanoTime();
    if (now - quietSince < TOLD_AFTER.toNanos()) {
      log.debug("keys.unread next=\"read again in a second\"", cause);
      return;
    }
    quietSince = now;
    log.warn(
        "keys.unread next=\"keys that others have revoked still work here; read again in a second\"",
        cause);
  }
}
