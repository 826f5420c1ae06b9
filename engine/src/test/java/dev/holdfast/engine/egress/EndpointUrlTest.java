package dev.holdfast.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointUrlTest {

  @ParameterizedTest
  @CsvSource({
    "http://example.com, http://example.com/",
    "HTTP://Example.COM/A/b?C=D, http://example.com/A/b?C=D",
    "http://example.com:80/, http://example.com/",
    "https://example.com:443/, https://example.com/",
    "http://example.com:443/, http://example.com:443/",
    "https://example.com:80/, https://example.com:80/",
    "http://example.com:/x, http://example.com/x",
    "http://example.com:08080/x, http://example.com:8080/x",
    "http://example.com?a=b, http://example.com/?a=b",
    "http://example.com//x/../y/, http://example.com//x/../y/",
    "http://example.com/a%20b%2F, http://example.com/a%20b%2F",
    "http://example.com/a:b@c, http://example.com/a:b@c",
    "http://my_service.internal-1:9000/, http://my_service.internal-1:9000/",
    "http://localhost:8080, http://localhost:8080/",
    "http://10.0.0.1:8080/, http://10.0.0.1:8080/",
    "http://[::1]:8080, http://[::1]:8080/",
    "http://[2001:DB8::A]/, http://[2001:db8::a]/",
    "http://example.com./, http://example.com./",
    "http://xn--bcher-kva.example/, http://xn--bcher-kva.example/"
  })
  void a_url_is_normalised(String text, String normalised) {
    assertThat(accepted(text).normalised()).isEqualTo(normalised);
    assertThat(accepted(normalised)).isEqualTo(accepted(text));
  }

  @Test
  void a_url_is_taken_apart() {
    assertThat(accepted("https://Example.com:8443/hook?x=1"))
        .isEqualTo(new EndpointUrl(true, "example.com", 8443, "/hook?x=1"));
    assertThat(accepted("http://[::1]/")).isEqualTo(new EndpointUrl(false, "::1", 80, "/"));
    assertThat(accepted("http://[::1]/").authority()).isEqualTo("[::1]");
    assertThat(accepted("http://[::1]:81/").authority()).isEqualTo("[::1]:81");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "example.com",
        "//example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript://example.com/",
        "http:/example.com/",
        " http://example.com/"
      })
  void only_http_and_https_are_accepted(String text) {
    assertThat(refused(text)).isEqualTo("The URL must start with http:// or https://.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://", "http:///hook", "http://:80/", "https://?x"})
  void a_host_is_needed(String text) {
    assertThat(refused(text)).contains("has no host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://user@example.com/", "http://u:p@example.com/", "http://@x/"})
  void user_info_is_refused(String text) {
    assertThat(refused(text)).contains("user name or password").contains("authToken");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://example.com/#", "http://example.com#top", "http://x/?a#b"})
  void a_fragment_is_refused(String text) {
    assertThat(refused(text)).contains("fragment");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:99999999999/",
        "http://example.com:-1/",
        "http://example.com:http/",
        "http://example.com:80:80/",
        "http://[::1]:x/"
      })
  void a_port_must_be_one(String text) {
    assertThat(refused(text)).contains("must be a number from 1 to 65535");
  }

  @Test
  void a_password_in_the_ports_place_is_not_repeated() {
    assertThat(refused("http://user:hunter2/")).doesNotContain("hunter2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://exa mple.com/",
        "http://example..com/",
        "http://.example.com/",
        "http://b\u00fccher.example/",
        "http://example.com\\.evil.test/",
        "http://exam%70le.com/",
        "http://example.com\r\nx: y/",
        "http://./",
        "http://\u212aiosk.example/",
      })
  void a_host_must_be_a_name(String text) {
    assertThat(refused(text))
        .contains("is not a host name")
        .doesNotContain("\r")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://1.2.3.256/",
        "http://1.2.3.4.5/",
        "http://127.0.0.1./"
      })
  void a_host_that_ends_in_a_number_must_be_an_ipv4_address(String text) {
    assertThat(refused(text)).contains("is not an IPv4 address");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://[/",
        "http://[]/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://[1.2.3.4]/",
        "http://[::1]x/"
      })
  void a_host_in_brackets_must_be_an_ipv6_address(String text) {
    assertThat(refused(text)).contains("is not an IPv6 address");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://x/a b",
        "http://x/a\tb",
        "http://x/\r\nHost: y",
        "http://x/\u00fc",
        "http://x/{id}",
        "http://x/a\\b",
        "http://x/?<script>"
      })
  void a_path_must_be_percent_encoded(String text) {
    assertThat(refused(text)).contains("percent-encode it");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://x/%", "http://x/%1", "http://x/%zz", "http://x/%2"})
  void a_percent_sign_must_mean_something(String text) {
    assertThat(refused(text)).contains("%25");
  }

  @Test
  void a_long_url_is_refused() {
    String start = "http://example.com/";
    assertThat(accepted(start + "x".repeat(EndpointUrl.MOST_CHARACTERS - start.length())))
        .isNotNull();
    assertThat(refused(start + "x".repeat(EndpointUrl.MOST_CHARACTERS - start.length() + 1)))
        .contains("longer than 2048 characters");
    assertThat(refused("http://" + "a.".repeat(127) + "com/")).contains("host is longer than 253");
    assertThat(refused("http://" + "a".repeat(64) + ".com/")).contains("is not a host name");
  }

  private static EndpointUrl accepted(String text) {
    return switch (EndpointUrl.check(text)) {
      case EndpointUrl.Checked.Accepted(EndpointUrl url) -> url;
      case EndpointUrl.Checked.Refused(String problem) ->
          throw new AssertionError(text + ": " + problem);
    };
  }

  private static String refused(String text) {
    return switch (EndpointUrl.check(text)) {
      case EndpointUrl.Checked.Accepted(EndpointUrl url) ->
          throw new AssertionError(text + " was accepted as " + url);
      case EndpointUrl.Checked.Refused(String problem) -> problem;
    };
  }
}
