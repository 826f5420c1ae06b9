package dev.holdfast.core.rules;

import static dev.holdfast.core.rules.Given.BASE;
import static dev.holdfast.core.rules.Given.DEADLINE;
import static dev.holdfast.core.rules.Given.leftAloneUntil;
import static dev.holdfast.core.rules.Given.parked;
import static dev.holdfast.core.rules.Given.pending;
import static dev.holdfast.core.rules.Given.waiting;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Message;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ProbeChoiceTest {
  private static final Instant NOW = BASE.plusSeconds(600);

  private static Optional<Message> chosen(Message... messages) {
    return Stream.of(messages)
        .filter(message -> ProbeChoice.allows(message, NOW))
        .min(ProbeChoice.ORDER);
  }

  @Test
  void a_parked_message_is_chosen_before_a_waiting_one() {
    Message parked = parked(9, 5, 5);
    assertThat(chosen(waiting(1, 1, 1, DEADLINE), parked)).hasValue(parked);
  }

  @Test
  void the_parked_message_with_the_fewest_attempts_is_chosen() {
    Message fewest = parked(9, 1, 1);
    assertThat(chosen(parked(1, 2, 2), fewest, parked(2, 3, 3))).hasValue(fewest);
  }

  @Test
  void of_parked_messages_with_as_many_attempts_the_oldest_is_chosen() {
    Message oldest = parked(1, 2, 2);
    assertThat(chosen(parked(2, 2, 2), oldest, parked(3, 2, 2))).hasValue(oldest);
  }

  @Test
  void a_parked_message_that_was_never_tried_goes_first() {
    Message untried = parked(9, 0, 0);
    assertThat(chosen(parked(1, 1, 1), untried)).hasValue(untried);
  }

  @Test
  void if_none_is_parked_the_waiting_message_with_the_fewest_attempts_is_chosen() {
    Message fewest = waiting(9, 1, 1, DEADLINE);
    assertThat(chosen(waiting(1, 2, 2, DEADLINE), fewest)).hasValue(fewest);
  }

  @Test
  void of_waiting_messages_with_as_many_attempts_the_oldest_is_chosen() {
    Message oldest = waiting(1, 2, 2, DEADLINE);
    assertThat(chosen(waiting(2, 2, 2, DEADLINE), oldest)).hasValue(oldest);
  }

  @Test
  void a_message_whose_endpoint_asked_to_be_left_alone_is_not_chosen_until_then() {
    Message asked = leftAloneUntil(NOW.plusMillis(1), waiting(1, 1, 1, DEADLINE));
    Message other = waiting(2, 5, 5, DEADLINE);
    assertThat(chosen(asked, other)).hasValue(other);
    assertThat(ProbeChoice.allows(asked, NOW.plusMillis(1))).isTrue();
  }

  @Test
  void a_parked_message_whose_endpoint_asked_to_be_left_alone_is_not_chosen_either() {
    assertThat(chosen(leftAloneUntil(NOW.plusMillis(1), parked(1, 1, 1)))).isEmpty();
    assertThat(chosen(leftAloneUntil(NOW, parked(1, 1, 1)))).isPresent();
  }

  @Test
  void a_pending_message_has_to_be_parked_first() {
    assertThat(chosen(pending())).isEmpty();
  }

  @Test
  void without_messages_there_is_nothing_to_probe_with() {
    assertThat(chosen()).isEmpty();
  }
}
