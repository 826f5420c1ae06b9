package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.engine.store.ApiKey.Role;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What browsers that have signed in need of every store. */
abstract class SessionsContract {
  private static final int MANY = 1_000;

  @SuppressWarnings("NullAway.Init")
  private Database store;

  /** Opens the store that holds what was written before in this test. */
  abstract Database openStore() throws Exception;

  /** What is damaged in the store, which is closed. */
  abstract List<String> problems() throws Exception;

  /** Changes something behind the back of the store, which is closed. */
  abstract void execute(String sql) throws Exception;

  @BeforeEach
  void open() throws Exception {
    store = openStore();
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void reopen() throws Exception {
    store.close();
    store = openStore();
  }

  private static byte[] hash(int number) {
    byte[] hash = new byte[32];
    Arrays.fill(hash, (byte) number);
    return hash;
  }

  private static Session session(int number, byte @Nullable [] keyHash, Instant beganAt) {
    Instant expiresAt = beganAt.plusSeconds(60);
    return keyHash == null
        ? Session.ofFixed(hash(number), hash(99), beganAt, expiresAt)
        : Session.of(hash(number), keyHash, beganAt, expiresAt);
  }

  private void put(int number, byte @Nullable [] keyHash) throws Exception {
    store.sessions().put(session(number, keyHash, NOW.plusMillis(number)), MANY, MANY);
  }

  private boolean isThere(int number) throws Exception {
    return store.sessions().find(hash(number)).isPresent();
  }

  @Test
  void a_session_is_there_after_a_restart_as_it_was() throws Exception {
    put(1, hash(50));
    put(2, null);
    reopen();
    assertThat(store.sessions().all()).hasSize(2);
    assertThat(store.sessions().find(hash(1)).orElseThrow())
        .usingRecursiveComparison()
        .isEqualTo(session(1, hash(50), NOW.plusMillis(1)));
    assertThat(store.sessions().find(hash(2)).orElseThrow())
        .usingRecursiveComparison()
        .isEqualTo(session(2, null, NOW.plusMillis(2)));
    assertThat(isThere(3)).isFalse();
    close();
    assertThat(problems()).isEmpty();
  }

  @Test
  void one_that_was_ended_is_gone_and_can_be_ended_again() throws Exception {
    put(1, hash(50));
    put(2, hash(50));
    store.sessions().delete(hash(1));
    store.sessions().delete(hash(1));
    reopen();
    assertThat(isThere(1)).isFalse();
    assertThat(isThere(2)).isTrue();
  }

  @Test
  void those_that_are_over_go_when_another_begins() throws Exception {
    put(1, hash(50));
    Instant later = NOW.plusMillis(1).plusSeconds(60);
    store.sessions().put(session(2, hash(51), later), MANY, MANY);
    assertThat(isThere(1)).isFalse();
    assertThat(isThere(2)).isTrue();
  }

  @Test
  void beyond_its_most_a_key_loses_its_oldest() throws Exception {
    for (byte[] key : Arrays.asList(hash(50), null)) {
      int first = key == null ? 10 : 1;
      put(40 + first, hash(51));
      for (int i = first; i < first + 5; i++) {
        store.sessions().put(session(i, key, NOW), 3, MANY);
      }
      assertThat(isThere(first + 1)).isFalse();
      assertThat(isThere(first + 2)).isTrue();
      assertThat(isThere(first + 4)).isTrue();
      assertThat(isThere(40 + first)).as("another key's").isTrue();
    }
  }

  @Test
  void beyond_the_most_of_all_the_key_with_the_most_loses_its_oldest() throws Exception {
    put(1, hash(50));
    for (int i = 2; i < 6; i++) {
      put(i, hash(51));
    }
    store.sessions().put(session(6, hash(52), NOW), MANY, 5);
    assertThat(store.sessions().all()).hasSize(5);
    assertThat(isThere(1)).isTrue();
    assertThat(isThere(2)).isFalse();
    assertThat(isThere(6)).isTrue();
  }

  @Test
  void a_revoked_key_takes_its_sessions_with_it_and_no_others() throws Exception {
    ApiKey key = store.apiKeys().put("one", Role.ADMIN, null, hash(50), NOW);
    store.apiKeys().put("two", Role.ADMIN, null, hash(51), NOW);
    put(1, hash(50));
    put(2, hash(51));
    put(3, null);
    assertThat(store.apiKeys().revoke(key.id(), Actor.PROGRAM, NOW))
        .isEqualTo(ApiKeys.Revoked.DONE);
    assertThat(isThere(1)).isFalse();
    assertThat(isThere(2)).isTrue();
    assertThat(isThere(3)).isTrue();
  }

  @Test
  void one_that_is_damaged_is_removed_and_keeps_nobody_else_out() throws Exception {
    put(1, hash(50));
    put(2, hash(51));
    close();
    execute("UPDATE sessions SET expires_at = expires_at + 1 WHERE began_at % 1000000 = 124456");
    assertThat(problems()).hasSize(1);
    store = openStore();
    assertThat(isThere(1)).isFalse();
    assertThat(store.sessions().all()).singleElement().extracting(Session::hash).isEqualTo(hash(2));
    assertThat(store.sessions().mark().count()).isEqualTo(1);
    close();
    assertThat(problems()).isEmpty();
    store = openStore();
  }

  @Test
  void whether_sessions_have_begun_or_ended_is_told_by_a_mark() throws Exception {
    Set<Sessions.Mark> marks = new HashSet<>();
    marks.add(store.sessions().mark());
    put(1, hash(50));
    marks.add(store.sessions().mark());
    put(2, null);
    marks.add(store.sessions().mark());
    store.sessions().delete(hash(1));
    marks.add(store.sessions().mark());
    put(3, hash(50));
    marks.add(store.sessions().mark());
    assertThat(marks).hasSize(5);
    reopen();
    assertThat(marks).contains(store.sessions().mark());
  }

  @Test
  void one_that_was_changed_is_found_by_a_check() throws Exception {
    put(1, hash(50));
    close();
    execute("UPDATE sessions SET expires_at = expires_at + 1");
    assertThat(problems()).hasSize(1).first().asString().contains("sessions");
    execute("DELETE FROM sessions");
    store = openStore();
  }
}
