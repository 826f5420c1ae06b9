package dev.holdfast.server.cli;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKey;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.server.api.Keyring;
import dev.holdfast.server.api.Principal;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a store, in memory. Only hashes of them are known.
 *
 * <p>Any thread may ask whose a key is; changes are made one after the other, each on disk before
 * it counts.
 */
final class Keys implements Keyring {
  /** Whoever has the key that is set. */
  private static final Actor FIXED = new Actor(Actor.Kind.KEY, null, "admin.key");

  private final ApiKeys stored;
  private final InstantSource clock;
  private final SecureRandom random = new SecureRandom();

  /** Never changed, only replaced: it is read for every request. */
  private volatile Map<ByteBuffer, Known> known = Map.of();

  /** The key that is set, if one is: not stored, for all tenants, for as long as it is set. */
  private @Nullable ByteBuffer fixed;

  private String source = "the one printed at the first start";

  private record Known(Key key, Principal principal) {}

  private Keys(ApiKeys stored, InstantSource clock) {
    this.stored = stored;
    this.clock = clock;
  }

  /** The keys of a store that is there already. */
  static Keys of(ApiKeys stored, InstantSource clock) throws StoreException {
    Keys keys = new Keys(stored, clock);
    Map<ByteBuffer, Known> all = new HashMap<>();
    stored.all().forEach((hash, key) -> all.put(hash, known(key)));
    keys.known = Map.copyOf(all);
    return keys;
  }

  /** The same, with the key that is set; makes the first key when there is none and none is set. */
  static Keys open(Settings settings, ApiKeys stored, InstantSource clock, PrintWriter out)
      throws StoreException {
    Keys keys = of(stored, clock);
    Optional<String> set = settings.get(Settings.ADMIN_KEY);
    if (set.isPresent()) {
      keys.fixed = ByteBuffer.wrap(NewKey.sha256(set.get()));
      keys.source = "as set by " + settings.origin(Settings.ADMIN_KEY);
    } else if (keys.known.isEmpty()) {
      NewKey key = NewKey.make(keys.random);
      // Shown before it is stored: whatever happens between, no key is stored that nobody has seen.
      show(key, out);
      keys.keep(nameOf(key, Principal.Role.ADMIN), Principal.Role.ADMIN, null, key, Actor.SERVER);
      keys.source = "printed above, this once";
    }
    return keys;
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

  private static Known known(ApiKey key) {
    Principal.Role role = Principal.Role.valueOf(key.role().name());
    return new Known(
        new Key(key.id(), key.name(), role, key.tenant(), key.createdAt()),
        new Principal(
            key.tenant(), role, new Actor(Actor.Kind.KEY, Keyring.idText(key.id()), key.name())));
  }

  /** Where the admin key is to be had, for a person. */
  String source() {
    return source;
  }

  @Override
  public Optional<Principal> authenticate(byte[] sha256OfKey) {
    ByteBuffer hash = ByteBuffer.wrap(sha256OfKey);
    if (hash.equals(fixed)) {
      return Optional.of(new Principal(null, Principal.Role.ADMIN, FIXED));
    }
    return Optional.ofNullable(known.get(hash)).map(Known::principal);
  }

  @Override
  public List<Key> all() {
    return known.values().stream()
        .map(Known::key)
        .sorted(Comparator.comparingLong(Key::id).reversed())
        .toList();
  }

  @Override
  public synchronized Created create(
      @Nullable String name, Principal.Role role, @Nullable String tenant, Actor by)
      throws StoreException {
    NewKey key = NewKey.make(random);
    return new Created(
        keep(name == null ? nameOf(key, role) : name, role, tenant, key, by), key.text());
  }

  private static String nameOf(NewKey key, Principal.Role role) {
    return role.name().toLowerCase(Locale.ROOT) + " " + key.id();
  }

  private Key keep(String name, Principal.Role role, @Nullable String tenant, NewKey key, Actor by)
      throws StoreException {
    byte[] hash = NewKey.sha256(key.text());
    Known kept =
        known(
            stored.put(name, ApiKey.Role.valueOf(role.name()), tenant, hash, clock.instant(), by));
    Map<ByteBuffer, Known> more = new HashMap<>(known);
    more.put(ByteBuffer.wrap(hash), kept);
    known = Map.copyOf(more);
    return kept.key();
  }

  @Override
  public synchronized Revoked revoke(@Nullable String only, long id, Actor by)
      throws StoreException {
    Optional<Key> found =
        all().stream()
            .filter(key -> key.id() == id)
            .filter(key -> only == null || only.equals(key.tenant()))
            .findFirst();
    if (found.isEmpty()) {
      return Revoked.NOT_FOUND;
    }
    if (isWideAdmin(found.get()) && all().stream().filter(Keys::isWideAdmin).count() == 1) {
      return Revoked.IS_LAST_ADMIN;
    }
    stored.delete(id, by, clock.instant());
    Map<ByteBuffer, Known> fewer = new HashMap<>(known);
    fewer.values().removeIf(one -> one.key().id() == id);
    known = Map.copyOf(fewer);
    return Revoked.DONE;
  }

  private static boolean isWideAdmin(Key key) {
    return key.role() == Principal.Role.ADMIN && key.tenant() == null;
  }
}
