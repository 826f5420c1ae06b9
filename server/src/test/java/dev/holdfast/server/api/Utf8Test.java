package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class Utf8Test {

  @Test
  void it_agrees_with_the_platforms_decoder() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes =
          "plain ascii text, é, 東京, 🙂 and more plain text"
              .repeat(1 + random.nextInt(3))
              .getBytes(StandardCharsets.UTF_8);
      for (int change = random.nextInt(3); change > 0; change--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
      assertThat(Utf8.isValid(bytes)).as("seed %d, round %d", seed, i).isEqualTo(decodes(bytes));
    }
  }

  @Test
  void it_looks_at_every_byte_of_a_long_text() {
    byte[] bytes = "é and ascii ".repeat(10_000).getBytes(StandardCharsets.UTF_8);
    assertThat(Utf8.isValid(bytes)).isTrue();
    bytes[bytes.length - 2] = (byte) 0xff;
    assertThat(Utf8.isValid(bytes)).isFalse();
  }

  private static boolean decodes(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException _) {
      return false;
    }
  }
}
