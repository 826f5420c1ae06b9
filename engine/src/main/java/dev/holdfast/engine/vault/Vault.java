package dev.holdfast.engine.vault;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * Seals values and opens them, with the keys of one store. May be used by any thread.
 *
 * <p>A sealed value has a version (1 byte), the number of the key that it is sealed with (4), and
 * what {@link AesGcm} makes of it, bound to the {@link Place} that it belongs to. The newest key
 * seals; all of them open. The first one also makes the digests, so that these stay the same.
 */
public final class Vault {
  private static final byte VERSION = 1;
  private static final int HEAD_BYTES = 1 + Integer.BYTES;
  private static final int KEY_BYTES = 32;
  private static final byte[] DIGEST_LABEL = "holdfast digest".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NO_HEAD = {};
  private static final SecureRandom RANDOM = new SecureRandom();

  private record DataKey(SecretKey key, Instant createdAt) {}

  /** Never changed. */
  private final NavigableMap<Integer, DataKey> keys;

  private final SecretKey digests;

  private Vault(NavigableMap<Integer, DataKey> keys) {
    this.keys = keys;
    this.digests =
        new SecretKeySpec(Hash.keyed(keys.firstEntry().getValue().key(), DIGEST_LABEL), Hash.KEYED);
  }

  /** A vault for a store that has no keys yet, with one that is new. */
  public static Vault make(Instant now) {
    return with(new TreeMap<>(), now);
  }

  /** The same with one more key, which seals from now on. */
  public Vault withNewKey(Instant now) {
    return with(new TreeMap<>(keys), now);
  }

  private static Vault with(NavigableMap<Integer, DataKey> keys, Instant now) {
    byte[] bytes = new byte[KEY_BYTES];
    RANDOM.nextBytes(bytes);
    keys.put(
        keys.isEmpty() ? 1 : keys.lastKey() + 1,
        new DataKey(new SecretKeySpec(bytes, AesGcm.ALGORITHM), now));
    return new Vault(keys);
  }

  /** The master key that these are wrapped with and that is not among those; empty when all are. */
  public static Optional<String> missing(List<WrappedKey> wrapped, MasterKeys masters) {
    return wrapped.stream()
        .map(WrappedKey::master)
        .filter(master -> masters.find(master).isEmpty())
        .findFirst();
  }

  /** Unwraps the keys of a store, at least one, with master keys none of which is missing. */
  public static Vault open(List<WrappedKey> wrapped, MasterKeys masters) throws NotAuthentic {
    NavigableMap<Integer, DataKey> keys = new TreeMap<>();
    for (WrappedKey key : wrapped) {
      MasterKey master =
          masters
              .find(key.master())
              .orElseThrow(() -> new IllegalArgumentException("no master key " + key.master()));
      byte[] bytes =
          AesGcm.open(master.key(), NO_HEAD.length, place(key.id(), master), key.wrapped());
      keys.put(key.id(), new DataKey(new SecretKeySpec(bytes, AesGcm.ALGORITHM), key.createdAt()));
    }
    return new Vault(keys);
  }

  /** All its keys, wrapped with this master key. */
  public List<WrappedKey> wrap(MasterKey master) {
    List<WrappedKey> wrapped = new ArrayList<>();
    keys.forEach(
        (id, key) ->
            wrapped.add(
                new WrappedKey(
                    id,
                    master.id(),
                    AesGcm.seal(
                        master.key(), RANDOM, NO_HEAD, place(id, master), key.key().getEncoded()),
                    key.createdAt())));
    return wrapped;
  }

  private static byte[] place(int key, MasterKey master) {
    return new Place("data_keys", master.id(), key).bytes();
  }

  /** How many keys it has. */
  public int size() {
    return keys.size();
  }

  /** The number of the key that seals. */
  public int newest() {
    return keys.lastKey();
  }

  /** Since when there is the key that seals. */
  public Instant since() {
    return keys.lastEntry().getValue().createdAt();
  }

  public byte[] seal(Place place, byte[] bytes) {
    int id = keys.lastKey();
    byte[] head = ByteBuffer.allocate(HEAD_BYTES).put(VERSION).putInt(id).array();
    return AesGcm.seal(keys.lastEntry().getValue().key(), RANDOM, head, place.bytes(), bytes);
  }

  public byte[] open(Place place, byte[] sealed) throws NotAuthentic {
    if (sealed.length < HEAD_BYTES || sealed[0] != VERSION) {
      throw new NotAuthentic("it is of no known version");
    }
    DataKey key = keys.get(ByteBuffer.wrap(sealed).getInt(1));
    if (key == null) {
      throw new NotAuthentic("the key that it was sealed with is not there");
    }
    return AesGcm.open(key.key(), HEAD_BYTES, place.bytes(), sealed);
  }

  /** Whether it has the key that a value is sealed with. */
  public boolean knows(byte[] sealed) {
    return sealed.length >= HEAD_BYTES
        && sealed[0] == VERSION
        && keys.containsKey(ByteBuffer.wrap(sealed).getInt(1));
  }

  /** By which a text of a tenant is found again, and which tells nothing about it. */
  public String digest(String tenant, String text) {
    byte[] name = tenant.getBytes(StandardCharsets.UTF_8);
    byte[] length = ByteBuffer.allocate(Integer.BYTES).putInt(name.length).array();
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(Hash.keyed(digests, length, name, text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Never a key. */
  @Override
  public String toString() {
    return "Vault[keys=" + keys.keySet() + "]";
  }
}
