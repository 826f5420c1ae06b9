package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class NewKeyTest {
  private final SecureRandom random = new SecureRandom();

  @Test
  void a_key_begins_with_its_id_and_holds_at_least_192_random_bits() {
    NewKey key = NewKey.make(random);
    assertThat(key.text())
        .matches("hf_[0-9a-z]{8}_[0-9a-z]{39}")
        .startsWith("hf_" + key.id() + "_");
  }

  @Test
  void every_digit_of_a_key_takes_all_of_its_32_values() {
    List<Set<Character>> taken =
        Stream.<Set<Character>>generate(HashSet::new).limit("hf_".length() + 8 + 1 + 39).toList();
    for (int i = 0; i < 2_000; i++) {
      String key = NewKey.make(random).text();
      for (int digit = 0; digit < key.length(); digit++) {
        taken.get(digit).add(key.charAt(digit));
      }
    }
    assertThat(taken.subList(3, 11)).allSatisfy(digits -> assertThat(digits).hasSize(32));
    assertThat(taken.subList(12, 51)).allSatisfy(digits -> assertThat(digits).hasSize(32));
  }

  @Test
  void no_two_keys_are_the_same() {
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      keys.add(NewKey.make(random).text());
    }
    assertThat(keys).hasSize(1_000);
  }

  @Test
  void a_key_does_not_print_itself() {
    NewKey key = NewKey.make(random);
    assertThat(key.toString()).contains(key.id()).doesNotContain(key.text());
  }

  @Test
  void what_is_kept_is_the_sha_256_of_the_whole_text() {
    assertThat(HexFormat.of().formatHex(NewKey.sha256("abc")))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }
}
