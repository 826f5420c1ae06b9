package dev.holdfast.server.cli;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKey;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.server.api.Keyring;
import dev.holdfast.server.api.MissedKeys;
import dev.holdfast.server.api.Principal;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a store, in memory. Only hashes of them are known.
 *
 * <p>Any thread may ask whose a key is; changes are made one after the other, each on disk before
 * it counts. When a key is used is remembered here, and written down now and then.
 */
final class Keys implements Keyring {
  /** Whoever has the key that is set. */
  private static final Valid FIXED =
      new Valid(
          new Principal(null, Principal.Role.ADMIN, new Actor(Actor.Kind.KEY, null, "admin.key")));

  private static final long NEVER = Long.MIN_VALUE;

  private final ApiKeys stored;
  private final InstantSource clock;
  private final SecureRandom random = new SecureRandom();

  /** Never changed, only replaced: it is read for every request. */
  private volatile Index known = Index.of(List.of());

  /** The key that is set, if one is: not stored, for all tenants, for as long as it is set. */
  private byte @Nullable [] fixed;

  private final MissedKeys misses = new MissedKeys();

  private String source = "the one printed at the first start";

  /**
   * A key that is stored.
   *
   * @param valid what is answered about it until it ends
   * @param usedAt when it was last used, in milliseconds; {@link #NEVER} when it was not
   * @param writtenAt the same, as far as it is on disk
   */
  private record Known(
      byte[] hash, ApiKey stored, Valid valid, AtomicLong usedAt, AtomicLong writtenAt) {

    static Known of(byte[] hash, ApiKey stored) {
      Principal principal =
          new Principal(
              stored.tenant(),
              role(stored),
              new Actor(Actor.Kind.KEY, Keyring.idText(stored.id()), stored.name()));
      Instant used = stored.lastUsedAt();
      long millis = used == null ? NEVER : used.toEpochMilli();
      return new Known(
          hash, stored, new Valid(principal), new AtomicLong(millis), new AtomicLong(millis));
    }

    private static Principal.Role role(ApiKey key) {
      return Principal.Role.valueOf(key.role().name());
    }

    /** Stands on the path of every request, so others may see the use a little later. */
    Recognition recognise(Instant now) {
      Instant end = stored.expiresAt();
      if (end != null && !now.isBefore(end)) {
        return new Expired(end);
      }
      usedAt.setOpaque(now.toEpochMilli());
      return valid;
    }

    /** The same, which others may have used later. */
    Known usedElsewhere(long millis) {
      usedAt.accumulateAndGet(millis, Math::max);
      writtenAt.accumulateAndGet(millis, Math::max);
      return this;
    }

    Key shown() {
      long used = usedAt.get();
      return new Key(
          stored.id(),
          stored.name(),
          role(stored),
          stored.tenant(),
          stored.createdAt(),
          stored.expiresAt(),
          used == NEVER ? null : Instant.ofEpochMilli(used));
    }
  }

  /**
   * Finds keys by their hash, in a time that tells nothing of the keys that there are: a part of
   * the hash leads to one, and the whole is compared in constant time. The part could at most be
   * guessed from outside, and leads nowhere.
   */
  private record Index(Map<Long, List<Known>> byPart, List<Known> all) {

    static Index of(List<Known> all) {
      return new Index(
          Map.copyOf(all.stream().collect(Collectors.groupingBy(one -> part(one.hash())))),
          List.copyOf(all));
    }

    private static long part(byte[] hash) {
      return ByteBuffer.wrap(hash).getLong();
    }

    @Nullable Known find(byte[] hash) {
      Known found = null;
      for (Known one : byPart.getOrDefault(part(hash), List.of())) {
        if (MessageDigest.isEqual(one.hash(), hash)) {
          found = one;
        }
      }
      return found;
    }

    Index with(Known one) {
      return of(Stream.concat(all.stream(), Stream.of(one)).toList());
    }

    Index without(long id) {
      return of(all.stream().filter(one -> one.stored().id() != id).toList());
    }
  }

  private Keys(ApiKeys stored, InstantSource clock) {
    this.stored = stored;
    this.clock = clock;
  }

  /** The keys of a store that is there already. */
  static Keys of(ApiKeys stored, InstantSource clock) throws StoreException {
    Keys keys = new Keys(stored, clock);
    keys.known =
        Index.of(
            stored.all().entrySet().stream()
                .map(entry -> Known.of(entry.getKey().array(), entry.getValue()))
                .toList());
    return keys;
  }

  /** The same, with the key that is set; makes the first key when there is none and none is set. */
  static Keys open(Settings settings, ApiKeys stored, InstantSource clock, PrintWriter out)
      throws StoreException {
    Keys keys = of(stored, clock);
    Optional<String> set = settings.get(Settings.ADMIN_KEY);
    if (set.isPresent()) {
      keys.fixed = NewKey.sha256(set.get());
      keys.source = "as set by " + settings.origin(Settings.ADMIN_KEY);
    } else if (keys.known.all().isEmpty()) {
      NewKey key = NewKey.make(keys.random);
      if (stored.isShared()) {
        keys.makeFirst(key, out);
        return keys;
      }
      // Shown before it is stored: whatever happens between, no key is stored that nobody has seen.
      show(key, out);
      keys.keep(
          nameOf(key, Principal.Role.ADMIN), Principal.Role.ADMIN, null, null, key, Actor.SERVER);
      keys.source = "printed above, this once";
    }
    return keys;
  }

  /** Of several servers that begin with a store, one makes its key, and shows it. */
  private void makeFirst(NewKey key, PrintWriter out) throws StoreException {
    byte[] hash = NewKey.sha256(key.text());
    Optional<ApiKey> made =
        stored.putFirst(
            nameOf(key, Principal.Role.ADMIN),
            ApiKey.Role.ADMIN,
            hash,
            clock.instant(),
            Actor.SERVER);
    if (made.isPresent()) {
      show(key, out);
      source = "printed above, this once";
    }
    readAgain();
  }

  /** Learns of keys that were made or revoked through other servers. Blocking. */
  synchronized void readAgain() throws StoreException {
    Map<Long, Known> before =
        known.all().stream().collect(Collectors.toMap(one -> one.stored().id(), one -> one));
    known =
        Index.of(
            stored.all().entrySet().stream()
                .map(
                    entry -> {
                      Known same = before.get(entry.getValue().id());
                      Known read = Known.of(entry.getKey().array(), entry.getValue());
                      return same == null ? read : same.usedElsewhere(read.usedAt().get());
                    })
                .toList());
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

  /** Where the admin key is to be had, for a person. */
  String source() {
    return source;
  }

  @Override
  public Recognition authenticate(byte[] sha256OfKey, Instant now) {
    byte[] set = fixed;
    if (set != null && MessageDigest.isEqual(set, sha256OfKey)) {
      return FIXED;
    }
    Known found = known.find(sha256OfKey);
    if (found == null) {
      return UNKNOWN;
    }
    return found.recognise(now);
  }

  @Override
  public byte @Nullable [] fixedKey() {
    return fixed;
  }

  @Override
  public boolean mayBeNew(byte[] sha256OfKey) {
    byte[] set = fixed;
    return stored.isShared()
        && known.find(sha256OfKey) == null
        && (set == null || !MessageDigest.isEqual(set, sha256OfKey))
        && misses.mayLook(sha256OfKey, System.nanoTime());
  }

  @Override
  public void lookFor(byte[] sha256OfKey) throws StoreException {
    Optional<ApiKey> found = stored.find(sha256OfKey);
    if (found.isPresent()) {
      learn(Known.of(sha256OfKey, found.get()));
    }
  }

  private synchronized void learn(Known one) {
    if (known.find(one.hash()) == null) {
      known = known.with(one);
    }
  }

  @Override
  public List<Key> all() {
    return known.all().stream()
        .map(Known::shown)
        .sorted(Comparator.comparingLong(Key::id).reversed())
        .toList();
  }

  /**
   * Writes down when keys were last used, if any was since the last time. Blocking; to be called
   * now and then, and at the end.
   */
  synchronized void writeUses() throws StoreException {
    Map<Long, Instant> times = new HashMap<>();
    for (Known one : known.all()) {
      long used = one.usedAt().get();
      if (used > one.writtenAt().get()) {
        times.put(one.stored().id(), Instant.ofEpochMilli(used));
      }
    }
    if (times.isEmpty()) {
      return;
    }
    stored.used(times);
    for (Known one : known.all()) {
      Instant written = times.get(one.stored().id());
      if (written != null) {
        one.writtenAt().set(written.toEpochMilli());
      }
    }
  }

  @Override
  public synchronized Created create(
      @Nullable String name,
      Principal.Role role,
      @Nullable String tenant,
      @Nullable Instant expiresAt,
      Actor by)
      throws StoreException {
    NewKey key = NewKey.make(random);
    return new Created(
        keep(name == null ? nameOf(key, role) : name, role, tenant, expiresAt, key, by),
        key.text());
  }

  private static String nameOf(NewKey key, Principal.Role role) {
    return role.name().toLowerCase(Locale.ROOT) + " " + key.id();
  }

  private Key keep(
      String name,
      Principal.Role role,
      @Nullable String tenant,
      @Nullable Instant expiresAt,
      NewKey key,
      Actor by)
      throws StoreException {
    byte[] hash = NewKey.sha256(key.text());
    ApiKey put =
        stored.put(
            name, ApiKey.Role.valueOf(role.name()), tenant, hash, clock.instant(), expiresAt, by);
    Known kept = Known.of(hash, put);
    known = known.with(kept);
    return kept.shown();
  }

  @Override
  public synchronized Revoked revoke(@Nullable String only, long id, Actor by)
      throws StoreException {
    if (stored.isShared() && known.all().stream().noneMatch(one -> one.stored().id() == id)) {
      readAgain();
    }
    boolean isTheirs =
        known.all().stream()
            .filter(one -> one.stored().id() == id)
            .anyMatch(one -> only == null || only.equals(one.stored().tenant()));
    if (!isTheirs) {
      return Revoked.NOT_FOUND;
    }
    ApiKeys.Revoked revoked = stored.revoke(id, by, clock.instant());
    if (revoked == ApiKeys.Revoked.IS_LAST_ADMIN) {
      return Revoked.IS_LAST_ADMIN;
    }
    known = known.without(id);
    return revoked == ApiKeys.Revoked.DONE ? Revoked.DONE : Revoked.NOT_FOUND;
  }
}
