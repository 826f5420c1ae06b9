package dev.holdfast.engine.vault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.engine.Seeds;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class VaultTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Place PLACE = new Place("subscriptions", "acme", 7);
  private static final byte[] SECRET = "whsec_secret".getBytes(StandardCharsets.UTF_8);

  private final Vault vault = Vault.make(NOW);

  private static MasterKey master() {
    return MasterKey.make(new SecureRandom());
  }

  private static MasterKeys only(MasterKey... keys) {
    return new MasterKeys(List.of(keys), "a test");
  }

  @Test
  void what_is_sealed_opens_where_it_was_put() {
    Seeds.each(
        300,
        random -> {
          byte[] bytes = new byte[random.nextInt(2_000)];
          random.nextBytes(bytes);
          Place place =
              new Place(
                  "t".repeat(random.nextInt(3)), "é".repeat(random.nextInt(3)), random.nextLong());
          assertThat(vault.open(place, vault.seal(place, bytes))).isEqualTo(bytes);
        });
  }

  @Test
  void the_same_value_is_never_sealed_alike() {
    Set<String> sealed = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      byte[] value = vault.seal(PLACE, SECRET);
      assertThat(new String(value, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
      sealed.add(new String(value, StandardCharsets.ISO_8859_1));
    }
    assertThat(sealed).hasSize(100);
  }

  @Test
  void no_bit_of_a_sealed_value_can_be_changed() {
    byte[] sealed = vault.seal(PLACE, SECRET);
    for (int bit = 0; bit < sealed.length * Byte.SIZE; bit++) {
      byte[] changed = sealed.clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << (bit % Byte.SIZE));
      assertThatThrownBy(() -> vault.open(PLACE, changed))
          .as("bit %d", bit)
          .isInstanceOf(NotAuthentic.class);
    }
  }

  @Test
  void a_sealed_value_cannot_be_cut() {
    byte[] sealed = vault.seal(PLACE, SECRET);
    for (int length = 0; length < sealed.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(sealed, length);
      assertThatThrownBy(() -> vault.open(PLACE, cut)).isInstanceOf(NotAuthentic.class);
    }
  }

  @Test
  void a_sealed_value_does_not_open_elsewhere() {
    byte[] sealed = vault.seal(PLACE, SECRET);
    for (Place other :
        List.of(
            new Place("endpoints", "acme", 7),
            new Place("subscriptions", "other", 7),
            new Place("subscriptions", "acme", 8),
            new Place("subscriptionsa", "cme", 7),
            new Place("", "subscriptionsacme", 7))) {
      assertThatThrownBy(() -> vault.open(other, sealed))
          .as("%s", other)
          .isInstanceOf(NotAuthentic.class);
    }
    assertThatThrownBy(() -> Vault.make(NOW).open(PLACE, sealed)).isInstanceOf(NotAuthentic.class);
  }

  @Test
  void its_keys_open_with_their_master_key_only() throws Exception {
    MasterKey key = master();
    List<WrappedKey> wrapped = vault.wrap(key);
    byte[] sealed = vault.seal(PLACE, SECRET);
    assertThat(Vault.open(wrapped, only(master(), key)).open(PLACE, sealed)).isEqualTo(SECRET);
    assertThat(Vault.missing(wrapped, only(master()))).contains(key.id());
    assertThat(Vault.missing(wrapped, only(key))).isEmpty();
  }

  @Test
  void no_bit_of_a_wrapped_key_can_be_changed_and_none_stands_for_another() {
    MasterKey key = master();
    WrappedKey wrapped = vault.wrap(key).getFirst();
    for (int bit = 0; bit < wrapped.wrapped().length * Byte.SIZE; bit++) {
      byte[] changed = wrapped.wrapped().clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << (bit % Byte.SIZE));
      assertNotOpened(new WrappedKey(1, key.id(), changed, NOW), key);
    }
    assertNotOpened(new WrappedKey(2, key.id(), wrapped.wrapped(), NOW), key);
  }

  private static void assertNotOpened(WrappedKey wrapped, MasterKey key) {
    assertThatThrownBy(() -> Vault.open(List.of(wrapped), only(key)))
        .isInstanceOf(NotAuthentic.class);
  }

  @Test
  void a_new_key_seals_and_the_older_ones_still_open() throws Exception {
    byte[] before = vault.seal(PLACE, SECRET);
    Vault next = vault.withNewKey(NOW.plusSeconds(5));
    byte[] after = next.seal(PLACE, SECRET);
    MasterKey key = master();
    Vault opened = Vault.open(next.wrap(key), only(key));
    assertThat(opened.open(PLACE, before)).isEqualTo(SECRET);
    assertThat(opened.open(PLACE, after)).isEqualTo(SECRET);
    assertThatThrownBy(() -> vault.open(PLACE, after)).isInstanceOf(NotAuthentic.class);
    assertThat(opened.size()).isEqualTo(2);
    assertThat(opened.since()).isEqualTo(NOW.plusSeconds(5));
    assertThat(opened.digest("acme", "url")).isEqualTo(vault.digest("acme", "url"));
  }

  @Test
  void digests_tell_tenants_texts_and_stores_apart() {
    List<String> digests = new ArrayList<>();
    for (Vault one : List.of(vault, Vault.make(NOW))) {
      digests.add(one.digest("acme", "https://one.example/"));
      digests.add(one.digest("acme", "https://two.example/"));
      digests.add(one.digest("acmeh", "ttps://one.example/"));
      digests.add(one.digest("other", "https://one.example/"));
    }
    assertThat(digests).doesNotHaveDuplicates().allMatch(digest -> digest.length() == 43);
    assertThat(vault.digest("acme", "https://one.example/")).isEqualTo(digests.getFirst());
  }

  @Test
  void no_key_is_ever_printed() {
    MasterKey key = master();
    assertThat(key + " " + only(key) + " " + new MasterKeySource.Given(List.of(key), "a test"))
        .contains(key.id())
        .doesNotContain(key.text());
    assertThat(MasterKey.parse(key.text())).contains(key);
    assertThat(MasterKey.parse(key.text().substring(4))).isEmpty();
    assertThat(MasterKey.parse("§" + key.text().substring(1))).isEmpty();
  }
}
