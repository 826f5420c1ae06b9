package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Message.Status;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MessageTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @Test
  void a_new_message_is_pending_and_was_never_tried() {
    Message message = Message.pending(Id.floor(NOW), 2, 3, 4, 500);
    assertThat(message)
        .isEqualTo(
            new Message(
                Id.floor(NOW), 2, 3, 4, Status.PENDING, 0, 0, null, null, null, null, 500, null));
  }

  @Test
  void a_message_was_created_when_its_id_was_given_out() {
    assertThat(Message.pending(Id.floor(NOW), 2, 3, 4, 500).createdAt()).isEqualTo(NOW);
  }

  @Test
  void a_pending_message_is_due_at_no_time() {
    assertThatThrownBy(() -> message(Status.PENDING, NOW, NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pending");
  }

  @ParameterizedTest
  @EnumSource(names = "PENDING", mode = EnumSource.Mode.EXCLUDE)
  void a_message_that_is_not_pending_has_a_due_time(Status status) {
    assertThatThrownBy(() -> message(status, NOW, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("due");
  }

  @ParameterizedTest
  @EnumSource(names = "PENDING", mode = EnumSource.Mode.EXCLUDE)
  void a_message_that_is_not_pending_has_a_base(Status status) {
    assertThatThrownBy(() -> message(status, null, NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("base");
  }

  private static Message message(Status status, @Nullable Instant base, @Nullable Instant due) {
    return new Message(1, 2, 3, 4, status, 1, 1, base, due, null, NOW, 500, null);
  }
}
