package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @Test
  void an_event_is_known_by_the_id_that_its_sender_chose() {
    assertThat(event(null, "payment-9").publicId()).isEqualTo("payment-9");
  }

  @Test
  void an_event_whose_sender_chose_no_id_is_known_by_ours() {
    assertThat(event(null, null).publicId()).isEqualTo(Id.text("evt", Id.floor(NOW)));
  }

  @Test
  void an_event_was_accepted_when_its_id_was_given_out() {
    assertThat(event(null, null).acceptedAt()).isEqualTo(NOW);
  }

  @Test
  void data_and_the_state_before_count_in_the_size_of_an_event() {
    int small = event(null, null).size();
    assertThat(event(new byte[100], null, null).size()).isEqualTo(small + 100);
    assertThat(event(new byte[100], new byte[50], null).size()).isEqualTo(small + 150);
  }

  private static Event event(byte @Nullable [] previous, @Nullable String callerId) {
    return event(new byte[0], previous, callerId);
  }

  private static Event event(byte[] data, byte @Nullable [] previous, @Nullable String callerId) {
    return new Event(Id.floor(NOW), "default", "a", null, null, data, previous, callerId, null);
  }
}
