package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.NewHeaders;
import dev.holdfast.core.model.Form.NewToken;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Interest.NewSubject;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.server.api.Problem.Kind;
import dev.holdfast.server.api.SubscriptionReader.Asked;
import dev.holdfast.server.api.SubscriptionReader.AskedImport;
import dev.holdfast.server.api.SubscriptionReader.Rotation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionReaderTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123456Z");
  private static final String LEAST_SECRET = secret(24);

  private static final String PAIR =
      "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";

  private final SubscriptionReader reader =
      new SubscriptionReader(
          url -> {
            if (url.contains("bad")) {
              throw new IllegalArgumentException("Choose a better URL.");
            }
            return url.toLowerCase(Locale.ROOT);
          },
          () -> NOW);

  private static String secret(int bytes) {
    return "whsec_" + Base64.getEncoder().encodeToString(new byte[bytes]);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private Asked read(String body) {
    return reader.read(bytes(body));
  }

  private Wish wish(String body) {
    return read(body).wish();
  }

  /** A subscription with these fields beside those that it needs. */
  private static String with(String fields) {
    return "{\"url\":\"u\",\"types\":[\"*\"]," + fields + "}";
  }

  private static Problem refused(String body, Function<byte[], Object> read) {
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> read.apply(bytes(body)));
    assertThat(refusal).as(body).isNotNull();
    assertThat(refusal.problem().kind().status).isEqualTo(400);
    return refusal.problem();
  }

  private Problem refused(String body) {
    return refused(body, reader::read);
  }

  @Test
  void a_subscription_has_a_url_types_and_perhaps_a_subject() {
    Wish wish =
        wish(
            """
            {"url":"HTTP://Example.com/","types":["order.*","order.*","user.created"],
             "subject":"s","format":"holdfast"}
            """);
    assertThat(wish.url()).isEqualTo("http://example.com/");
    assertThat(wish.interest().types())
        .containsExactly(new TypePattern("order.*"), new TypePattern("user.created"));
    assertThat(wish.interest().subject()).isEqualTo("s");
    assertThat(wish.interest().filters()).isEqualTo(Filters.NONE);
    assertThat(wish.form().format()).isEqualTo(Format.HOLDFAST);
  }

  @Test
  void everything_that_can_be_asked_for_is_read() {
    Asked asked =
        read(
            """
            {"url":"u","types":["*"],"filters":[{"fieldName":"a","fieldValue":1,"comparison":"eq"}],
             "filterConnector":"OR","format":"workfront","version":"v1","base64Encoding":true,
             "authToken":"t0ken!","headers":{"X-One":"1 2","authorization-like":"~"},
             "secret":"%s","rateLimit":2.5,"since":"2026-03-01T13:00:00+01:00"}
            """
                .formatted(LEAST_SECRET));
    Form form = asked.wish().form();
    assertThat(asked.wish().interest().filters().connector()).isEqualTo(Connector.OR);
    assertThat(asked.wish().interest().filters().json())
        .isEqualTo(
            "[{\"fieldName\":\"a\",\"fieldValue\":1,\"comparison\":\"eq\",\"state\":\"newState\"}]");
    assertThat(form.format()).isEqualTo(Format.WORKFRONT);
    assertThat(form.edition()).isEqualTo(new Form.Edition(Version.V1, null));
    assertThat(form.base64()).isTrue();
    assertThat(form.authToken()).isEqualTo("t0ken!");
    assertThat(form.headers()).isEqualTo(Map.of("X-One", "1 2", "authorization-like", "~"));
    assertThat(form.secrets()).hasSize(1);
    assertThat(form.secrets().getFirst().text()).isEqualTo(LEAST_SECRET);
    assertThat(form.secrets().getFirst().createdAt()).isEqualTo(NOW);
    assertThat(asked.wish().rateLimit()).isEqualTo(new RateLimit(2.5));
    assertThat(asked.since()).isEqualTo("2026-03-01T12:00:00Z");
    assertThat(asked.hasMadeSecret()).isFalse();
  }

  @Test
  void null_is_the_same_as_absent() {
    Asked asked =
        read(
            with(
                """
                "subject":null,"filters":null,"filterConnector":null,"format":null,
                "version":null,"base64Encoding":null,"authToken":null,"headers":null,"secret":null,
                "rateLimit":null,"since":null
                """));
    assertThat(asked.wish().interest().subject()).isNull();
    assertThat(asked.wish().interest().filters()).isEqualTo(Filters.NONE);
    assertThat(asked.wish().form().authToken()).isNull();
    assertThat(asked.wish().form().headers()).isEmpty();
    assertThat(asked.wish().form().format()).isEqualTo(Format.HOLDFAST);
    assertThat(asked.wish().form().edition()).isEqualTo(Form.Edition.NEWEST);
    assertThat(asked.wish().rateLimit()).isNull();
    assertThat(asked.since()).isNull();
    assertThat(asked.hasMadeSecret()).isTrue();
  }

  @Test
  void a_pair_of_keys_is_made_when_signatures_v1a_are_wanted() {
    Asked one = read(with("\"signature\":\"v1a\""));
    String made = one.wish().form().secrets().getFirst().text();
    assertThat(one.hasMadeSecret()).isTrue();
    assertThat(made).startsWith("whsk_").isEqualTo(Secrets.check(made, "secret"));
    assertThat(read(with("\"signature\":\"v1a\"")).wish().form().secrets().getFirst().text())
        .isNotEqualTo(made);
    for (String usual : List.of("\"v1\"", "null")) {
      assertThat(
              read(with("\"signature\":" + usual)).wish().form().secrets().getFirst().signature())
          .isEqualTo(Secret.Signature.V1);
    }
    assertThat(reader.readRotation(bytes("{\"signature\":\"v1a\"}")).secret().text())
        .startsWith("whsk_");
  }

  @Test
  void a_pair_of_keys_can_be_given() {
    for (String signature : List.of("", ",\"signature\":\"v1a\"", ",\"signature\":null")) {
      Asked asked = read(with("\"secret\":\"" + PAIR + "\"" + signature));
      assertThat(asked.hasMadeSecret()).isFalse();
      assertThat(asked.wish().form().secrets().getFirst().text()).isEqualTo(PAIR);
    }
  }

  @Test
  void what_is_no_pair_of_keys_is_refused_and_not_shown() {
    for (String none :
        List.of(
            PAIR.substring(0, PAIR.length() - 1),
            "whsk_AAAA",
            PAIR.replace("6Xb", "7Xb"),
            PAIR.replace("6Kvg==", "6Kvh=="),
            "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=")) {
      Problem problem = refused(with("\"secret\":\"" + none + "\""));
      assertThat(problem.field()).isEqualTo("secret");
      assertThat(problem.detail()).doesNotContain(none);
    }
  }

  @Test
  void a_secret_cannot_make_other_signatures_than_its_own() {
    assertThat(refused(with("\"secret\":\"" + PAIR + "\",\"signature\":\"v1\"")).field())
        .isEqualTo("signature");
    assertThat(refused(with("\"signature\":\"v1a\",\"secret\":\"" + LEAST_SECRET + "\"")).field())
        .isEqualTo("signature");
  }

  @Test
  void a_secret_of_32_bytes_is_made_when_there_is_none() {
    Asked one = read(with("\"format\":\"cloudevents\""));
    String made = one.wish().form().secrets().getFirst().text();
    assertThat(one.hasMadeSecret()).isTrue();
    assertThat(made).startsWith("whsec_").isEqualTo(Secrets.check(made, "secret"));
    assertThat(Base64.getDecoder().decode(made.substring(6))).hasSize(32);
    assertThat(read(with("\"format\":\"cloudevents\"")).wish().form().secrets().getFirst().text())
        .isNotEqualTo(made);
    assertThat(one.toString()).doesNotContain(made);
  }

  @Test
  void what_the_url_rules_say_is_passed_on() {
    Problem problem = refused("{\"url\":\"bad\",\"types\":[\"*\"]}");
    assertThat(problem.field()).isEqualTo("url");
    assertThat(problem.detail()).isEqualTo("Choose a better URL.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|url",
        "{\"url\":\"u\"}|types",
        "{\"types\":[\"*\"]}|url",
        "{\"url\":1,\"types\":[\"*\"]}|url",
        "{\"url\":null,\"types\":[\"*\"]}|url",
        "{\"url\":\"\",\"types\":[\"*\"]}|url",
        "{\"url\":\"u\\u0000\",\"types\":[\"*\"]}|url",
        "{\"url\":\"u\",\"types\":null}|types",
        "{\"url\":\"u\",\"types\":\"*\"}|types",
        "{\"url\":\"u\",\"types\":[]}|types",
        "{\"url\":\"u\",\"types\":[\"a\",7]}|types[1]",
        "{\"url\":\"u\",\"types\":[\"a\",[\"b\"]]}|types[1]",
        "{\"url\":\"u\",\"types\":[\"\"]}|types[0]",
        "{\"url\":\"u\",\"types\":[\"a\\nb\"]}|types[0]",
        "{\"url\":\"u\",\"types\":[null]}|types[0]",
        "{\"url\":\"u\",\"types\":[\"*\"],\"url\":\"v\"}|url",
        "{\"url\":\"u\",\"types\":[\"*\"],\"Url\":\"v\"}|Url",
        "{\"url\":\"u\",\"types\":[\"*\"],\"id\":\"v\"}|id",
        "{\"url\":\"u\",\"types\":[\"*\"],\"paused\":true}|paused",
      })
  void a_bad_field_is_refused_by_name(String body, String field) {
    assertThat(refused(body).field()).isEqualTo(field);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "subject":1                                              | subject
          "subject":""                                             | subject
          "filters":{}                                             | filters
          "filters":"a"                                            | filters
          "filters":[7]                                            | filters[0]
          "filters":[{"fieldName":"a","comparison":"eq"}]          | filters[0].fieldValue
          "filters":[{"fieldName":"a","comparison":"like"}]        | filters[0].comparison
          "filters":[{"fieldName":"a","comparison":"changed","x":1}] | filters[0].x
          "filterConnector":"XOR"                                  | filterConnector
          "filterConnector":"or"                                   | filterConnector
          "filterConnector":1                                      | filterConnector
          "format":"xml"                                           | format
          "format":"HOLDFAST"                                      | format
          "format":["workfront"]                                   | format
          "version":"v1"                                           | version
          "version":"v2"                                           | version
          "version":"v1","format":"cloudevents"                    | version
          "version":"v2","format":"cloudevents"                    | version
          "version":"v2","format":null                             | version
          "version":"v3","format":"workfront"                      | version
          "version":"V1","format":"workfront"                      | version
          "version":1,"format":"workfront"                         | version
          "base64Encoding":true                                    | base64Encoding
          "base64Encoding":true,"format":"cloudevents"             | base64Encoding
          "base64Encoding":"true","format":"workfront"             | base64Encoding
          "authToken":""                                           | authToken
          "authToken":7                                            | authToken
          "authToken":"two words"                                  | authToken
          "authToken":"caf\\u00e9"                                 | authToken
          "authToken":"a\\r\\nb"                                   | authToken
          "authToken":"****"                                       | authToken
          "authToken":"****oken"                                   | authToken
          "headers":[]                                             | headers
          "headers":"a: b"                                         | headers
          "headers":{"a":1}                                        | headers.a
          "headers":{"a":null}                                     | headers.a
          "headers":{"a":""}                                       | headers.a
          "headers":{"a":" b"}                                     | headers.a
          "headers":{"a":"b "}                                     | headers.a
          "headers":{"a":"b\\tc"}                                  | headers.a
          "headers":{"a":"b\\r\\nc: d"}                            | headers.a
          "headers":{"a":"b\\rc"}                                  | headers.a
          "headers":{"a":"b\\nc"}                                  | headers.a
          "headers":{"a":"b\\u0000c"}                              | headers.a
          "headers":{"a":"b\\u007fc"}                              | headers.a
          "headers":{"a\\u0000":"b"}                               | headers.a?
          "headers":{"a\\r\\nb":"c"}                               | headers.a??b
          "headers":{"a":"caf\\u00e9"}                             | headers.a
          "headers":{"a":"****"}                                   | headers.a
          "headers":{"":"b"}                                       | headers.
          "headers":{"a b":"b"}                                    | headers.a b
          "headers":{"a:":"b"}                                     | headers.a:
          "headers":{"caf\\u00e9":"b"}                             | headers.caf?
          "headers":{"X-A":"b","x-a":"c"}                          | headers.x-a
          "headers":{"X-A":"b","X-A":"c"}                          | headers.X-A
          "authToken":"t","headers":{"AUTHORIZATION":"b"}          | headers
          "rateLimit":0                                            | rateLimit
          "rateLimit":"5"                                          | rateLimit
          "secret":""                                              | secret
          "secret":7                                               | secret
          "secret":"whsec_"                                        | secret
          "secret":"whsec_not*base64"                              | secret
          "secret":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"              | secret
          "since":7                                                | since
          "since":"yesterday"                                      | since
          "since":"2026-03-01"                                     | since
          "since":"2026-03-01T12:00:00.124Z"                       | since
          """)
  void a_bad_value_is_refused_with_its_field(String fields, String field) {
    Problem problem = refused(with(fields));
    assertThat(problem.field()).isEqualTo(field == null ? "headers." : field);
    assertThat(problem.detail()).matches("(?s)\\S.* .*\\.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host",
        "content-length",
        "Content-Type",
        "Content-Encoding",
        "TRANSFER-ENCODING",
        "connection",
        "Keep-Alive",
        "Proxy-Authorization",
        "proxy-anything",
        "TE",
        "trailer",
        "Upgrade",
        "HTTP2-Settings",
        "Early-Data",
        "Expect",
        "User-Agent",
        "traceparent",
        "TraceState",
        "webhook-id",
        "Webhook-Signature",
      })
  void headers_that_say_how_a_message_is_sent_cannot_be_set(String name) {
    Problem problem = refused(with("\"headers\":{\"" + name + "\":\"x\"}"));
    assertThat(problem.kind()).isEqualTo(Kind.INVALID_FIELD);
    assertThat(problem.field()).isEqualTo("headers." + name);
  }

  @Test
  void an_authorization_of_its_own_can_be_set_without_a_token() {
    assertThat(wish(with("\"headers\":{\"Authorization\":\"Basic eA==\"}")).form().headers())
        .containsEntry("authorization", "Basic eA==");
  }

  @Test
  void there_are_limits_for_headers_token_and_secret() {
    String headers =
        IntStream.range(0, 20)
            .mapToObj(i -> "\"h" + i + "\":\"v\"")
            .collect(Collectors.joining(","));
    assertThat(wish(with("\"headers\":{" + headers + "}")).form().headers()).hasSize(20);
    assertThat(refused(with("\"headers\":{" + headers + ",\"x\":\"v\"}")).field())
        .isEqualTo("headers");
    String name = "n".repeat(100);
    String value = "v".repeat(1_000);
    wish(with("\"headers\":{\"" + name + "\":\"" + value + "\"}"));
    refused(with("\"headers\":{\"" + name + "n\":\"v\"}"));
    refused(with("\"headers\":{\"n\":\"" + value + "v\"}"));
    String token = "t".repeat(255);
    wish(with("\"authToken\":\"" + token + "\""));
    refused(with("\"authToken\":\"" + token + "t\""));
    for (int bytes : new int[] {24, 25, 26, 64}) {
      wish(with("\"secret\":\"" + secret(bytes) + "\""));
    }
    for (int bytes : new int[] {0, 23, 65}) {
      assertThat(refused(with("\"secret\":\"" + secret(bytes) + "\"")).field()).isEqualTo("secret");
    }
    refused(with("\"secret\":\"" + secret(25).replace("=", "") + "\""));
  }

  @Test
  void a_refusal_does_not_repeat_a_secret_token_or_header() {
    for (String fields :
        List.of(
            "\"secret\":\"whsec_PLANTED\"",
            "\"authToken\":\"PLANTED \"",
            "\"headers\":{\"a\":\"PLANTED \"}",
            "\"authToken\":PLANTED",
            "\"authToken\":'PLANTED'",
            "\"authToken\":\"PLANTED\nPLANTED\"",
            "\"authToken\":\"PLANTED\" PLANTED",
            "\"authToken\":truePLANTED",
            "\"secret\":whsec_PLANTED,",
            "\"headers\":{a:PLANTED}",
            "\"headers\":{\"a\" \"PLANTED\"}",
            "\"headers\":{\"a\":\"\\PLANTED\"}",
            "\"authToken\":\"PLANTED\",\"headers\":{\"Authorization\":\"PLANTED\"}")) {
      assertThat(refused(with(fields)).json().toString()).doesNotContain("PLANTED");
    }
  }

  @Test
  void filters_that_look_at_the_state_before_do_not_go_with_creations() {
    String filters = "\"filters\":[{\"fieldName\":\"a\",\"comparison\":\"changed\"}]";
    assertThat(refused("{\"url\":\"u\",\"types\":[\"TASK.CREATE\"]," + filters + "}").field())
        .isEqualTo("filters[0]");
    assertThat(wish("{\"url\":\"u\",\"types\":[\"TASK.*\"]," + filters + "}").interest().filters())
        .isNotEqualTo(Filters.NONE);
  }

  @Test
  void there_are_1_to_100_types() {
    String types =
        IntStream.range(0, 100).mapToObj(i -> "\"t" + i + "\"").collect(Collectors.joining(","));
    assertThat(wish("{\"url\":\"u\",\"types\":[" + types + "]}").interest().types()).hasSize(100);
    assertThat(refused("{\"url\":\"u\",\"types\":[" + types + ",\"more\"]}").field())
        .isEqualTo("types");
  }

  @Test
  void a_url_may_have_2048_characters() {
    String url = "u".repeat(2_048);
    assertThat(wish("{\"url\":\"" + url + "\",\"types\":[\"*\"]}").url()).isEqualTo(url);
    assertThat(refused("{\"url\":\"u" + url + "\",\"types\":[\"*\"]}").field()).isEqualTo("url");
  }

  // ---- changes

  private Patch patch(String body) {
    return reader.readPatch(bytes(body));
  }

  @Test
  void a_change_that_names_nothing_changes_nothing() {
    Patch patch = patch("{}");
    assertThat(patch)
        .isEqualTo(new Patch(null, Interest.Change.NOTHING, Form.Change.NOTHING, null, null));
  }

  @Test
  void null_in_a_change_takes_back_what_was_given() {
    Patch patch =
        patch(
            """
            {"subject":null,"filters":null,"filterConnector":null,"format":null,
             "base64Encoding":null,"authToken":null,"headers":null,"rateLimit":null}
            """);
    assertThat(patch.interest().subject()).isEqualTo(new NewSubject(null));
    assertThat(patch.interest().filters()).isEmpty();
    assertThat(patch.interest().connector()).isEqualTo(Connector.AND);
    assertThat(patch.form().format()).isEqualTo(Format.HOLDFAST);
    assertThat(patch.form().base64()).isFalse();
    assertThat(patch.form().authToken()).isEqualTo(new NewToken(null));
    assertThat(patch.form().headers()).isEqualTo(new NewHeaders(true, Map.of(), Set.of()));
    assertThat(patch.rateLimit()).isEqualTo(new NewRateLimit(null));
  }

  @Test
  void null_for_the_version_is_the_same_as_none() {
    assertThat(patch("{\"version\":null}")).isEqualTo(patch("{}"));
    assertThat(patch("{\"version\":\"v1\"}").form().version()).isEqualTo(Version.V1);
    for (String format : List.of("holdfast", "cloudevents", "workfront")) {
      String fields = "\"format\":\"" + format + "\"";
      for (String none : List.of("", ",\"version\":null")) {
        assertThat(wish(with(fields + none)).form().edition()).isEqualTo(Form.Edition.NEWEST);
      }
    }
  }

  @Test
  void headers_in_a_change_are_set_or_removed_one_by_one() {
    assertThat(patch("{\"headers\":{\"A\":\"1\",\"B\":null}}").form().headers())
        .isEqualTo(new NewHeaders(false, Map.of("A", "1"), Set.of("B")));
    assertThat(patch("{\"headers\":{}}").form().headers())
        .isEqualTo(new NewHeaders(false, Map.of(), Set.of()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"authToken\":\"****oken\"", "\"headers\":{\"A\":\"****\"}"})
  void only_a_change_is_told_that_it_keeps_a_masked_value_by_leaving_it_out(String masked) {
    String kept = "a change that leaves it out keeps it";
    assertThat(refused("{" + masked + "}", reader::readPatch).detail()).contains(kept);
    assertThat(refused(with(masked)).detail()).doesNotContain("keeps").endsWith("the value.");
    String imported = "{\"subscriptions\":[" + with(masked) + "]}";
    assertThat(refused(imported, reader::readImport).detail()).doesNotContain("keeps");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"secret":"whsec_x"}              | secret | rotate
          {"paused":true}                   | paused | pause
          {"since":"2026-01-01T00:00:00Z"}  | since  | POST /v1/subscriptions
          """)
  void what_is_changed_elsewhere_is_refused_with_where(String body, String field, String where) {
    Problem problem = refused(body, reader::readPatch);
    assertThat(problem.field()).isEqualTo(field);
    assertThat(problem.detail()).contains(where);
  }

  // ---- rotations

  private Rotation rotation(String body) {
    return reader.readRotation(bytes(body));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{}", "{\"secret\":null,\"oldValidFor\":null}"})
  void a_rotation_makes_a_secret_and_leaves_the_old_ones_a_day(String body) {
    Rotation rotation = rotation(body);
    assertThat(rotation.isMade()).isTrue();
    assertThat(rotation.secret().oldValidFor()).isEqualTo(Duration.ofHours(24));
    assertThat(rotation.secret().text()).startsWith("whsec_");
  }

  @ParameterizedTest
  @CsvSource({"0s,0", "0ms,0", "90m,5400", "720h,2592000", "30d,2592000"})
  void old_secrets_end_when_it_says(String text, long seconds) {
    Rotation rotation =
        rotation("{\"oldValidFor\":\"" + text + "\",\"secret\":\"" + LEAST_SECRET + "\"}");
    assertThat(rotation.secret().oldValidFor()).hasSeconds(seconds);
    assertThat(rotation.secret().text()).isEqualTo(LEAST_SECRET);
    assertThat(rotation.isMade()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"oldValidFor":"31d"}           | oldValidFor
          {"oldValidFor":"-1s"}           | oldValidFor
          {"oldValidFor":"999999999999d"} | oldValidFor
          {"oldValidFor":"a day"}         | oldValidFor
          {"oldValidFor":""}              | oldValidFor
          {"oldValidFor":5}               | oldValidFor
          {"secret":"whsec_x"}            | secret
          {"secret":{}}                   | secret
          {"url":"u"}                     | url
          """)
  void a_bad_rotation_is_refused_with_its_field(String body, String field) {
    assertThat(refused(body, reader::readRotation).field()).isEqualTo(field);
  }

  // ---- imports

  @Test
  void an_import_has_subscriptions_and_may_be_a_dry_run() {
    AskedImport asked =
        reader.readImport(
            bytes(
                "{\"dryRun\":true,\"subscriptions\":[%s,%s]}"
                    .formatted(
                        with("\"secret\":\"" + LEAST_SECRET + "\""), with("\"subject\":\"s\""))));
    assertThat(asked.dryRun()).isTrue();
    assertThat(asked.subscriptions()).extracting(Asked::hasMadeSecret).containsExactly(false, true);
    assertThat(reader.readImport(bytes("{\"subscriptions\":[]}")))
        .isEqualTo(new AskedImport(List.of(), false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                                     | subscriptions
          {"subscriptions":{}}                                   | subscriptions
          {"subscriptions":[7]}                                  | subscriptions[0]
          {"subscriptions":[{"types":["*"]}]}                    | subscriptions[0].url
          {"subscriptions":[{"url":"u","types":["*"]},{"url":"u","types":["*"],"since":null}]} | subscriptions[1].since
          {"subscriptions":[{"url":"u","types":["*"],"filters":[{"fieldName":"a","comparison":"?"}]}]} | subscriptions[0].filters[0].comparison
          {"subscriptions":[{"url":"u","types":["*"],"headers":{"host":"x"}}]} | subscriptions[0].headers.host
          {"subscriptions":[],"dryRun":"yes"}                    | dryRun
          {"subscriptions":[],"subscriptions":[]}                | subscriptions
          {"subscriptions":[],"tenant":"a"}                      | tenant
          """)
  void a_bad_import_is_refused_with_the_place(String body, String field) {
    assertThat(refused(body, reader::readImport).field()).isEqualTo(field);
  }

  @Test
  void an_import_has_at_most_10_000_subscriptions() {
    String one = "{\"url\":\"u\",\"types\":[\"*\"]}";
    String most = String.join(",", Collections.nCopies(10_000, one));
    assertThat(reader.readImport(bytes("{\"subscriptions\":[" + most + "]}")).subscriptions())
        .hasSize(10_000);
    assertThat(
            refused("{\"subscriptions\":[" + most + "," + one + "]}", reader::readImport).field())
        .isEqualTo("subscriptions");
  }

  @Test
  void one_subscription_of_an_import_has_at_most_256_kb() {
    String head = "{\"url\":\"u\",\"types\":[\"*\"]";
    String largest = head + " ".repeat((256 << 10) - head.length() - 1) + "}";
    assertThat(reader.readImport(bytes("{\"subscriptions\":[" + largest + "]}")).subscriptions())
        .hasSize(1);
    String padded = head + " ".repeat((256 << 10) - head.length()) + "}";
    Refusal refusal =
        catchThrowableOfType(
            Refusal.class, () -> reader.readImport(bytes("{\"subscriptions\":[" + padded + "]}")));
    assertThat(refusal.problem().kind()).isEqualTo(Kind.TOO_LARGE);
    assertThat(refusal.problem().field()).isEqualTo("subscriptions[0]");
  }
}
