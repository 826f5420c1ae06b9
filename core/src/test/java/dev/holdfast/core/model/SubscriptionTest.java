package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SubscriptionTest {

  @Test
  void a_subscription_wants_events_of_any_of_its_types() {
    Subscription subscription = subscription(null, "order.paid", "invoice.*");
    assertThat(subscription.interest().covers("order.paid", null)).isTrue();
    assertThat(subscription.interest().covers("invoice.sent", null)).isTrue();
    assertThat(subscription.interest().covers("order.sent", null)).isFalse();
  }

  @Test
  void without_a_subject_it_wants_events_about_anything() {
    Subscription subscription = subscription(null, "*");
    assertThat(subscription.interest().covers("order.paid", "order-7")).isTrue();
    assertThat(subscription.interest().covers("order.paid", null)).isTrue();
  }

  @Test
  void with_a_subject_it_wants_events_about_that_one_only() {
    Subscription subscription = subscription("order-7", "order.*");
    assertThat(subscription.interest().covers("order.paid", "order-7")).isTrue();
    assertThat(subscription.interest().covers("order.paid", "order-8")).isFalse();
    assertThat(subscription.interest().covers("order.paid", null)).isFalse();
    assertThat(subscription.interest().covers("invoice.sent", "order-7")).isFalse();
  }

  @Test
  void a_subscription_without_types_is_refused() {
    assertThatThrownBy(() -> subscription(null)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void its_types_cannot_be_changed_from_outside() {
    List<TypePattern> types = new ArrayList<>(List.of(new TypePattern("a")));
    Subscription subscription = new Subscription(1, "default", 2, types, null, Instant.EPOCH);
    types.add(new TypePattern("b"));
    assertThat(subscription.types()).containsExactly(new TypePattern("a"));
  }

  private static Subscription subscription(@Nullable String subject, String... types) {
    return new Subscription(
        1,
        "default",
        2,
        List.of(types).stream().map(TypePattern::new).toList(),
        subject,
        Instant.EPOCH);
  }
}
