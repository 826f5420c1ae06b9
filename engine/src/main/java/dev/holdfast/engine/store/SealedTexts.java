package dev.holdfast.engine.store;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Texts as they are before they are sealed together: each with its length before it, which is -1
 * for one that is absent. What comes later is put at the end, and is absent where it is missing.
 */
public final class SealedTexts {
  private static final int ABSENT = -1;

  private SealedTexts() {}

  public static byte[] bytes(@Nullable String... texts) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (String text : texts) {
        if (text == null) {
          out.writeInt(ABSENT);
        } else {
          byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
          out.writeInt(utf8.length);
          out.write(utf8);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The first texts, as many as are wanted. */
  public static @Nullable String[] texts(byte[] bytes, int wanted) {
    @Nullable String[] texts = new @Nullable String[wanted];
    ByteBuffer rest = ByteBuffer.wrap(bytes);
    for (int i = 0; i < wanted && rest.hasRemaining(); i++) {
      int length = rest.getInt();
      if (length != ABSENT) {
        byte[] utf8 = new byte[length];
        rest.get(utf8);
        texts[i] = new String(utf8, StandardCharsets.UTF_8);
      }
    }
    return texts;
  }
}
