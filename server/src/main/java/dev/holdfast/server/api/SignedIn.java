package dev.holdfast.server.api;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.Session;
import dev.holdfast.engine.store.Sessions;
import io.vertx.core.Context;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The browsers that have signed in, in memory, as the store has them.
 *
 * <p>A session stands for the key that it was begun with and for nothing of its own: with each
 * request that key is asked for again, so whatever happens to it happens to its sessions. Of a
 * cookie only the hash is kept. What a browser has to prove beside it, see {@link Open#csrf}, is
 * made from the cookie, so it is not kept at all.
 *
 * <p>Any thread may ask; changes are made one after the other, each on disk before it counts.
 */
final class SignedIn {
  private static final Logger log = LoggerFactory.getLogger(SignedIn.class);

  private static final int COOKIE_BYTES = 32;
  private static final byte[] FOR_CSRF = "csrf ".getBytes(StandardCharsets.UTF_8);
  private static final byte[] FOR_KEY = "key ".getBytes(StandardCharsets.UTF_8);

  private final SessionRows stored;
  private final Authenticator authenticator;
  private final InstantSource clock;
  private final Duration length;
  private final SecureRandom random = new SecureRandom();
  private final MissedKeys misses = new MissedKeys();
  private final AtomicBoolean isLearning = new AtomicBoolean();

  /** By the hash of the cookie. Never changed, only replaced. */
  private volatile Map<ByteBuffer, Session> known = Map.of();

  /** What the store had when all were read; absent when that is to be done again. */
  private Sessions.@Nullable Mark mark;

  /**
   * A session whose browser is there, with its cookie.
   *
   * @param hash of the cookie
   * @param keyHash the hash of the key that it stands for
   * @param csrf what a page has to send with whatever changes something: other sites, which can
   *     make a browser send its cookie, cannot read it
   */
  record Open(byte[] hash, byte[] keyHash, String csrf, Instant expiresAt) {

    /** Whether it is the same, in a time that tells nothing about it. */
    boolean isCsrf(@Nullable String sent) {
      return sent != null && MessageDigest.isEqual(bytes(csrf), bytes(sent));
    }

    @Override
    public String toString() {
      return "Open[until " + expiresAt + "]";
    }
  }

  /**
   * A session that has just begun.
   *
   * @param cookie what the browser keeps; nobody can find it out later
   */
  record Begun(Open session, String cookie) {
    @Override
    public String toString() {
      return "Begun[" + session + "]";
    }
  }

  private SignedIn(
      SessionRows stored, Authenticator authenticator, InstantSource clock, Duration length) {
    this.stored = stored;
    this.authenticator = authenticator;
    this.clock = clock;
    this.length = length;
  }

  /** Those of a store. Blocking. */
  static SignedIn open(
      SessionRows stored, Authenticator authenticator, InstantSource clock, Duration length)
      throws StoreException {
    SignedIn signedIn = new SignedIn(stored, authenticator, clock, length);
    signedIn.readAgain();
    return signedIn;
  }

  boolean isShared() {
    return stored.isShared();
  }

  Duration length() {
    return length;
  }

  /** Begins a session of a key that is valid. Blocking. */
  synchronized Begun begin(byte[] keyHash) throws StoreException {
    byte[] secret = new byte[COOKIE_BYTES];
    random.nextBytes(secret);
    String cookie = base64(secret);
    byte[] fixed = authenticator.fixedKey();
    boolean isFixed = fixed != null && MessageDigest.isEqual(fixed, keyHash);
    Instant now = clock.instant();
    Instant end = now.plus(length);
    Session session =
        isFixed
            ? Session.ofFixed(hash(cookie), proof(cookie, keyHash), now, end)
            : Session.of(hash(cookie), keyHash, now, end);
    stored.put(session);
    add(session);
    if (isShared()) {
      mark = null;
    } else {
      Sessions.Mark after = stored.mark();
      if (mark != null && after.count() == mark.count() + 1) {
        mark = after;
      } else {
        // Others have given way to it.
        readAgain();
      }
    }
    return new Begun(open(session, cookie, keyHash), cookie);
  }

  /** Ends a session. Blocking. Can be repeated. */
  synchronized void end(Open session) throws StoreException {
    stored.delete(session.hash());
    Map<ByteBuffer, Session> left = new HashMap<>(known);
    left.remove(ByteBuffer.wrap(session.hash()));
    known = left;
    mark = null;
  }

  /** The session of a cookie; absent when there is none, or it is over. */
  @Nullable Open find(String cookie, Instant now) {
    Session session = known.get(ByteBuffer.wrap(hash(cookie)));
    if (session == null || !session.isValid(now)) {
      return null;
    }
    byte[] keyHash = keyHash(session, cookie);
    return keyHash == null ? null : open(session, cookie, keyHash);
  }

  /** The hash of its key; absent if that was a key which is set no longer. */
  private byte @Nullable [] keyHash(Session session, String cookie) {
    byte[] ofStored = session.keyHash();
    if (ofStored != null) {
      return ofStored;
    }
    byte[] fixed = authenticator.fixedKey();
    return fixed != null && MessageDigest.isEqual(session.fixed(), proof(cookie, fixed))
        ? fixed
        : null;
  }

  private static Open open(Session session, String cookie, byte[] keyHash) {
    return new Open(
        session.hash(),
        keyHash,
        base64(digest().digest(joined(FOR_CSRF, bytes(cookie)))),
        session.expiresAt());
  }

  // ---- others that share the store

  /** Whether a session that is not known here, or its key, may be from elsewhere. */
  boolean mayBeNew(String cookie) {
    if (!stored.isShared()) {
      return false;
    }
    byte[] hash = hash(cookie);
    Session session = known.get(ByteBuffer.wrap(hash));
    if (session == null) {
      return misses.mayLook(hash, System.nanoTime());
    }
    byte[] keyHash = session.keyHash();
    return keyHash != null && authenticator.mayBeNew(keyHash);
  }

  /** Looks for such a session, and for its key. Blocking. */
  void lookFor(String cookie) throws StoreException {
    Optional<Session> found = stored.find(hash(cookie));
    if (found.isPresent()) {
      add(found.get());
      byte[] keyHash = found.get().keyHash();
      if (keyHash != null && authenticator.mayBeNew(keyHash)) {
        authenticator.lookFor(keyHash);
      }
    }
  }

  private synchronized void add(Session session) {
    Map<ByteBuffer, Session> more = new HashMap<>(known);
    more.put(ByteBuffer.wrap(session.hash()), session);
    known = more;
  }

  /** Learns what others have begun and ended, on another thread. Called on the event loop. */
  void learn(Context context) {
    if (!isLearning.compareAndSet(false, true)) {
      return;
    }
    var _ =
        context
            .executeBlocking(
                () -> {
                  readIfChanged();
                  return true;
                },
                false)
            .onComplete(_ -> isLearning.set(false))
            .onFailure(e -> log.debug("sessions.unread next=\"read again in a second\"", e));
  }

  private synchronized void readIfChanged() throws StoreException {
    if (mark == null || !mark.equals(stored.mark())) {
      readAgain();
    }
  }

  private synchronized void readAgain() throws StoreException {
    Sessions.Mark before = stored.mark();
    List<Session> all = stored.all();
    Instant now = clock.instant();
    Map<ByteBuffer, Session> valid = new HashMap<>();
    for (Session session : all) {
      if (session.isValid(now)) {
        valid.put(ByteBuffer.wrap(session.hash()), session);
      }
    }
    known = valid;
    mark = before;
  }

  // ---- what is made of cookies

  private static byte[] hash(String cookie) {
    return digest().digest(bytes(cookie));
  }

  /** Ties a cookie to a key that is not stored, and tells nothing about either. */
  private static byte[] proof(String cookie, byte[] keyHash) {
    return digest().digest(joined(FOR_KEY, joined(bytes(cookie), keyHash)));
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static byte[] joined(byte[] first, byte[] second) {
    return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
