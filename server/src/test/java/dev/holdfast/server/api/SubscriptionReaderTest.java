package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.core.model.TypePattern;
import dev.holdfast.server.api.Problem.Kind;
import dev.holdfast.server.api.SubscriptionReader.Wish;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionReaderTest {
  private final SubscriptionReader reader =
      new SubscriptionReader(
          url -> {
            if (url.contains("bad")) {
              throw new IllegalArgumentException("Choose a better URL.");
            }
            return url.toLowerCase(Locale.ROOT);
          });

  private Wish read(String body) {
    return reader.read(body.getBytes(StandardCharsets.UTF_8));
  }

  private Problem refused(String body) {
    Refusal refusal = catchThrowableOfType(Refusal.class, () -> read(body));
    assertThat(refusal).as(body).isNotNull();
    assertThat(refusal.problem().kind().status).isEqualTo(400);
    return refusal.problem();
  }

  @Test
  void a_subscription_has_a_url_types_and_perhaps_a_subject() {
    Wish wish =
        read(
            """
            {"url":"HTTP://Example.com/","types":["order.*","order.*","user.created"],
             "subject":"s","format":"holdfast"}
            """);
    assertThat(wish.url()).isEqualTo("http://example.com/");
    assertThat(wish.types())
        .containsExactly(new TypePattern("order.*"), new TypePattern("user.created"));
    assertThat(wish.subject()).isEqualTo("s");
    assertThat(read("{\"types\":[\"*\"],\"url\":\"u\",\"subject\":null}").subject()).isNull();
  }

  @Test
  void what_the_url_rules_say_is_passed_on() {
    Problem problem = refused("{\"url\":\"bad\",\"types\":[\"*\"]}");
    assertThat(problem.field()).isEqualTo("url");
    assertThat(problem.detail()).isEqualTo("Choose a better URL.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"filters", "filterConnector", "authToken", "headers", "secret"})
  void what_comes_later_is_refused_with_a_word_about_it(String field) {
    Problem problem = refused("{\"url\":\"u\",\"types\":[\"*\"],\"" + field + "\":[]}");
    assertThat(problem.kind()).isEqualTo(Kind.LATER_VERSION);
    assertThat(problem.field()).isEqualTo(field);
    assertThat(problem.detail()).contains("later version");
  }

  @Test
  void a_format_of_later_is_told_from_one_that_never_comes() {
    String body = "{\"url\":\"u\",\"types\":[\"*\"],\"format\":\"%s\"}";
    assertThat(refused(body.formatted("cloudevents")).kind()).isEqualTo(Kind.LATER_VERSION);
    assertThat(refused(body.formatted("workfront")).kind()).isEqualTo(Kind.LATER_VERSION);
    assertThat(refused(body.formatted("xml")).kind()).isEqualTo(Kind.INVALID_FIELD);
    assertThat(refused(body.formatted("xml")).field()).isEqualTo("format");
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
        "{\"url\":\"\",\"types\":[\"*\"]}|url",
        "{\"url\":\"u\\u0000\",\"types\":[\"*\"]}|url",
        "{\"url\":\"u\",\"types\":\"*\"}|types",
        "{\"url\":\"u\",\"types\":[]}|types",
        "{\"url\":\"u\",\"types\":[\"a\",7]}|types[1]",
        "{\"url\":\"u\",\"types\":[\"a\",[\"b\"]]}|types[1]",
        "{\"url\":\"u\",\"types\":[\"\"]}|types[0]",
        "{\"url\":\"u\",\"types\":[\"a\\nb\"]}|types[0]",
        "{\"url\":\"u\",\"types\":[null]}|types[0]",
        "{\"url\":\"u\",\"types\":[\"*\"],\"subject\":1}|subject",
        "{\"url\":\"u\",\"types\":[\"*\"],\"subject\":\"\"}|subject",
        "{\"url\":\"u\",\"types\":[\"*\"],\"format\":null}|format",
        "{\"url\":\"u\",\"types\":[\"*\"],\"url\":\"v\"}|url",
        "{\"url\":\"u\",\"types\":[\"*\"],\"Url\":\"v\"}|Url",
        "{\"url\":\"u\",\"types\":[\"*\"],\"id\":\"v\"}|id",
      })
  void a_bad_field_is_refused_by_name(String body, String field) {
    assertThat(refused(body).field()).isEqualTo(field);
  }

  @Test
  void there_are_1_to_100_types() {
    String types =
        IntStream.range(0, 100).mapToObj(i -> "\"t" + i + "\"").collect(Collectors.joining(","));
    assertThat(read("{\"url\":\"u\",\"types\":[" + types + "]}").types()).hasSize(100);
    assertThat(refused("{\"url\":\"u\",\"types\":[" + types + ",\"more\"]}").field())
        .isEqualTo("types");
  }

  @Test
  void a_url_may_have_2048_characters() {
    String url = "u".repeat(2_048);
    assertThat(read("{\"url\":\"" + url + "\",\"types\":[\"*\"]}").url()).isEqualTo(url);
    assertThat(refused("{\"url\":\"u" + url + "\",\"types\":[\"*\"]}").field()).isEqualTo("url");
  }
}
