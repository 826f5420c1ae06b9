package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.path.Activity;
import dev.holdfast.core.path.Delays;
import dev.holdfast.core.port.History.ChangePosition;
import dev.holdfast.core.port.History.ChangeQuery;
import dev.holdfast.core.port.History.EndpointChange;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.rules.EndpointHealth;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What every store keeps of the past for charts. */
abstract class ActivityContract {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private static final EndpointHealth HEALTH =
      new EndpointHealth(
          100, 700_000, 1_000, 2_000, Duration.ofHours(72), 50_000, Duration.ofMinutes(10));

  abstract Database open() throws Exception;

  static ActivityRow row(String tenant, Instant at, long count, long... delays) {
    Delays all = new Delays();
    for (long delay : delays) {
      all.add(delay);
    }
    return new ActivityRow(at, new Activity(tenant, count, delays.length, count, count, all));
  }

  @Test
  void minutes_are_kept_for_each_tenant() throws Exception {
    List<ActivityRow> rows =
        List.of(
            row("acme", NOW, 1, 5, 70_000, 1L << 40),
            row("acme", NOW.plusSeconds(60), 2),
            row("other", NOW, Long.MAX_VALUE, 0));
    try (Database store = open()) {
      store.activity().add(rows, NOW);
    }
    try (Database store = open()) {
      assertThat(store.activity().since("acme", NOW)).containsExactly(rows.get(0), rows.get(1));
      assertThat(store.activity().since("acme", NOW.plusSeconds(1))).containsExactly(rows.get(1));
      assertThat(store.activity().since("other", NOW)).containsExactly(rows.get(2));
      assertThat(store.activity().droppedSince("acme", NOW)).isEqualTo(3);
      assertThat(store.activity().droppedSince("nobody", NOW)).isZero();
    }
  }

  @Test
  void a_minute_that_was_begun_before_a_restart_is_added_to() throws Exception {
    try (Database store = open()) {
      store.activity().add(List.of(row("acme", NOW, 1, 5)), NOW);
    }
    try (Database store = open()) {
      store.activity().add(List.of(row("acme", NOW, 2, 5, 80)), NOW);
      List<ActivityRow> found = store.activity().since("acme", NOW);
      assertThat(found).hasSize(1);
      assertThat(found.getFirst().counts().accepted()).isEqualTo(3);
      assertThat(found.getFirst().counts().delivered()).isEqualTo(3);
      assertThat(found.getFirst()).isEqualTo(row("acme", NOW, 3, 5, 5, 80));
    }
  }

  @Test
  void a_minute_that_comes_twice_is_added_up() throws Exception {
    try (Database store = open()) {
      store.activity().add(List.of(row("acme", NOW, 1, 5), row("acme", NOW, 2, 80)), NOW);
      assertThat(store.activity().since("acme", NOW)).containsExactly(row("acme", NOW, 3, 5, 80));
    }
  }

  @Test
  void minutes_go_after_eight_days() throws Exception {
    try (Database store = open()) {
      List<ActivityRow> many = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        many.add(row("tenant-" + i, NOW, 1));
      }
      store.activity().add(many, NOW);
      Instant end = NOW.plus(ActivityRows.KEPT);
      assertThat(store.activity().hasOld(end)).isFalse();
      Instant later = end.plus(Duration.ofMinutes(1));
      int rounds = 0;
      while (store.activity().hasOld(later)) {
        store.activity().add(List.of(row("acme", later, 1)), later);
        rounds++;
      }
      assertThat(rounds).isBetween(2, 10);
      assertThat(store.activity().since("tenant-7", NOW)).isEmpty();
      assertThat(store.activity().since("acme", NOW)).hasSize(1);
    }
  }

  @Test
  void changes_of_all_endpoints_of_a_tenant_are_listed_newest_first() throws Exception {
    Sample sample = new Sample();
    List<Endpoint> endpoints = new ArrayList<>();
    try (Database store = open()) {
      for (int i = 0; i < 3; i++) {
        Endpoint endpoint = sample.endpoint("https://" + i + ".test/");
        endpoints.add(endpoint);
        store.write(batch(new Write.Subscribe(sample.subscription(endpoint, "t"), endpoint)));
      }
      for (int i = 0; i < 6; i++) {
        store.write(batch(new Write.ChangeState(disabled(endpoints.get(i % 3), i))));
      }
      String tenant = endpoints.getFirst().tenant();
      List<EndpointChange> all = store.changes(new ChangeQuery(tenant, null, null, null, 100));
      assertThat(all).hasSize(6);
      assertThat(all)
          .extracting(change -> change.change().at())
          .containsExactly(at(5), at(4), at(3), at(2), at(1), at(0));
      assertThat(all.getFirst().endpoint()).isEqualTo(endpoints.get(2).id());
      assertThat(all.getFirst().change().state()).isEqualTo(Health.State.DISABLED);
      assertThat(store.changes(new ChangeQuery(tenant, at(2), at(4), null, 100)))
          .containsExactly(all.get(2), all.get(3));
      ChangePosition second = new ChangePosition(all.get(1).change().at(), all.get(1).id());
      assertThat(store.changes(new ChangeQuery(tenant, null, null, second, 2)))
          .containsExactly(all.get(2), all.get(3));
      assertThat(store.changes(new ChangeQuery("another", null, null, null, 100))).isEmpty();
    }
  }

  private static Instant at(int number) {
    return NOW.plusSeconds(number);
  }

  private static Endpoint disabled(Endpoint endpoint, int number) {
    return endpoint.with(HEALTH.disable(endpoint.health(), at(number)));
  }
}
