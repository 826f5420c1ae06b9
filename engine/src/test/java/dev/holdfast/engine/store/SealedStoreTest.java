package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.after;
import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store has sealed: nobody finds it in its files, and only its master key opens it. */
final class SealedStoreTest {
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);

  /** A part of everything that is sealed, by which it would be found. */
  private static final String CANARY = "canary";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path elsewhere;

  private final Sample sample = new Sample();

  private final Endpoint endpoint =
      sample
          .endpoint("https://one.example/?token=canary")
          .withTls(new EndpointTls("canary certificate", "canary key", "canary roots"));

  private final Subscription subscription = subscription("token-canary");

  private Subscription subscription(String token) {
    Subscription plain = sample.subscription(endpoint, "order.*");
    return new Subscription(
        plain.id(),
        plain.tenant(),
        plain.endpoint(),
        "https://ONE.example?token=canary",
        plain.interest(),
        new Form(
            Form.Format.HOLDFAST,
            false,
            token,
            new TreeMap<>(Map.of("X-Canary", "canary")),
            List.of(new Secret("whsec_canary", NOW, null), new Secret("canary", NOW, after(3)))),
        plain.createdAt(),
        plain.changedAt(),
        false,
        Set.of());
  }

  private KeyFile keyFile = new KeyFile(Path.of(""));

  @BeforeEach
  void writeSomething() throws Exception {
    keyFile = KeyFile.in(directory);
    try (SqliteStore store = open()) {
      store.write(batch(new Write.Subscribe(subscription, endpoint)));
    }
  }

  private SqliteStore open() throws StoreRefused {
    return open(keyFile);
  }

  private SqliteStore open(MasterKeySource keys) throws StoreRefused {
    return SqliteStore.open(directory, keys, CLOCK);
  }

  private static MasterKeySource given(byte first, byte... more) {
    Stream.Builder<MasterKey> keys = Stream.builder();
    keys.add(key(first));
    for (byte one : more) {
      keys.add(key(one));
    }
    return new MasterKeySource.Given(keys.build().toList(), "HOLDFAST_SECRETS_KEY");
  }

  private static MasterKey key(byte filling) {
    byte[] bytes = new byte[32];
    java.util.Arrays.fill(bytes, filling);
    return MasterKey.parse(Base64.getEncoder().encodeToString(bytes)).orElseThrow();
  }

  private void assertIntact(SqliteStore store) throws StoreException {
    Snapshot snapshot = store.snapshot();
    assertThat(snapshot.endpoints()).containsExactly(endpoint);
    assertThat(snapshot.subscriptions()).containsExactly(subscription);
  }

  private static boolean isFound(Path directory, String text) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (Files.readString(file, StandardCharsets.ISO_8859_1).contains(text)) {
          return true;
        }
      }
    }
    return false;
  }

  private void copyTo(Path target) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.copy(file, target.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  @Test
  void nothing_that_is_sealed_is_in_its_files() throws Exception {
    try (SqliteStore store = open()) {
      assertIntact(store);
      store.write(batch(new Write.Update(subscription.settledAt(1), null)));
      store.write(
          new Batch(List.of(new Write.Configure(endpoint.id())), List.of(endpoint.withTls(null))));
      copyTo(elsewhere);
    }
    assertThat(isFound(elsewhere, "order.*")).as("what is not sealed is found").isTrue();
    assertThat(isFound(elsewhere, CANARY)).as("with its log").isFalse();
    assertThat(isFound(directory, CANARY)).as("closed").isFalse();
  }

  @Test
  void counts_of_an_endpoint_are_kept_without_sealing() throws Exception {
    byte[] before = sealedEndpoint();
    try (SqliteStore store = open()) {
      store.write(new Batch(List.of(), List.of(endpoint.withGoneAt(after(9)))));
      assertThat(store.snapshot().endpoints()).containsExactly(endpoint.withGoneAt(after(9)));
    }
    assertThat(sealedEndpoint()).isEqualTo(before);
    try (SqliteStore store = open()) {
      store.write(
          new Batch(List.of(new Write.Configure(endpoint.id())), List.of(endpoint.withTls(null))));
      assertThat(store.snapshot().endpoints()).containsExactly(endpoint.withTls(null));
    }
    assertThat(sealedEndpoint()).isNotEqualTo(before);
  }

  private byte[] sealedEndpoint() throws Exception {
    try (Connection connection = Sqlite.reader(StoreFile.path(directory));
        var statement = connection.createStatement();
        var row = statement.executeQuery("SELECT sealed FROM endpoints")) {
      assertThat(row.next()).isTrue();
      return row.getBytes(1);
    }
  }

  @Test
  void a_url_is_known_only_once_for_a_tenant() throws Exception {
    Endpoint again = sample.endpoint(endpoint.url());
    try (SqliteStore store = open()) {
      Batch twice = batch(new Write.Subscribe(sample.subscription(again, "t"), again));
      assertThatThrownBy(() -> store.write(twice))
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.REFUSED));
    }
  }

  @Test
  void without_its_key_it_is_refused_untouched() throws Exception {
    String id = keyFile.read().orElseThrow().current().id();
    Path kept = elsewhere.resolve("kept");
    Files.move(keyFile.path(), kept);
    byte[] before = Files.readAllBytes(StoreFile.path(directory));
    assertThatThrownBy(() -> open().close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContainingAll(
            id, keyFile.path() + " is not there", "secrets.key-file", "Nothing in the directory");
    assertThat(keyFile.path()).doesNotExist();
    assertThatThrownBy(() -> open(given((byte) 1, (byte) 2)).close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContainingAll(id, "HOLDFAST_SECRETS_KEY has the keys", key((byte) 1).id());
    assertThat(Files.readAllBytes(StoreFile.path(directory))).isEqualTo(before);
    try (SqliteStore store = open(new KeyFile(kept))) {
      assertIntact(store);
    }
  }

  @Test
  void a_key_file_that_is_none_is_refused_before_a_store_is_made() throws Exception {
    Path fresh = elsewhere.resolve("fresh");
    Files.createDirectory(fresh);
    Files.writeString(fresh.resolve(KeyFile.NAME), "no key");
    assertThatThrownBy(() -> SqliteStore.open(fresh).close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContaining("is not a key file");
    assertThat(fresh.toFile().list()).containsExactly(KeyFile.NAME);
  }

  @Test
  void the_keys_of_the_api_need_no_master_key() throws Exception {
    Files.delete(keyFile.path());
    try (SqliteStore store = SqliteStore.openSealed(directory)) {
      assertThat(store.apiKeys().isEmpty()).isTrue();
      assertThatThrownBy(store::snapshot).hasMessageContaining("without a master key");
      Batch update = batch(new Write.Update(subscription, null));
      assertThatThrownBy(() -> store.write(update)).hasMessageContaining("without a master key");
    }
    assertThat(keyFile.path()).doesNotExist();
  }

  @Test
  void keys_that_are_set_are_changed_by_a_start_with_both() throws Exception {
    Path other = elsewhere.resolve("store");
    for (MasterKeySource keys :
        List.of(given((byte) 1), given((byte) 2, (byte) 1), given((byte) 2))) {
      try (SqliteStore store = SqliteStore.open(other, keys, CLOCK)) {
        if (store.snapshot().endpoints().isEmpty()) {
          store.write(batch(new Write.Subscribe(subscription, endpoint)));
        }
        assertIntact(store);
        assertThat(store.vault().rotate(Actor.PROGRAM, NOW)).as("only a start can").isEmpty();
      }
    }
    assertThatThrownBy(() -> SqliteStore.open(other, given((byte) 1), CLOCK).close())
        .hasMessageContaining(key((byte) 2).id());
    assertThat(other.resolve(KeyFile.NAME)).doesNotExist();
  }

  @Test
  void a_key_is_changed_while_the_store_is_in_use() throws Exception {
    Subscription later = subscription("token-later");
    byte[] oldKeys = Files.readAllBytes(keyFile.path());
    try (SqliteStore store = open()) {
      String before = store.vault().shown().id();
      StoreVault.Rotated rotated = store.vault().rotate(Actor.PROGRAM, after(60)).orElseThrow();
      assertThat(rotated.from()).isEqualTo(before);
      assertThat(rotated.dataKeys()).isEqualTo(2);
      assertThat(store.vault().shown())
          .isEqualTo(new StoreVault.Shown(rotated.to(), after(60), 2, keyFile.path().toString()));
      assertIntact(store);
      store.write(batch(new Write.Subscribe(later, null)));
      assertThat(store.snapshot().subscriptions()).containsExactlyInAnyOrder(subscription, later);
    }
    assertThat(keyFile.read().orElseThrow().all()).hasSize(1);
    try (SqliteStore store = open()) {
      assertThat(store.snapshot().subscriptions()).containsExactlyInAnyOrder(subscription, later);
    }
    Files.write(keyFile.path(), oldKeys);
    assertThatThrownBy(() -> open().close()).hasMessageContaining("was not found");
  }

  @Test
  void a_change_that_ends_after_any_step_leaves_a_store_that_opens() throws Exception {
    MasterKey before = keyFile.read().orElseThrow().current();
    MasterKey next = keyFile.begin(before).current();
    copyTo(elsewhere);
    try (SqliteStore store = open()) {
      assertIntact(store);
      assertThat(store.vault().shown().id()).as("it goes on with it").isEqualTo(next.id());
    }
    try (SqliteStore store =
        SqliteStore.open(elsewhere, new KeyFile(elsewhere.resolve(KeyFile.NAME)), CLOCK)) {
      assertIntact(store);
    }
    assertThat(keyFile.read().orElseThrow().all()).containsExactly(next, before);
    try (SqliteStore store = open()) {
      assertIntact(store);
      store.vault().rotate(Actor.PROGRAM, after(1));
    }
    assertThat(keyFile.read().orElseThrow().all())
        .as("only the one that was in use goes")
        .hasSize(2)
        .endsWith(before)
        .doesNotContain(next);
    try (SqliteStore store = open()) {
      assertIntact(store);
    }
  }

  @Test
  void a_change_that_cannot_be_written_leaves_the_old_key_in_use() throws Exception {
    try (SqliteStore store = open()) {
      String before = store.vault().shown().id();
      store
          .writer()
          .breakDown(new StoreException(StoreException.Kind.BROKEN, "broken", new Exception()));
      assertThatThrownBy(() -> store.vault().rotate(Actor.PROGRAM, after(1)))
          .isInstanceOf(StoreException.class);
      assertThat(store.vault().shown().id()).isEqualTo(before);
      assertIntact(store);
    }
    assertThat(keyFile.read().orElseThrow().all()).hasSize(2);
    try (SqliteStore store = open()) {
      assertIntact(store);
    }
  }

  @Test
  void what_belongs_to_another_row_is_told_as_damage() throws Exception {
    Subscription other = subscription("token-other");
    try (SqliteStore store = open()) {
      store.write(batch(new Write.Subscribe(other, null)));
    }
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sqlite.execute(
          connection,
          "UPDATE subscriptions SET sealed = (SELECT sealed FROM subscriptions WHERE id = %d) WHERE id = %d"
              .formatted(subscription.id(), other.id()));
    }
    try (SqliteStore store = open()) {
      assertThatThrownBy(store::snapshot)
          .hasMessageContaining("row " + other.id() + " of subscriptions cannot be opened");
    }
    assertThat(StoreCheck.run(directory).problems())
        .containsExactly(
            "what is sealed in row " + other.id() + " of subscriptions cannot be opened");
  }

  @Test
  void keys_that_are_missing_are_told_as_damage_and_not_made_anew() throws Exception {
    try (Connection connection = Sqlite.writer(StoreFile.path(directory), 0)) {
      Sqlite.execute(connection, "DELETE FROM data_keys");
    }
    assertThatThrownBy(() -> open().close())
        .isInstanceOf(StoreRefused.class)
        .hasMessageContainingAll("damaged", "keys that values are sealed with are missing");
  }

  @Test
  void a_check_says_when_it_has_no_key() throws Exception {
    assertThat(StoreCheck.run(directory).unopened()).isNull();
    String id = keyFile.read().orElseThrow().current().id();
    Files.delete(keyFile.path());
    StoreCheck.Result result = StoreCheck.run(directory);
    assertThat(result.problems()).isEmpty();
    assertThat(result.unopened()).isEqualTo(id);
  }

  @Test
  void a_backup_does_not_have_the_key_and_says_which_it_needs() throws Exception {
    Path backup = elsewhere.resolve("backup.db");
    StoreBackup.Observer nobody =
        new StoreBackup.Observer() {
          @Override
          public void copied(long bytes, long ofAbout) {}

          @Override
          public void checking() {}
        };
    String id = keyFile.read().orElseThrow().current().id();
    assertThat(StoreBackup.backup(directory, backup, false, nobody).masterKey()).isEqualTo(id);
    Path restored = elsewhere.resolve("restored");
    assertThat(StoreBackup.restore(backup, restored, nobody).masterKey()).isEqualTo(id);
    assertThat(Optional.ofNullable(restored.toFile().list()).orElseThrow())
        .doesNotContain(KeyFile.NAME);
    assertThatThrownBy(() -> SqliteStore.open(restored).close()).hasMessageContaining(id);
    Files.copy(keyFile.path(), restored.resolve(KeyFile.NAME));
    try (SqliteStore store = SqliteStore.open(restored)) {
      assertIntact(store);
    }
  }
}
