package dev.holdfast.engine.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class IdListTest {
  private static final int SEEDS = 500;

  @Test
  void ids_come_back_as_they_were_whatever_lies_between_them() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long[] ids = ids(random);
      long first = ids[0] - random.nextLong(1L << random.nextInt(1, 40));
      int from = random.nextInt(ids.length);
      byte[] bytes = IdList.encode(first, ids, from, ids.length);
      assertThat(IdList.decode(first, bytes))
          .as("seed %d", seed)
          .containsExactly(Arrays.copyOfRange(ids, from, ids.length));
    }
  }

  @Test
  void the_first_id_may_be_the_one_that_the_list_begins_with() throws Exception {
    long[] ids = {7, 8, Long.MAX_VALUE};
    assertThat(IdList.decode(7, IdList.encode(7, ids, 0, 3))).containsExactly(ids);
  }

  @Test
  void ids_that_follow_each_other_closely_take_few_bytes() {
    long[] ids = LongStream.range(0, 1_000).map(i -> (1L << 60) + i * 100).toArray();
    assertThat(IdList.encode(ids[0], ids, 0, ids.length)).hasSize(1_000);
  }

  /** What leads to another message is noticed there: here it must not lead to the same. */
  @Test
  void a_flipped_bit_gives_other_ids_or_is_noticed() {
    for (long seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long[] ids = ids(random);
      byte[] bytes = IdList.encode(ids[0], ids, 0, ids.length);
      int bit = random.nextInt(bytes.length * Byte.SIZE);
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      try {
        assertThat(IdList.decode(ids[0], bytes)).as("seed %d", seed).isNotEqualTo(ids);
      } catch (Damaged e) {
        assertThat(e.what()).contains("index of history");
      }
    }
  }

  @Test
  void a_list_that_is_cut_off_or_repeats_an_id_is_damaged() {
    long[] ids = {5, 5 + 300};
    byte[] bytes = IdList.encode(5, ids, 0, 2);
    assertThatThrownBy(() -> IdList.decode(5, Arrays.copyOf(bytes, bytes.length - 1)))
        .isInstanceOf(Damaged.class);
    assertThatThrownBy(() -> IdList.decode(5, new byte[] {1, 0})).isInstanceOf(Damaged.class);
    byte[] endless = new byte[20];
    Arrays.fill(endless, (byte) 0xff);
    assertThatThrownBy(() -> IdList.decode(5, endless)).isInstanceOf(Damaged.class);
  }

  /** Distances of all sizes. */
  private static long[] ids(SplittableRandom random) {
    long[] ids = new long[random.nextInt(1, 60)];
    long id = random.nextLong(1L << 62);
    for (int i = 0; i < ids.length; i++) {
      id += random.nextLong(1, 1L << random.nextInt(1, 50));
      ids[i] = id;
    }
    return ids;
  }
}
