package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** The watch over leaks can see one. */
final class LeaksTest {

  @Test
  void a_buffer_that_nobody_releases_is_noticed() throws Exception {
    try (Leaks leaks = new Leaks()) {
      assertThat(forgotten()).isEqualTo(1);
      assertThatThrownBy(leaks::assertNone).hasMessageContaining("LEAK");
    }
  }

  private static int forgotten() {
    ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(1).writeByte(1);
    return buffer.readableBytes();
  }
}
