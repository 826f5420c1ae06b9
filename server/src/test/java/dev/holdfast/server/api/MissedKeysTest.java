package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MissedKeysTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private final MissedKeys misses = new MissedKeys();

  private static byte[] hash(int number) {
    return ByteBuffer.allocate(32).putInt(number).array();
  }

  @Test
  void a_key_is_looked_for_once() {
    assertThat(misses.mayLook(hash(1), 0)).isTrue();
    assertThat(misses.mayLook(hash(1), 2 * SECOND)).isFalse();
    assertThat(misses.mayLook(hash(2), 2 * SECOND)).isTrue();
  }

  @Test
  void few_are_looked_for_in_a_second_whoever_sends_them() {
    for (int second = 0; second < 100; second++) {
      int looked = 0;
      for (int i = 0; i < 1_000; i++) {
        looked += misses.mayLook(hash(second * 1_000 + i), -SECOND + second * SECOND) ? 1 : 0;
      }
      assertThat(looked).isEqualTo(50);
    }
  }
}
