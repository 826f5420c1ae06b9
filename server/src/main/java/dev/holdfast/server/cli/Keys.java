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

  /** Reads the keys of a store, and makes the first one when there is none. */
  static Keys open(ApiKeys stored, String adminKey, Instant now, PrintWriter out)
      throws StoreException {
    Keys keys = new Keys(source(stored, adminKey, now, out));
    stored.all().forEach((hash, key) -> keys.principals.put(hash, principal(key)));
    if (!adminKey.isEmpty()) {
      keys.principals.put(
          ByteBuffer.wrap(NewKey.sha256(adminKey)), new Principal(null, Principal.Role.ADMIN));
    }
    return keys;
  }

  private static String source(ApiKeys stored, String adminKey, Instant now, PrintWriter out)
      throws StoreException {
    if (!adminKey.isEmpty()) {
      return "as set by admin.key";
    }
    if (!stored.isEmpty()) {
      return "the one printed at the first start";
    }
    NewKey key = NewKey.make(new SecureRandom());
    stored.put("admin", ApiKey.Role.ADMIN, null, NewKey.sha256(key.text()), now);
    out.println();
    out.println("  The admin key, shown this once:");
    out.println();
    out.println("    " + key.text());
    out.println();
    out.println("  Send it as  Authorization: Bearer <key>. Only its hash is kept.");
    out.println();
    return "printed above, this once";
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
