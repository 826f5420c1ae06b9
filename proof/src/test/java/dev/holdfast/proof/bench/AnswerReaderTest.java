package dev.holdfast.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerReaderTest {
  private final AnswerReader reader = new AnswerReader();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      })
  void an_answer_is_complete_at_its_last_byte_however_it_is_cut(String answer) {
    for (int cut = 1; cut < answer.length() - 5; cut++) {
      assertThat(reader.take(Buffer.buffer(answer.substring(0, cut)))).isFalse();
      assertThat(reader.take(Buffer.buffer(answer.substring(cut)))).isTrue();
      assertThat(reader.status()).isEqualTo(202);
      reader.clear();
    }
  }

  @Test
  void a_refusal_keeps_its_text() {
    reader.take(Buffer.buffer("HTTP/1.1 429 Slow\r\nContent-Length: 4\r\n\r\nwait"));

    assertThat(reader.status()).isEqualTo(429);
    assertThat(reader.text()).endsWith("wait");
  }
}
