package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Id;
import dev.holdfast.server.api.Principal.Role;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Keys that are kept in memory. Those that a test gives away are not in the list of them. */
final class FakeKeys implements Keyring {
  private final Map<String, Recognition> given = new ConcurrentHashMap<>();
  private final List<Key> made = new CopyOnWriteArrayList<>();
  private volatile byte @Nullable [] fixed;
  private long lastId = Id.floor(Instant.parse("2026-01-01T00:00:00Z"));

  FakeKeys give(String text, @Nullable String tenant, Role role) {
    given.put(
        hash(text),
        new Valid(new Principal(tenant, role, new Actor(Actor.Kind.KEY, null, Json.kebab(role)))));
    return this;
  }

  FakeKeys giveExpired(String text, Instant at) {
    given.put(hash(text), new Expired(at));
    return this;
  }

  /** Gives nobody the key any more. */
  FakeKeys take(String text) {
    given.remove(hash(text));
    return this;
  }

  /** Sets the key that is stored nowhere; none when absent. */
  void fix(@Nullable String text) {
    byte[] before = fixed;
    if (before != null) {
      given.remove(HexFormat.of().formatHex(before));
    }
    fixed = text == null ? null : sha256(text);
    if (text != null) {
      give(text, null, Role.ADMIN);
    }
  }

  @Override
  public byte @Nullable [] fixedKey() {
    return fixed;
  }

  private static String hash(String key) {
    return HexFormat.of().formatHex(sha256(key));
  }

  static byte[] sha256(String key) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Recognition authenticate(byte[] sha256OfKey, Instant now) {
    return given.getOrDefault(HexFormat.of().formatHex(sha256OfKey), UNKNOWN);
  }

  @Override
  public List<Key> all() {
    return new ArrayList<>(made).reversed();
  }

  @Override
  public synchronized Created create(
      @Nullable String name,
      Role role,
      @Nullable String tenant,
      @Nullable Instant expiresAt,
      Actor by) {
    lastId += Id.STRIDE;
    Key key =
        new Key(lastId, name == null ? "made" : name, role, tenant, Instant.EPOCH, expiresAt, null);
    made.add(key);
    return new Created(key, "hf_made_" + made.size());
  }

  @Override
  public Revoked revoke(@Nullable String only, long id, Actor by) {
    boolean isGone =
        made.removeIf(key -> key.id() == id && (only == null || only.equals(key.tenant())));
    return isGone ? Revoked.DONE : Revoked.NOT_FOUND;
  }
}
