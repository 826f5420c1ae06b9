package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.NewHeaders;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Form.NewToken;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.engine.store.ApiKey.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuditTest {
  private static final Actor ANN = new Actor(Actor.Kind.KEY, "key_1", "ann");
  private static final Actor BOB = new Actor(Actor.Kind.COMMAND_LINE, null, "bob");

  @TempDir Path directory;

  private final Sample sample = new Sample();

  private static Deed deed(Actor by, Deed.What what) {
    return new Deed(by, NOW, Sample.TENANT, what);
  }

  private static void write(SqliteStore store, Deed... deeds) throws StoreException {
    store.write(new Batch(List.of(), List.of(), List.of(deeds)));
  }

  private Deed retried(Actor by, String tenant) {
    return new Deed(by, NOW, tenant, new Deed.Retried(sample.id()));
  }

  private static Audit.Query query(@Nullable String chain) {
    return new Audit.Query(chain, null, null, null, null, null, Long.MAX_VALUE, 100);
  }

  private static List<Audit.Entry> entries(SqliteStore store) throws StoreException {
    return store.audit().find(query(null)).entries();
  }

  private static String only(SqliteStore store) throws StoreException {
    assertThat(entries(store)).hasSize(1);
    return entries(store).getFirst().json();
  }

  private String told(Deed.What what) throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      write(store, deed(ANN, what));
      return only(store);
    }
  }

  private static Subscription secretive(Endpoint endpoint, long id) {
    TreeMap<String, String> headers = new TreeMap<>(Map.of("X-Key", "a header to be kept secret"));
    return new Subscription(
        id,
        Sample.TENANT,
        endpoint.id(),
        new Interest(List.of(new TypePattern("order.*")), null, Filters.NONE),
        new Form(
            Format.HOLDFAST,
            false,
            "a token to be kept secret",
            headers,
            List.of(new Secret("whsec_c2VjcmV0c2VjcmV0", NOW, null))),
        NOW);
  }

  @Test
  void an_entry_says_who_did_what_to_what_and_when() throws Exception {
    long message = sample.id();
    assertThat(told(new Deed.Retried(message)))
        .isEqualTo(
            "{\"chain\":\"default\",\"number\":1,\"at\":\"2026-03-01T12:00:00.123456Z\","
                + "\"action\":\"message.retried\",\"target\":\""
                + Id.text(Id.MESSAGE, message)
                + "\",\"actor\":{\"kind\":\"key\",\"id\":\"key_1\",\"name\":\"ann\"},"
                + "\"before\":null,\"after\":null}");
  }

  @Test
  void what_only_the_receiver_should_know_is_masked() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/in?code=very-secret-code");
    assertThat(told(new Deed.Subscribed(secretive(endpoint, sample.id()), endpoint, null)))
        .contains("\"action\":\"subscription.created\"", "?code=****\"", "****cret")
        .contains(
            "\"secrets\":[{\"signature\":\"v1\",\"createdAt\":\"2026-03-01T12:00:00.123456Z\"")
        .doesNotContain("very-secret", "to be kept", "c2VjcmV0");
  }

  @Test
  void a_change_tells_only_what_has_changed() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription before = secretive(endpoint, sample.id());
    Form.Change change =
        new Form.Change(
            Format.CLOUDEVENTS,
            null,
            null,
            new NewToken("another token to be kept secret"),
            new NewHeaders(false, Map.of("X-Key", "another to be kept secret"), Set.of()),
            null);
    Subscription after =
        before.with(before.interest(), change.applyTo(before.form(), NOW), NOW.plusSeconds(1));
    assertThat(told(new Deed.Updated(before, endpoint, after, endpoint)))
        .contains("\"action\":\"subscription.changed\"")
        .endsWith(
            "\"before\":{\"format\":\"holdfast\",\"authToken\":\"****cret\","
                + "\"headers\":{\"X-Key\":\"****cret\"}},"
                + "\"after\":{\"format\":\"cloudevents\",\"authToken\":\"****cret\","
                + "\"headers\":{\"X-Key\":\"****cret\"}}}");
  }

  @Test
  void pausing_resuming_and_a_new_secret_have_names_of_their_own() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription running = secretive(endpoint, sample.id());
    Subscription paused =
        new Subscription(
            running.id(),
            running.tenant(),
            running.endpoint(),
            null,
            running.interest(),
            running.form(),
            NOW,
            NOW,
            true,
            Set.of());
    Form rotated =
        Form.Change.to(new NewSecret("whsec_YW5vdGhlcg==", Duration.ofHours(1)))
            .applyTo(running.form(), NOW);
    Subscription signed = running.with(running.interest(), rotated, NOW);
    try (SqliteStore store = SqliteStore.open(directory)) {
      write(
          store,
          deed(ANN, new Deed.Updated(running, endpoint, paused, endpoint)),
          deed(ANN, new Deed.Updated(paused, endpoint, running, endpoint)),
          deed(ANN, new Deed.Updated(running, endpoint, signed, endpoint)));
      assertThat(entries(store).reversed().stream().map(entry -> word(entry.json(), "action")))
          .containsExactly(
              "subscription.paused", "subscription.resumed", "subscription.secret-rotated");
    }
  }

  private static String word(String json, String name) {
    int from = json.indexOf("\"" + name + "\":\"") + name.length() + 4;
    return json.substring(from, json.indexOf('"', from));
  }

  private static final String CERTIFICATE =
      """
      -----BEGIN CERTIFICATE-----
      MIIBQjCB9aADAgECAhQzJbZA4yofHciFIs45yk8FLdDl7jAFBgMrZXAwFjEUMBIG
      A1UEAwwLb25lLmV4YW1wbGUwIBcNMjYxMTE2MDkyNDIyWhgPMjEyNjEwMjMwOTI0
      MjJaMBYxFDASBgNVBAMMC29uZS5leGFtcGxlMCowBQYDK2VwAyEArDo4n+51rA1x
      zLTMCfKu+ox16+GkVA1do+g0mTZ8w7+jUzBRMB0GA1UdDgQWBBR7yCP2Yopmg3Eg
      bjuz/dL8YuPReTAfBgNVHSMEGDAWgBR7yCP2Yopmg3Egbjuz/dL8YuPReTAPBgNV
      HRMBAf8EBTADAQH/MAUGAytlcANBAFn8kYxzdL9Ao79xFYqBkhscoKVHxpwazsLQ
      erNv06hRW0daPh2IW6LDSbaia7/rX1peJKS1lz7AxptYmlvDMQc=
      -----END CERTIFICATE-----
      """;

  /** What openssl says of it. */
  private static final String FINGERPRINT =
      "8695f980eca3c416cd9db1cfe91b575a9df57607e96dab801ea65bc2b2a0ece6";

  @Test
  void what_is_set_about_an_endpoint_is_told_without_its_key() throws Exception {
    Endpoint before = sample.endpoint("https://one.example/");
    Endpoint after =
        before
            .withRateLimit(new RateLimit(5))
            .withTls(new EndpointTls(CERTIFICATE, "our private key", CERTIFICATE + CERTIFICATE));
    assertThat(told(new Deed.Configured(before, after)))
        .contains("\"action\":\"endpoint.changed\"", "\"before\":{\"rateLimit\":null,\"tls\":null}")
        .contains(
            "\"rateLimit\":5.0",
            "\"certificates\":[\"%1$s\"],\"roots\":[\"%1$s\",\"%1$s\"]".formatted(FINGERPRINT))
        .doesNotContain("private", Facts.sha256("our private key"));
  }

  @Test
  void another_private_key_shows_though_nothing_of_it_is_told() throws Exception {
    Endpoint before =
        sample.endpoint("https://one.example/").withTls(new EndpointTls("one", "key", null));
    Endpoint after = before.withTls(new EndpointTls("one", "other", null));
    assertThat(told(new Deed.Configured(before, after))).contains("\"before\":{\"tls\":{");
  }

  @Test
  void a_state_set_by_hand_and_replays_are_told() throws Exception {
    Endpoint before = sample.endpoint("https://one.example/");
    Health frozen =
        new Health(
            Health.State.FROZEN,
            NOW,
            Health.Reason.OPERATOR,
            NOW,
            0,
            0,
            Health.Bucket.EMPTY,
            Health.Bucket.EMPTY,
            0,
            null,
            null);
    Replay replay =
        Replay.of(
            sample.id(),
            Sample.TENANT,
            new Replay.Selection(
                before.id(), null, Set.of(Replay.Ending.DROPPED), NOW, null, true));
    try (SqliteStore store = SqliteStore.open(directory)) {
      write(
          store,
          deed(ANN, new Deed.Operated(before, before.with(frozen))),
          deed(ANN, new Deed.Replayed(replay)),
          deed(ANN, new Deed.Cancelled(replay)),
          deed(ANN, new Deed.Unsubscribed(secretive(before, sample.id()), before)));
      List<Audit.Entry> all = entries(store).reversed();
      assertThat(all.stream().map(entry -> word(entry.json(), "action")))
          .containsExactly(
              "endpoint.frozen", "replay.started", "replay.cancelled", "subscription.deleted");
      assertThat(all.getFirst().json())
          .contains("\"state\":\"enabled\"", "\"state\":\"frozen\",\"reason\":\"operator\"");
      assertThat(all.get(1).json()).contains("\"status\":[\"dropped\"]", "\"again\":true");
      assertThat(all.getLast().json()).endsWith("\"after\":null}");
    }
  }

  @Test
  void a_long_value_is_told_by_its_hash() {
    String json = "\"" + "x".repeat(Facts.LONGEST_VALUE) + "\"";
    assertThat(new Facts().json("filters", json).json())
        .isEqualTo(
            "{\"filters\":{\"sha256\":\"%s\",\"length\":%d}}"
                .formatted(Facts.sha256(json), json.length()));
  }

  @Test
  void a_text_that_is_no_character_is_escaped() {
    assertThat(Facts.quoted("a\"\\\n\ud800é😀")).isEqualTo("\"a\\\"\\\\\\u000a\\ud800é😀\"");
  }

  @Test
  void each_tenant_has_a_chain_of_its_own_which_anybody_can_follow() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      write(store, retried(ANN, "one"), retried(ANN, "two"), retried(BOB, "one"));
    }
    try (SqliteStore store = SqliteStore.open(directory)) {
      write(store, retried(ANN, "one"));
      store.audit().append(new Act(Actor.SERVER, NOW, null, "server.started", null, null, null));
      assertThat(numbers(store.audit().find(query("one")).entries())).containsExactly(3L, 2L, 1L);
      assertThat(numbers(store.audit().find(query("two")).entries())).containsExactly(1L);
      assertThat(numbers(store.audit().find(query("")).entries())).containsExactly(1L);
      byte[] previous = new byte[32];
      for (Audit.Entry entry : store.audit().find(query("one")).entries().reversed()) {
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        sha256.update(previous);
        assertThat(entry.previous()).isEqualTo(HexFormat.of().formatHex(previous));
        previous = sha256.digest(entry.json().getBytes(StandardCharsets.UTF_8));
        assertThat(entry.hash()).isEqualTo(HexFormat.of().formatHex(previous));
      }
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  private static List<Long> numbers(List<Audit.Entry> entries) {
    List<Long> numbers = new ArrayList<>();
    for (Audit.Entry entry : entries) {
      String json = entry.json();
      int from = json.indexOf("\"number\":") + 9;
      numbers.add(Long.parseLong(json.substring(from, json.indexOf(',', from))));
    }
    return numbers;
  }

  @Test
  void a_batch_that_is_refused_leaves_no_entry_and_no_gap() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription absent = sample.subscription(endpoint, "order");
    try (SqliteStore store = SqliteStore.open(directory)) {
      write(store, retried(ANN, "one"));
      assertThatThrownBy(
              () ->
                  store.write(
                      new Batch(
                          List.of(new Write.Update(absent, null)),
                          List.of(),
                          List.of(retried(BOB, "one")))))
          .isInstanceOf(StoreException.class);
      write(store, retried(ANN, "one"));
      assertThat(numbers(entries(store))).containsExactly(2L, 1L);
      assertThat(entries(store)).noneMatch(entry -> entry.json().contains("bob"));
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
  }

  @Test
  void keys_are_made_and_revoked_in_somebodys_name() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      ApiKey wide = store.apiKeys().put("ops", Role.ADMIN, null, new byte[32], NOW, null, BOB);
      ApiKey own = store.apiKeys().put("shop", Role.VIEWER, "acme", filled(1), NOW, null, ANN);
      store.apiKeys().delete(own.id(), ANN, NOW);
      store.apiKeys().delete(own.id(), ANN, NOW);
      assertThat(store.audit().find(query("")).entries()).hasSize(1);
      assertThat(store.audit().find(query("")).entries().getFirst().json())
          .contains("\"action\":\"key.created\"", Id.text("key", wide.id()))
          .contains("\"actor\":{\"kind\":\"command-line\",\"id\":null,\"name\":\"bob\"}")
          .contains(
              "\"after\":{\"name\":\"ops\",\"role\":\"admin\",\"tenant\":null,\"expiresAt\":null}");
      List<Audit.Entry> ofTenant = store.audit().find(query("acme")).entries();
      assertThat(ofTenant.stream().map(entry -> word(entry.json(), "action")))
          .containsExactly("key.revoked", "key.created");
    }
  }

  private static byte[] filled(int value) {
    byte[] bytes = new byte[32];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  @Test
  void entries_are_found_by_what_they_are_about() throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      Deed first = retried(ANN, "one");
      String target = Id.text(Id.MESSAGE, ((Deed.Retried) first.what()).message());
      write(store, first, retried(BOB, "one"), retried(BOB, "two"));
      store
          .audit()
          .append(new Act(BOB, NOW.plusSeconds(9), "one", "key.created", "key_2", null, null));
      Audit.Query all = query("one");
      assertThat(found(store, "one", null, null, target, null)).containsExactly(1L);
      assertThat(found(store, null, null, null, target, null)).containsExactly(1L);
      assertThat(found(store, "two", null, null, target, null)).isEmpty();
      assertThat(found(store, "one", null, null, null, "bob")).containsExactly(3L, 2L);
      assertThat(found(store, "one", null, null, null, "key_1")).containsExactly(1L);
      assertThat(found(store, "one", null, "key.created", null, null)).containsExactly(3L);
      assertThat(
              numbers(
                  store
                      .audit()
                      .find(
                          new Audit.Query(
                              "one", NOW, NOW.plusSeconds(9), null, null, null, all.before(), 9))
                      .entries()))
          .containsExactly(2L, 1L);
    }
  }

  private static List<Long> found(
      SqliteStore store,
      @Nullable String chain,
      @Nullable Instant since,
      @Nullable String action,
      @Nullable String target,
      @Nullable String actor)
      throws StoreException {
    return numbers(
        store
            .audit()
            .find(new Audit.Query(chain, since, null, action, target, actor, Long.MAX_VALUE, 100))
            .entries());
  }

  @ParameterizedTest
  @CsvSource({"one,3", "one,100", ",3"})
  void pages_follow_each_other_and_look_at_a_limited_number_of_rows(
      @Nullable String chain, int limit) throws Exception {
    StoreLimits limits =
        new StoreLimits(100, Duration.ofSeconds(5), 1, 4, Duration.ofMillis(50), 1 << 20, 1 << 21);
    try (SqliteStore store = SqliteStore.open(directory, limits)) {
      for (int i = 0; i < 10; i++) {
        write(store, retried(i % 2 == 0 ? ANN : BOB, "one"));
      }
      List<Long> found = new ArrayList<>();
      Long before = Long.MAX_VALUE;
      int pages = 0;
      while (before != null) {
        Audit.Found page =
            store
                .audit()
                .find(new Audit.Query(chain, null, null, null, null, "bob", before, limit));
        found.addAll(numbers(page.entries()));
        before = page.next();
        pages++;
      }
      assertThat(found).containsExactly(10L, 8L, 6L, 4L, 2L);
      assertThat(pages).isGreaterThanOrEqualTo(3);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UPDATE audit SET entry = replace(entry, 'ann', 'bob') WHERE number = 3 | entry 3 was changed",
        "UPDATE audit SET actor = 'bob' WHERE number = 3 | entry 3 was changed",
        "UPDATE audit SET at = at + 1 WHERE number = 3 | entry 3 was changed",
        "UPDATE audit SET hash = zeroblob(32) WHERE number = 3 | entry 3 was changed",
        "UPDATE audit SET previous = zeroblob(32) WHERE number = 3 | entry 3 does not follow",
        "DELETE FROM audit WHERE number = 3 | entry 3 is missing",
        "DELETE FROM audit WHERE number = 1 | entry 1 is missing",
        "DELETE FROM audit WHERE chain = 'one' AND number = 5 | nothing right behind row 4",
        "UPDATE audit SET entry = (SELECT entry FROM audit AS other WHERE other.chain = 'one'"
            + " AND other.number = 5 - audit.number) WHERE chain = 'one' AND number IN (2, 3)"
            + " | entry 2 was changed",
        "UPDATE audit SET chain = 'three' WHERE chain = 'one' | entry 1 was changed",
        "INSERT INTO audit (chain, number, at, action, actor, target, entry, previous, hash)"
            + " SELECT chain, 6, at, action, actor, target, entry, hash, hash FROM audit"
            + " WHERE chain = 'one' AND number = 5 | entry 6 was changed"
      })
  void a_change_of_the_log_is_found(String change, String finding) throws Exception {
    try (SqliteStore store = SqliteStore.open(directory)) {
      for (int i = 0; i < 5; i++) {
        write(store, retried(ANN, "one"));
      }
      write(store, retried(BOB, "two"));
    }
    assertThat(StoreCheck.run(directory).problems()).isEmpty();
    tamper(change);
    assertThat(StoreCheck.run(directory).problems())
        .isNotEmpty()
        .first()
        .asString()
        .contains(finding);
  }

  private void tamper(String change) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + StoreFile.path(directory));
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(change);
    }
  }
}
