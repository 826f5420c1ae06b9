package dev.holdfast.engine.store;

import dev.holdfast.core.model.Event;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The SHA-256 of what a caller said of an event, by which a repeat is told from other content.
 *
 * <p>Each field is preceded by its length, so that no two contents are digested alike; a field that
 * is absent has the length -1. For one thread.
 */
public final class ContentDigest {
  private static final int ABSENT = -1;

  private final MessageDigest sha256;
  private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES + Integer.BYTES);

  public ContentDigest() {
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  public byte[] of(Event event) {
    sha256.reset();
    add(event.type());
    add(event.subject());
    add(event.occurredAt());
    add(event.data());
    add(event.previous());
    return sha256.digest();
  }

  private void add(@Nullable String text) {
    add(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
  }

  private void add(@Nullable Instant time) {
    add(
        time == null
            ? null
            : number.clear().putLong(time.getEpochSecond()).putInt(time.getNano()).array().clone());
  }

  private void add(byte @Nullable [] bytes) {
    sha256.update(number.clear().putInt(bytes == null ? ABSENT : bytes.length).flip());
    if (bytes != null) {
      sha256.update(bytes);
    }
  }
}
