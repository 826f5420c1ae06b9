package dev.holdfast.server.cli;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKey;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.server.api.Authenticator;
import dev.holdfast.server.api.Principal;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The keys that open a running server, in memory. Only hashes of them are known. */
final class Keys implements Authenticator {
  private final Map<ByteBuffer, Principal> principals = new HashMap<>();
  private final String source;

  private Keys(String source) {
    this.source = source;
  }

  /**
   * Reads the keys of a store, and makes the first one when there is none and none is set. A key
   * that is set is not stored: it opens all tenants for as long as it is set.
   */
  static Keys open(Settings settings, ApiKeys stored, Instant now, PrintWriter out)
      throws StoreException {
    Keys keys = new Keys(source(settings, stored, now, out));
    stored.all().forEach((hash, key) -> keys.principals.put(hash, principal(key)));
    settings
        .get(Settings.ADMIN_KEY)
        .ifPresent(
            key ->
                keys.principals.put(
                    ByteBuffer.wrap(NewKey.sha256(key)),
                    new Principal(null, Principal.Role.ADMIN)));
    return keys;
  }

  private static String source(Settings settings, ApiKeys stored, Instant now, PrintWriter out)
      throws StoreException {
    if (settings.get(Settings.ADMIN_KEY).isPresent()) {
      return "as set by " + settings.origin(Settings.ADMIN_KEY);
    }
    if (!stored.isEmpty()) {
      return "the one printed at the first start";
    }
    NewKey key = NewKey.make(new SecureRandom());
    // Shown before it is stored: whatever happens between, no key is stored that nobody has seen.
    show(key, out);
    stored.put("admin " + key.id(), ApiKey.Role.ADMIN, null, NewKey.sha256(key.text()), now);
    return "printed above, this once";
  }

  private static void show(NewKey key, PrintWriter out) {
    out.println("------------------------------------------------------------------------");
    out.println("  The admin key, shown only this once:");
    out.println();
    out.println("      " + key.text());
    out.println();
    out.println("  Send it as  Authorization: Bearer <key>. Only its hash is kept.");
    out.println("------------------------------------------------------------------------");
    out.flush();
  }

  private static Principal principal(ApiKey key) {
    return new Principal(
        key.tenant(),
        switch (key.role()) {
          case ADMIN -> Principal.Role.ADMIN;
          case OPERATOR -> Principal.Role.OPERATOR;
          case PUBLISHER -> Principal.Role.PUBLISHER;
          case VIEWER -> Principal.Role.VIEWER;
        });
  }

  /** Where the admin key is to be had, for a person. */
  String source() {
    return source;
  }

  @Override
  public Optional<Principal> authenticate(byte[] sha256OfKey) {
    return Optional.ofNullable(principals.get(ByteBuffer.wrap(sha256OfKey)));
  }
}
