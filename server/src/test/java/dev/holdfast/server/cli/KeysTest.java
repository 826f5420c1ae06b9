package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.server.api.Authenticator;
import dev.holdfast.server.api.Authenticator.Recognition;
import dev.holdfast.server.api.Keyring;
import dev.holdfast.server.api.Principal.Role;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeysTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  @TempDir private Path data = Path.of("");

  private Instant now = START;
  private SqliteStore store;
  private Keys keys;

  @BeforeEach
  void open() throws Exception {
    store = SqliteStore.open(data);
    keys = Keys.of(store.apiKeys(), () -> now);
  }

  @AfterEach
  void close() throws Exception {
    store.close();
  }

  private void reopen() throws Exception {
    close();
    open();
  }

  private Recognition recognise(String text) {
    return keys.authenticate(NewKey.sha256(text), now);
  }

  @Test
  void a_key_opens_the_server_until_the_moment_at_which_it_ends_and_no_longer() throws Exception {
    Instant end = START.plus(Duration.ofDays(90));
    String text = keys.create("ends", Role.VIEWER, "acme", end, Actor.SERVER).text();
    now = end.minusNanos(1);
    assertThat(recognise(text)).isInstanceOf(Authenticator.Valid.class);
    now = end;
    assertThat(recognise(text)).isEqualTo(new Authenticator.Expired(end));
    reopen();
    assertThat(recognise(text)).isEqualTo(new Authenticator.Expired(end));
    assertThat(keys.all()).extracting(Keyring.Key::expiresAt).containsExactly(end);
  }

  @Test
  void whoever_has_only_a_part_of_a_key_that_ended_learns_nothing_of_it() throws Exception {
    String text =
        keys.create("ends", Role.VIEWER, "acme", START.plusSeconds(1), Actor.SERVER).text();
    now = START.plusSeconds(2);
    assertThat(recognise(text.substring(0, text.length() - 1))).isEqualTo(Authenticator.UNKNOWN);
    assertThat(recognise(text + "0")).isEqualTo(Authenticator.UNKNOWN);
  }

  @Test
  void a_hash_that_agrees_in_the_part_that_is_looked_up_is_still_another_key() throws Exception {
    String text = keys.create("one", Role.VIEWER, "acme", null, Actor.SERVER).text();
    byte[] hash = NewKey.sha256(text);
    for (int i = 0; i < hash.length; i++) {
      byte[] near = hash.clone();
      near[i] ^= 1;
      assertThat(keys.authenticate(near, now)).isEqualTo(Authenticator.UNKNOWN);
    }
    assertThat(keys.authenticate(hash, now)).isInstanceOf(Authenticator.Valid.class);
  }

  @Test
  void a_key_that_is_revoked_opens_nothing_from_then_on() throws Exception {
    Keyring.Created made = keys.create("one", Role.VIEWER, "acme", null, Actor.SERVER);
    keys.create("other", Role.VIEWER, "acme", null, Actor.SERVER);
    assertThat(recognise(made.text())).isInstanceOf(Authenticator.Valid.class);
    assertThat(keys.revoke("acme", made.key().id(), Actor.SERVER)).isEqualTo(Keyring.Revoked.DONE);
    assertThat(recognise(made.text())).isEqualTo(Authenticator.UNKNOWN);
    keys.writeUses();
    reopen();
    assertThat(recognise(made.text())).isEqualTo(Authenticator.UNKNOWN);
  }

  @Test
  void when_a_key_was_last_used_is_shown_at_once_and_kept_when_it_is_written_down()
      throws Exception {
    String text =
        keys.create("used", Role.VIEWER, "acme", START.plusSeconds(100), Actor.SERVER).text();
    String unused = keys.create("unused", Role.VIEWER, "acme", null, Actor.SERVER).text();
    assertThat(lastUses()).containsExactly(null, null);
    now = START.plusSeconds(5);
    recognise(text);
    recognise(unused.substring(1));
    assertThat(lastUses()).containsExactly(null, now);
    keys.writeUses();
    now = START.plusSeconds(7);
    recognise(text);
    reopen();
    assertThat(lastUses()).containsExactly(null, START.plusSeconds(5));
    recognise(text);
    keys.writeUses();
    keys.writeUses();
    reopen();
    assertThat(lastUses()).containsExactly(null, START.plusSeconds(7));
    now = START.plusSeconds(200);
    recognise(text);
    assertThat(lastUses()).as("a key that ended opens nothing").doesNotContain(now);
  }

  private Iterable<Instant> lastUses() {
    return keys.all().stream().map(Keyring.Key::lastUsedAt).toList();
  }

  @Test
  void nothing_is_written_when_no_key_was_used() throws Exception {
    String text = keys.create("used", Role.VIEWER, "acme", null, Actor.SERVER).text();
    recognise(text);
    keys.writeUses();
    store.close();
    keys.writeUses();
    store = SqliteStore.open(data);
  }

  @Test
  void an_admin_key_that_ended_does_not_stand_in_for_the_last_one() throws Exception {
    Keyring.Created ends =
        keys.create("ends", Role.ADMIN, null, START.plusSeconds(10), Actor.SERVER);
    Keyring.Created stays = keys.create("stays", Role.ADMIN, null, null, Actor.SERVER);
    now = START.plusSeconds(10);
    assertThat(keys.revoke(null, stays.key().id(), Actor.SERVER))
        .isEqualTo(Keyring.Revoked.IS_LAST_ADMIN);
    assertThat(keys.revoke(null, ends.key().id(), Actor.SERVER)).isEqualTo(Keyring.Revoked.DONE);
  }
}
