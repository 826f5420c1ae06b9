package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostReaderTest {
  private final Receiver receiver = new Receiver();
  private final EmbeddedChannel channel = new EmbeddedChannel(new PostReader(receiver));

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private static String post(int number) {
    String body = "{\"id\":\"evt_1\",\"data\":" + Mark.data(6_000, 1, number) + "}";
    return "POST /e/17 HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nA: b\r\n\r\n%s"
        .formatted(body.length(), body);
  }

  private void read(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, US_ASCII));
  }

  private String answered() {
    StringBuilder all = new StringBuilder();
    for (ByteBuf one = channel.readOutbound(); one != null; one = channel.readOutbound()) {
      all.append(one.toString(US_ASCII));
    }
    return all.toString();
  }

  private long count(String name) {
    StringBuilder text = new StringBuilder();
    receiver.group('e').describe('e', text);
    String line = name + ".e ";
    return text.toString()
        .lines()
        .filter(each -> each.startsWith(line))
        .mapToLong(each -> Long.parseLong(each.substring(line.length())))
        .sum();
  }

  @Test
  void a_post_is_counted_once_and_answered_at_its_last_byte_wherever_it_is_cut() {
    String post = post(0);
    for (int cut = 1; cut < post.length(); cut += cut < 200 ? 1 : 97) {
      String next = post(cut);
      read(next.substring(0, cut));
      assertThat(answered()).isEmpty();
      read(next.substring(cut));
      assertThat(answered()).isEqualTo("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    }
    assertThat(count("numbers")).isEqualTo(count("requests")).isPositive();
    assertThat(count("repeats")).isZero();
  }

  @Test
  void several_that_are_read_at_once_are_counted_each() {
    read(post(1) + post(2) + post(2) + post(3).substring(0, 50));

    assertThat(answered().split("200 OK", -1)).hasSize(4);
    assertThat(count("numbers")).isEqualTo(2);
    assertThat(count("repeats")).isEqualTo(1);
  }

  @Test
  void what_was_read_and_what_was_answered_is_released() {
    receiver.group('e').answer("503");
    ByteBuf chunk = Unpooled.copiedBuffer(post(0), US_ASCII);
    channel.writeInbound(chunk);

    ByteBuf answer = channel.readOutbound();
    assertThat(answer.toString(US_ASCII)).startsWith("HTTP/1.1 503");
    assertThat(answer.release()).isTrue();
    assertThat(chunk.refCnt()).isZero();
  }

  @Test
  void one_that_is_to_hang_gets_no_answer_until_its_connection_ends() {
    receiver.group('e').answer("hang");
    read(post(0));

    assertThat(answered()).isEmpty();
    assertThat(count("hanging")).isEqualTo(1);
    var _ = channel.close();
    assertThat(count("hanging")).isZero();
  }

  @Test
  void a_connection_that_is_to_close_ends_with_its_answer() {
    receiver.group('e').answer("close");
    read(post(0));

    assertThat(answered()).contains("connection: close");
    assertThat(channel.isOpen()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"content-length:6", "CONTENT-LENGTH:  6", "Content-Length: 6 "})
  void a_length_is_read_however_it_is_written(String header) {
    read("POST /e/1 HTTP/1.1\r\n" + header + "\r\n\r\nlength");

    assertThat(answered()).startsWith("HTTP/1.1 200");
    assertThat(count("requests")).isEqualTo(1);
  }

  @Test
  void one_without_a_length_is_told_so_and_its_connection_ends() {
    read("POST /e/1 HTTP/1.1\r\nHost: localhost\r\n\r\n");

    assertThat(answered()).startsWith("HTTP/1.1 411");
    assertThat(channel.isOpen()).isFalse();
  }
}
