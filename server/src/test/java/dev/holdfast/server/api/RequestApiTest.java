package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.http.ShownRequest;
import dev.holdfast.engine.http.ShownRequest.Header;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestApiTest {

  private static ShownRequest request(String url, String header, String body) {
    return new ShownRequest(
        url,
        List.of(
            new Header("Host", "h"), new Header("X", header), new Header("content-length", "1")),
        body.getBytes(UTF_8));
  }

  /** The arguments that a shell gives to curl. */
  private static List<String> arguments(String line) throws Exception {
    Process shell =
        new ProcessBuilder("/bin/sh", "-c", "curl() { printf '%s\\0' \"$@\"; }; " + line)
            .redirectErrorStream(true)
            .start();
    shell.getOutputStream().close();
    String all = new String(shell.getInputStream().readAllBytes(), UTF_8);
    assertThat(shell.waitFor()).as(all).isZero();
    return List.of(all.split("\0", -1)).subList(0, all.split("\0", -1).length - 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "'",
        "''",
        "'; rm -rf /tmp/x; '",
        "$(touch /tmp/x) `touch /tmp/x` ${HOME} $HOME",
        "\"\\\" \\n \\' ! # & | ; < > ( ) * ? [a] ~ % ^",
        "line one\nline two\r\n\ttab",
        "@/etc/passwd",
        "-X DELETE",
        "ü 😀 \u2028",
      })
  void a_shell_gives_curl_exactly_what_is_sent(String hostile) throws Exception {
    String url = "https://h.example/" + hostile.replaceAll("\\s", "") + "?a=****";
    String header = hostile.replaceAll("[^ -~]", "");
    assertThat(arguments(RequestApi.curl(request(url, header, hostile))))
        .containsExactly(
            "--globoff", "-X", "POST", url, "-H", "X: " + header, "--data-raw", hostile);
  }

  @Test
  void a_body_that_no_argument_can_hold_is_taken_from_a_file() throws Exception {
    String longest = "x".repeat(ApiLimits.CURL_BODY_BYTES);
    assertThat(arguments(RequestApi.curl(request("https://h/", "v", longest)))).contains(longest);
    assertThat(RequestApi.curl(request("https://h/", "v", longest + "x")))
        .endsWith(" --data-binary @body.json");
  }
}
