package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.MultiMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OriginTest {
  private static String of(String host, String... more) {
    MultiMap headers = MultiMap.caseInsensitiveMultiMap().add("Host", host);
    for (int i = 0; i < more.length; i += 2) {
      headers.add(more[i], more[i + 1]);
    }
    return Origin.of(headers, false);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "127.0.0.1:8080",
        "hooks.example",
        "Hooks_1.Example-2.:443",
        "[::1]",
        "[2001:db8::1]:65535"
      })
  void a_plain_host_and_port_is_repeated(String host) {
    assertThat(of(host)).isEqualTo("http://" + host);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "a b",
        "a/b",
        "user@host",
        "host:",
        "host:99999",
        "host:x",
        "host:123456",
        "host\r\nX: y",
        "host\n",
        "host?x",
        "host#x",
        "host\\x",
        "\"host\"",
        "<script>",
        "-host",
        ".host",
        "[::1",
        "[]",
        "[x]",
        "::1",
        "hôst",
        "host,other"
      })
  void anything_else_is_not(String host) {
    assertThat(of(host, "X-Forwarded-Proto", "https")).isEmpty();
  }

  @Test
  void a_host_that_is_too_long_is_not_and_neither_is_none() {
    assertThat(of("a".repeat(260))).isEqualTo("http://" + "a".repeat(260));
    assertThat(of("a".repeat(261))).isEmpty();
    assertThat(Origin.of(MultiMap.caseInsensitiveMultiMap(), false)).isEmpty();
  }

  @Test
  void only_http_and_https_are_taken_from_a_proxy() {
    assertThat(of("h", "X-Forwarded-Proto", "https")).isEqualTo("https://h");
    assertThat(of("h", "X-Forwarded-Proto", "http")).isEqualTo("http://h");
    for (String other : new String[] {"", ",https", "ftp", "javascript", "https;http", "httpſ"}) {
      assertThat(of("h", "X-Forwarded-Proto", other)).as(other).isEmpty();
    }
  }

  @Test
  void of_several_proxies_the_first_is_believed_in_small_letters() {
    for (String https : new String[] {"HTTPS", "https,http", "https , http", " Https\t,http,"}) {
      assertThat(of("h", "X-Forwarded-Proto", https)).as(https).isEqualTo("https://h");
    }
    assertThat(of("h", "X-Forwarded-Proto", "http, https")).isEqualTo("http://h");
    assertThat(of("h", "X-Forwarded-Proto", "https", "X-Forwarded-Proto", "http"))
        .isEqualTo("https://h");
  }
}
