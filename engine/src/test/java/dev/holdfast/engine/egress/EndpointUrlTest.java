package dev.holdfast.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.Seeds;
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
        "http://example.com\\.evil.test/",
        "http://exam%70le.com/",
        "http://example.com\r\nx: y/",
        "http://./",
        "http://exa\tmple.com/",
        "http://example.com\u0000/",
        "http://b\u00fccher..example/",
        "http://xn--b\u00fccher.example/",
        "http://\u2100.example/",
        "http://\uff05\uff14\uff11.example/",
        "http://\uff3b::1\uff3d/",
        "http://\u00fc\uff20example.com/",
        "http://\u00fc\uff0fexample.com/",
        "http://\u00fc\uff1a80/",
        "http://\ud83d\ude00.example/",
        "http://\ud800.example/",
        "http://\u202eexample.com/",
        "http://\u3002/",
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
        "http://127.0.0.1./",
        "http://0177.0.0.1/",
        "http://017700000001/",
        "http://127.0.0.01/",
        "http://127.0.0.001/",
        "http://010.0.0.1/",
        "http://0127.0.0.1/",
        "http://127.0.0.0x1/",
        "http://127.0x1/",
        "http://0X7F.0.0.0X1/",
        "http://0x/",
        "http://1/",
        "http://0/",
        "http://1./",
        "http://127.1./",
        "http://example.1/",
        "http://4294967297/",
        "http://\uff11\uff12\uff17.1/",
        "http://127\u30021/",
        "http://\u2460\u2461\u2466/"
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
        "http://[::1]x/",
        "http://[fe80::1%eth0]/",
        "http://[fe80::1%]/",
        "http://[::1.2.3]/",
        "http://[::127.0.0.01]/",
        "http://[::00001]/",
        "http://[1::2::3]/",
        "http://[:::1]/",
        "http://[::1].\u00fc/",
        "http://[::\uff11]/",
        "http://[v1.x:y]/"
      })
  void a_host_in_brackets_must_be_an_ipv6_address(String text) {
    assertThat(refused(text)).contains("is not an IPv6 address");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://[::ffff:127.0.0.1]/",
        "http://[::FFFF:7f00:1]/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]/"
      })
  void a_mapped_address_is_to_be_written_as_what_it_is(String text) {
    assertThat(refused(text)).contains("write it as an IPv4 address: 127.0.0.1.");
  }

  @ParameterizedTest
  @CsvSource({
    "b\u00fccher.example, xn--bcher-kva.example",
    "B\u00dcCHER.Example, xn--bcher-kva.example",
    "bu\u0308cher.example, xn--bcher-kva.example",
    "b\u00fccher\u3002example, xn--bcher-kva.example",
    "b\u00fccher\uff0eexample., xn--bcher-kva.example.",
    "\u4f8b\u5b50.\u6d4b\u8bd5, xn--fsqu00a.xn--0zwm56d",
    "\u0440\u0444.\u0440\u0444, xn--p1ai.xn--p1ai",
    "\u03a3\u0391\u03a3.example, xn--mxa9ab.example",
    "\u212aiosk.example, kiosk.example",
    "\u24dbocalhost, localhost",
    "\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54, localhost",
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11, 127.0.0.1",
    "127\u30020\u30020\u30021, 127.0.0.1",
    "127\uff610\uff610\uff611, 127.0.0.1",
    "127\u20240\u20240\u20241, 127.0.0.1",
    "\u2460\u2461\u2466.0.0.1, 127.0.0.1"
  })
  void other_letters_become_what_is_looked_up(String host, String ascii) {
    assertThat(accepted("http://" + host + ":81/x").host()).isEqualTo(ascii);
    assertThat(accepted("http://" + host + "/")).isEqualTo(accepted("http://" + ascii + "/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fa\u00df.example",
        "\u03b1\u03c2.example",
        "a\u200db.example",
        "a\u200cb.example",
        "\u04c0.example",
        "x\u00ady.example"
      })
  void a_name_that_others_would_take_for_another_is_refused(String host) {
    assertThat(refused("http://" + host + "/")).contains("write it in its xn-- form");
  }

  @Test
  void whatever_is_accepted_stays_what_it_is() {
    Seeds.each(
        20_000,
        random -> {
          StringBuilder host = new StringBuilder();
          for (int i = random.nextInt(1, 8); i > 0; i--) {
            host.appendCodePoint(
                switch (random.nextInt(5)) {
                  case 0 -> random.nextInt(0x80);
                  case 1 -> "0123456789.xX:[]@%-_/\\".codePointAt(random.nextInt(22));
                  case 2 -> random.nextInt(0x2000, 0x3100);
                  case 3 -> random.nextInt(0xfb00, 0x10000);
                  default -> random.nextInt(0x110000);
                });
          }
          if (EndpointUrl.check("http://" + host + "/")
              instanceof EndpointUrl.Checked.Accepted(EndpointUrl url)) {
            assertThat(url.host()).matches("[a-z0-9._:-]+");
            assertThat(accepted(url.normalised())).isEqualTo(url);
          }
        });
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

  @Test
  void very_many_colons_are_just_no_address() {
    String start = "http://[";
    assertThat(refused(start + ":".repeat(EndpointUrl.MOST_CHARACTERS - start.length() - 2) + "]/"))
        .contains("is not an IPv6 address");
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
