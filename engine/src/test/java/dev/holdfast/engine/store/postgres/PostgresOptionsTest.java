package dev.holdfast.engine.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresOptionsTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql:holdfast",
        "jdbc:postgresql://db/holdfast",
        "jdbc:postgresql://db.example:5432/holdfast?password=a%26b@c/d",
        "jdbc:postgresql://a:1,b:2,[::1]:3/holdfast?targetServerType=primary&sslmode=verify-full",
      })
  void a_url_that_the_driver_takes_is_taken(String url) {
    assertThat(PostgresOptions.problem(url)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "postgres://hf:opensesame@db/holdfast",
        "jdbc:postgresql:",
        "jdbc:postgresql://db",
        "jdbc:postgresql://db/",
        "jdbc:postgresql://db/?password=opensesame",
        "jdbc:postgresql://hf:opensesame@db/holdfast",
        "jdbc:postgresql://hf:opensesame/holdfast",
        "jdbc:postgresql://hf:open/sesame@db/holdfast",
        "jdbc:postgresql://db:99999/holdfast?password=opensesame",
        "jdbc:postgresql://db/holdfast/opensesame",
        "jdbc:postgresql://db/holdfast?opensesame",
        "jdbc:postgresql://db/holdfast?password=opensesame%zz",
        "jdbc:postgresql://db/holdfast?password=opensesame&&x=y",
        "jdbc:postgresql://db/hold fast",
      })
  void any_other_is_refused_without_a_word_of_it(String url) {
    assertThat(PostgresOptions.problem(url).orElseThrow()).doesNotContain("opensesame", "sesame");
    assertThatThrownBy(() -> new PostgresOptions(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("sesame");
  }

  @Test
  void its_place_has_no_parameters() {
    assertThat(new PostgresOptions("jdbc:postgresql://db/holdfast?password=x").place())
        .isEqualTo("jdbc:postgresql://db/holdfast");
  }
}
