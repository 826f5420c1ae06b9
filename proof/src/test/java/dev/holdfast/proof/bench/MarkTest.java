package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MarkTest {

  @Test
  void a_mark_that_was_written_is_found() {
    byte[] data = Mark.data(200).getBytes(US_ASCII);
    Mark.write(data, Mark.offset(), 0x0123_4567_89ab_cdefL, 305_419_896);
    byte[] body = ("{\"type\":\"bench\",\"data\":" + new String(data, US_ASCII)).getBytes(US_ASCII);

    assertThat(data).hasSize(200);
    assertThat(Mark.find(body, 0, body.length))
        .isEqualTo(new Mark(0x0123_4567_89ab_cdefL, 305_419_896));
  }

  @Test
  void half_a_mark_is_no_mark() {
    byte[] data = Mark.data(200).getBytes(US_ASCII);
    int end = Mark.offset() + Mark.LENGTH;

    assertThat(Mark.find(data, 0, end - 1)).isNull();
    assertThat(Mark.find(data, 0, end)).isNotNull();
  }
}
