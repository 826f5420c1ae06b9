package dev.holdfast.engine.store.postgres;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.Act;
import dev.holdfast.engine.store.ApiKey;
import dev.holdfast.engine.store.ApiKey.Role;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.Sample;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.KeysRefused;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys, secrets and the audit log of a store that several nodes share. */
final class SharedKeysTest {
  private final String url = PostgresServer.freshDatabase();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path elsewhere;

  private PostgresStore open(Path keys) throws Exception {
    return PostgresTools.open(url, keys, StoreLimits.DEFAULT);
  }

  /** Does the same in several threads that begin together. */
  private static <T> List<T> together(int count, Callable<T> work) throws Exception {
    CountDownLatch begin = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
      List<Future<T>> all = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        all.add(
            threads.submit(
                () -> {
                  begin.await();
                  return work.call();
                }));
      }
      begin.countDown();
      List<T> results = new ArrayList<>();
      for (Future<T> each : all) {
        results.add(each.get());
      }
      return results;
    }
  }

  private static byte[] hash(int number) {
    byte[] hash = new byte[32];
    Arrays.fill(hash, (byte) number);
    return hash;
  }

  @Test
  void nodes_that_begin_together_make_one_data_key_and_one_first_key() throws Exception {
    Files.copy(makeKeyFile(elsewhere), KeyFile.in(directory).path());
    List<PostgresStore> nodes = together(4, () -> open(directory));
    List<Optional<ApiKey>> first = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      assertThat(nodes.get(i).vault().shown().dataKeys()).isEqualTo(1);
    }
    List<PostgresStore> waiting = new ArrayList<>(nodes);
    first.addAll(
        together(
            4,
            () -> {
              PostgresStore node;
              byte[] itsOwn;
              synchronized (waiting) {
                node = waiting.removeFirst();
                itsOwn = hash(waiting.size());
              }
              return node.apiKeys().putFirst("admin", Role.ADMIN, itsOwn, NOW, Actor.SERVER);
            }));
    assertThat(first.stream().filter(Optional::isPresent)).hasSize(1);
    assertThat(nodes.getFirst().apiKeys().all()).hasSize(1);
    nodes.forEach(PostgresStore::close);
    assertThat(PostgresTools.problems(url, directory)).isEmpty();
  }

  private static Path makeKeyFile(Path place) throws KeysRefused {
    KeyFile file = KeyFile.in(place);
    file.readOrMake();
    return file.path();
  }

  @Test
  void a_key_of_one_node_is_known_to_the_others_at_once() throws Exception {
    try (PostgresStore one = open(directory);
        PostgresStore other = open(directory)) {
      assertThat(one.apiKeys().isShared()).isTrue();
      ApiKey key = one.apiKeys().put("ci", Role.ADMIN, null, hash(1), NOW);
      assertThat(other.apiKeys().find(hash(1))).contains(key);
      other.apiKeys().delete(key.id(), Actor.SERVER, NOW);
      assertThat(one.apiKeys().find(hash(1))).isEmpty();
    }
  }

  @Test
  void chains_have_no_gap_however_many_nodes_append() throws Exception {
    try (PostgresStore one = open(directory);
        PostgresStore other = open(directory)) {
      List<PostgresStore> nodes = List.of(one, other);
      together(
          8,
          () -> {
            for (int i = 0; i < 25; i++) {
              String tenant = i % 3 == 0 ? null : "tenant-" + i % 3;
              Audit audit = nodes.get(i % 2).audit();
              audit.append(new Act(Actor.SERVER, NOW, tenant, "test.done", "x_1", null, null));
            }
            return true;
          });
      Audit.Query all =
          new Audit.Query("tenant-1", null, null, null, "x_1", null, Long.MAX_VALUE, 10);
      assertThat(one.audit().find(all).entries()).hasSize(10);
    }
    assertThat(PostgresTools.problems(url, directory)).isEmpty();
    try (Connections connections = new Connections(new PostgresOptions(url))) {
      assertThat(
              connections
                  .read(
                      "counting",
                      connection ->
                          Select.list(
                              connection,
                              "SELECT max(id) = 200 AND count(*) = 200 FROM audit",
                              row -> row.getBoolean(1)))
                  .getFirst())
          .isTrue();
    }
  }

  @Test
  void a_node_with_another_master_key_is_refused_and_told_what_to_do() throws Exception {
    open(directory).close();
    assertThatThrownBy(() -> open(elsewhere))
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("is not there")
        .hasMessageContaining("copy the key file of a node that runs")
        .hasMessageNotContaining("password=");
    assertThat(elsewhere).as("no key is made that is not needed").isEmptyDirectory();
    makeKeyFile(elsewhere);
    assertThatThrownBy(() -> open(elsewhere))
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("All nodes of a store need the same master key");
  }

  @Test
  void a_node_learns_of_a_new_key_when_it_meets_what_was_sealed_with_it() throws Exception {
    Sample sample = new Sample();
    try (PostgresStore one = open(directory);
        PostgresStore other = open(directory)) {
      StoreVault.Rotated rotated = prepared(one).rotate(Actor.SERVER, NOW).orElseThrow();
      assertThat(rotated.dataKeys()).isEqualTo(2);
      Endpoint endpoint = sample.endpoint("http://one.example/");
      one.write(batch(new Write.Subscribe(sample.subscription(endpoint, "order.*"), endpoint)));
      assertThat(other.changes(0).endpoints()).containsExactly(endpoint);
      assertThat(other.vault().shown().id()).isEqualTo(rotated.to());
      StoreVault.Rotated again = prepared(other).rotate(Actor.SERVER, NOW).orElseThrow();
      assertThat(again.from()).isEqualTo(rotated.to());
      assertThat(again.dataKeys()).isEqualTo(3);
    }
    try (PostgresStore reopened = open(directory)) {
      assertThat(reopened.snapshot().endpoints()).hasSize(1);
    }
    assertThat(PostgresTools.problems(url, directory)).isEmpty();
  }

  /** The vault of a node, with a new key in front of the key file that all nodes read. */
  private StoreVault prepared(PostgresStore node) throws Exception {
    Path fresh = Files.createTempDirectory(elsewhere, "key");
    List<String> lines = new ArrayList<>(Files.readAllLines(makeKeyFile(fresh)));
    Path file = KeyFile.in(directory).path();
    lines.addAll(Files.readAllLines(file));
    Files.write(file, lines);
    return node.vault();
  }

  @Test
  void a_new_master_key_that_other_nodes_do_not_have_is_not_made() throws Exception {
    try (PostgresStore one = open(directory);
        PostgresStore other = open(directory)) {
      assertThatThrownBy(() -> one.vault().rotate(Actor.SERVER, NOW))
          .isInstanceOf(KeysRefused.class)
          .hasMessageContaining("the key file of every server");
      assertThat(other.vault().shown().dataKeys()).isEqualTo(1);
    }
    try (PostgresStore alone = open(directory)) {
      assertThat(alone.vault().rotate(Actor.SERVER, NOW)).isPresent();
    }
  }

  @Test
  void a_node_that_lacks_the_new_master_key_says_which_and_goes_on_when_it_has_it()
      throws Exception {
    Sample sample = new Sample();
    Path theirs = KeyFile.in(elsewhere).path();
    Files.copy(makeKeyFile(directory), theirs);
    try (PostgresStore one = open(directory);
        PostgresStore other = open(elsewhere)) {
      StoreVault.Rotated rotated = prepared(one).rotate(Actor.SERVER, NOW).orElseThrow();
      Endpoint endpoint = sample.endpoint("http://one.example/");
      one.write(batch(new Write.Subscribe(sample.subscription(endpoint, "order.*"), endpoint)));
      assertThatThrownBy(() -> other.changes(0))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("under the master key " + rotated.to());
      assertThatThrownBy(() -> other.vault().renewIfBehind()).isInstanceOf(StoreException.class);
      Files.copy(KeyFile.in(directory).path(), theirs, StandardCopyOption.REPLACE_EXISTING);
      assertThat(other.changes(0).endpoints()).containsExactly(endpoint);
    }
  }

  @Test
  void a_start_never_changes_the_master_key() throws Exception {
    try (PostgresStore one = open(directory)) {
      String before = one.vault().shown().id();
      prepared(one);
      try (PostgresStore other = open(directory)) {
        assertThat(other.vault().shown().id()).isEqualTo(before);
        StoreVault.Rotated rotated = other.vault().rotate(Actor.SERVER, NOW).orElseThrow();
        assertThat(rotated.isOldKept()).isTrue();
        assertThat(KeyFile.in(directory).read().orElseThrow().find(before)).isPresent();
        Files.write(
            KeyFile.in(directory).path(),
            Files.readAllLines(KeyFile.in(directory).path()).reversed());
        try (PostgresStore third = open(directory)) {
          assertThat(third.vault().shown().id()).as("not back").isEqualTo(rotated.to());
        }
      }
    }
  }

  @Test
  void who_looks_beside_the_nodes_changes_nothing_and_makes_no_key_that_they_lack()
      throws Exception {
    try (PostgresStore one = open(directory)) {
      StoreVault.Shown before = one.vault().shown();
      try (BesideNodes beside = BesideNodes.open(new PostgresOptions(url))) {
        assertThatThrownBy(() -> beside.vault(KeyFile.in(directory)).rotate(Actor.SERVER, NOW))
            .isInstanceOf(KeysRefused.class);
        prepared(one);
        assertThat(beside.vault(KeyFile.in(directory)).shown().id()).isEqualTo(before.id());
        assertThat(beside.vault(KeyFile.in(directory)).shown().dataKeys()).isEqualTo(1);
        StoreVault.Rotated rotated =
            beside.vault(KeyFile.in(directory)).rotate(Actor.SERVER, NOW).orElseThrow();
        assertThat(rotated.from()).isEqualTo(before.id());
        assertThat(rotated.dataKeys()).isEqualTo(2);
        one.vault().renewIfBehind();
        assertThat(one.vault().shown().id()).isEqualTo(rotated.to());
        assertThat(one.vault().shown().dataKeys()).isEqualTo(2);
      }
    }
  }

  @Test
  void of_two_nodes_that_revoke_the_last_two_admin_keys_one_is_refused() throws Exception {
    try (PostgresStore one = open(directory);
        PostgresStore other = open(directory)) {
      List<ApiKey> keys =
          new ArrayList<>(
              List.of(
                  one.apiKeys().put("a", Role.ADMIN, null, hash(1), NOW),
                  one.apiKeys().put("b", Role.ADMIN, null, hash(2), NOW)));
      List<PostgresStore> nodes = new ArrayList<>(List.of(one, other));
      List<ApiKeys.Revoked> revoked =
          together(
              2,
              () -> {
                ApiKey key;
                PostgresStore node;
                synchronized (keys) {
                  key = keys.removeFirst();
                  node = nodes.removeFirst();
                }
                return node.apiKeys().revoke(key.id(), Actor.SERVER, NOW);
              });
      assertThat(revoked)
          .containsExactlyInAnyOrder(ApiKeys.Revoked.DONE, ApiKeys.Revoked.IS_LAST_ADMIN);
      assertThat(one.apiKeys().all()).hasSize(1);
    }
  }

  @Test
  void a_key_that_two_nodes_revoke_is_revoked_once() throws Exception {
    try (PostgresStore one = open(directory);
        PostgresStore other = open(directory)) {
      ApiKey key = one.apiKeys().put("ci", Role.PUBLISHER, null, hash(1), NOW);
      List<PostgresStore> nodes = new ArrayList<>(List.of(one, other));
      List<ApiKeys.Revoked> revoked =
          together(
              2,
              () -> {
                PostgresStore node;
                synchronized (nodes) {
                  node = nodes.removeFirst();
                }
                return node.apiKeys().revoke(key.id(), Actor.SERVER, NOW);
              });
      assertThat(revoked)
          .containsExactlyInAnyOrder(ApiKeys.Revoked.DONE, ApiKeys.Revoked.NOT_FOUND);
    }
  }
}
