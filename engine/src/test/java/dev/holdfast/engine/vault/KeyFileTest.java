package dev.holdfast.engine.vault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KeyFileTest {
  private static final MasterKey ONE = MasterKey.make(new SecureRandom());
  private static final MasterKey TWO = MasterKey.make(new SecureRandom());

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private KeyFile file = new KeyFile(Path.of(""));

  @BeforeEach
  void nameIt() {
    file = KeyFile.in(directory);
  }

  private void write(MasterKey... keys) throws Exception {
    StringBuilder text = new StringBuilder();
    for (MasterKey key : keys) {
      text.append(key.text()).append("\n\n");
    }
    Files.writeString(file.path(), text);
  }

  private List<MasterKey> keys() throws Exception {
    return file.read().orElseThrow().all();
  }

  @Test
  void a_new_one_has_a_key_that_only_its_owner_can_read() throws Exception {
    assertThat(file.read()).isEmpty();
    MasterKeys made = file.readOrMake();
    assertThat(file.readOrMake()).isEqualTo(made);
    assertThat(keys()).isEqualTo(made.all()).hasSize(1);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
        .isEqualTo("rw-------");
    assertThat(file.isReadableByOthers()).isFalse();
    assertThat(directory.toFile().list()).containsExactly("master.key");
  }

  @Test
  void one_that_others_can_read_is_told() throws Exception {
    file.readOrMake();
    for (String permissions : List.of("rw-r-----", "rw----r--", "rw--w----", "rw-----w-")) {
      Files.setPosixFilePermissions(file.path(), PosixFilePermissions.fromString(permissions));
      assertThat(file.isReadableByOthers()).as(permissions).isTrue();
    }
  }

  @Test
  void the_first_of_its_keys_is_the_current_one() throws Exception {
    write(ONE, TWO);
    assertThat(keys()).containsExactly(ONE, TWO);
    assertThat(file.read().orElseThrow().current()).isEqualTo(ONE);
  }

  @Test
  void what_is_no_key_file_is_refused_without_a_word_of_it() throws Exception {
    String half = ONE.text().substring(0, 22);
    for (String text :
        List.of("", "\n", half, ONE.text() + " " + half, (ONE.text() + "\n").repeat(17))) {
      Files.writeString(file.path(), text);
      assertThatThrownBy(file::read)
          .isInstanceOf(KeysRefused.class)
          .hasMessageContainingAll("is not a key file", "openssl rand -base64 32")
          .message()
          .doesNotContain(half);
    }
    Files.delete(file.path());
    Files.createDirectory(file.path());
    assertThatThrownBy(file::read).isInstanceOf(KeysRefused.class);
  }

  @Test
  void a_change_begins_with_a_new_key_before_the_one_in_use() throws Exception {
    write(ONE);
    MasterKeys begun = file.begin(ONE);
    assertThat(keys()).isEqualTo(begun.all()).hasSize(2).endsWith(ONE);
    file.finish(begun.current(), ONE);
    assertThat(keys()).containsExactly(begun.current());
  }

  @Test
  void a_change_removes_the_key_that_was_in_use_and_no_other() throws Exception {
    write(ONE, TWO);
    MasterKey next = file.begin(ONE).current();
    assertThat(keys()).containsExactly(next, ONE, TWO);
    MasterKey added = MasterKey.make(new SecureRandom());
    write(next, ONE, TWO, added);
    file.finish(next, ONE);
    assertThat(keys()).containsExactly(next, TWO, added);
  }

  @Test
  void a_change_that_there_is_no_room_for_leaves_all_keys() throws Exception {
    List<MasterKey> full =
        Stream.generate(() -> MasterKey.make(new SecureRandom())).limit(MasterKeys.MOST).toList();
    write(full.toArray(MasterKey[]::new));
    assertThatThrownBy(() -> file.begin(full.getFirst()))
        .isInstanceOf(KeysRefused.class)
        .hasMessageContaining("no room for another key");
    assertThat(keys()).isEqualTo(full);
  }

  @Test
  void a_link_to_the_file_stays_a_link() throws Exception {
    Path real = Files.createDirectory(directory.resolve("real")).resolve("key");
    Files.writeString(real, ONE.text());
    Files.createSymbolicLink(file.path(), real);
    MasterKey next = file.begin(ONE).current();
    file.finish(next, ONE);
    assertThat(file.path()).isSymbolicLink();
    assertThat(new KeyFile(real).read().orElseThrow().all()).containsExactly(next);
    assertThat(directory.toFile().list()).containsExactlyInAnyOrder("master.key", "real");
  }

  @Test
  void a_change_takes_a_key_that_somebody_has_put_first() throws Exception {
    write(TWO, ONE);
    assertThat(file.begin(ONE).current()).isEqualTo(TWO);
    assertThat(keys()).containsExactly(TWO, ONE);
    write(TWO);
    assertThat(file.begin(ONE).current()).isEqualTo(TWO);
    assertThat(keys()).as("the one in use stays until it is not").containsExactly(TWO, ONE);
  }

  @Test
  void a_change_does_without_the_file_that_was_there() throws Exception {
    assertThat(file.begin(ONE).all()).hasSize(2).endsWith(ONE);
    assertThat(keys()).hasSize(2).endsWith(ONE);
  }

  @Test
  void one_that_cannot_be_made_says_what_to_do() {
    assertThatThrownBy(() -> KeyFile.in(directory.resolve("absent")).readOrMake())
        .isInstanceOf(KeysRefused.class)
        .hasMessageContainingAll("cannot be written", "secrets.key-file");
  }
}
