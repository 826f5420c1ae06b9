package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.path.Activity;
import dev.holdfast.core.path.Delays;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.ActivityReport.Span;
import dev.holdfast.engine.ActivityReport.Step;
import dev.holdfast.engine.Watcher.Now;
import dev.holdfast.engine.store.SqliteStore;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seconds and minutes of what the loop has counted; the test is the event loop and its clock. */
final class PulseTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:30Z");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  private SqliteStore store;

  @SuppressWarnings("NullAway.Init")
  private Pulse pulse;

  private final LinkedBlockingQueue<Runnable> eventLoop = new LinkedBlockingQueue<>();
  private Instant now = START;

  @BeforeEach
  void open() throws Exception {
    store = SqliteStore.open(directory);
    Loop loop =
        new Loop(
            new RetrySchedule(Duration.ofMillis(84_800), 11),
            new EndpointHealth(
                100, 700_000, 1_000, 2_000, Duration.ofHours(72), 50_000, Duration.ofMinutes(10)),
            Recovery.DRAIN,
            Limits.forHeap(256L << 20, 32),
            0,
            store.snapshot());
    pulse = new Pulse(store.activity(), eventLoop::add, () -> loop);
  }

  @AfterEach
  void close() {
    pulse.close();
    store.close();
  }

  private static Activity happened(String tenant, long count, long... delays) {
    Delays all = new Delays();
    Arrays.stream(delays).forEach(all::add);
    return new Activity(tenant, count, delays.length, 0, count, all);
  }

  private void beat(Activity... counted) {
    now = now.plusSeconds(1);
    pulse.beat(List.of(counted), now);
  }

  /** Runs what comes back from the store until it is there. */
  private <T> T await(Future<T> future) throws InterruptedException {
    while (!future.isComplete()) {
      runNext();
    }
    if (future.failed()) {
      throw new AssertionError(future.cause());
    }
    return future.result();
  }

  private void runNext() throws InterruptedException {
    Objects.requireNonNull(eventLoop.poll(30, TimeUnit.SECONDS), "nothing comes back").run();
  }

  private Step last(String tenant) throws InterruptedException {
    return await(pulse.report(tenant, Span.HOUR, now)).steps().getLast();
  }

  private static final class Seen implements Watcher {
    final List<Now> seconds = new ArrayList<>();

    @Override
    public void now(Now now) {
      seconds.add(now);
    }
  }

  @Test
  void an_hour_has_sixty_minutes_and_ends_with_the_one_that_runs() throws Exception {
    beat(happened("acme", 2, 10, 20));
    ActivityReport report = await(pulse.report("acme", Span.HOUR, now));
    assertThat(report.steps()).hasSize(60);
    assertThat(report.from()).isEqualTo(Instant.parse("2026-03-01T11:01:00Z"));
    assertThat(report.to()).isEqualTo(Instant.parse("2026-03-01T12:01:00Z"));
    Step last = report.steps().getLast();
    assertThat(last.at()).isEqualTo(Instant.parse("2026-03-01T12:00:00Z"));
    assertThat(last.accepted()).isEqualTo(2);
    assertThat(last.delivered()).isEqualTo(2);
    assertThat(last.dropped()).isEqualTo(2);
    assertThat(last.delays()).isNotNull();
    assertThat(report.steps().getFirst())
        .isEqualTo(new Step(Instant.parse("2026-03-01T11:01:00Z"), 0, 0, 0, 0, null));
  }

  @Test
  void a_day_has_ninety_six_quarters_of_an_hour() throws Exception {
    beat(happened("acme", 1));
    now = now.plus(Duration.ofMinutes(5));
    beat(happened("acme", 2));
    ActivityReport report = await(pulse.report("acme", Span.DAY, now));
    assertThat(report.steps()).hasSize(96);
    assertThat(report.steps().getLast().accepted()).isEqualTo(3);
    assertThat(Duration.between(report.from(), report.to())).isEqualTo(Duration.ofDays(1));
  }

  @Test
  void a_minute_that_is_over_is_kept_and_counted_once_at_any_moment() throws Exception {
    beat(happened("acme", 3, 10));
    now = now.plusSeconds(60);
    beat(happened("acme", 4));
    Future<ActivityReport> during = pulse.report("acme", Span.HOUR, now);
    assertThat(await(during).steps().stream().mapToLong(Step::accepted).sum()).isEqualTo(7);
    assertThat(last("acme").accepted()).isEqualTo(4);
    Instant hourAgo = now.minus(Duration.ofHours(1));
    assertThat(store.activity().since("acme", hourAgo))
        .singleElement()
        .satisfies(row -> assertThat(row.counts().accepted()).isEqualTo(3));
    assertThat(store.activity().since("other", hourAgo)).isEmpty();
  }

  @Test
  void a_clean_stop_keeps_the_minute_that_runs_and_the_next_start_adds_to_it() throws Exception {
    beat(happened("acme", 3, 10));
    await(pulse.finish(List.of(happened("acme", 1)), now));
    close();
    open();
    beat(happened("acme", 5));
    assertThat(last("acme").accepted()).isEqualTo(9);
    await(pulse.finish(List.of(), now));
    close();
    open();
    assertThat(last("acme").accepted()).isEqualTo(9);
  }

  @Test
  void of_very_many_tenants_some_are_written_a_minute_later() throws Exception {
    List<Activity> all = new ArrayList<>();
    for (int i = 0; i < Pulse.TENANTS_A_MINUTE + 100; i++) {
      all.add(happened("tenant-" + i, 1));
    }
    beat(all.toArray(Activity[]::new));
    for (int second = 0; second < 150; second++) {
      beat();
      Step _ = last("tenant-0");
    }
    Instant hourAgo = now.minus(Duration.ofHours(1));
    Instant first = Instant.parse("2026-03-01T12:00:00Z");
    assertThat(store.activity().since("tenant-7", hourAgo))
        .singleElement()
        .satisfies(row -> assertThat(row.at()).isEqualTo(first));
    assertThat(store.activity().since("tenant-1050", hourAgo))
        .singleElement()
        .satisfies(row -> assertThat(row.at()).isEqualTo(first.plusSeconds(60)));
  }

  @Test
  void what_cannot_be_written_is_written_with_the_next_minute() throws Exception {
    beat(happened("acme", 3));
    store.close();
    now = now.plusSeconds(60);
    beat();
    runNext();
    beat();
    assertThat(eventLoop).isEmpty();
    now = now.plusSeconds(60);
    beat();
    assertThat(eventLoop.poll(30, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void a_watcher_is_told_at_once_and_then_every_second_of_its_tenant_alone() throws Exception {
    Seen acme = new Seen();
    Seen other = new Seen();
    try (Watcher.Watching _ = pulse.watch("acme", acme, now);
        Watcher.Watching _ = pulse.watch("other", other, now)) {
      Step _ = last("acme");
      assertThat(acme.seconds).hasSize(1);
      beat(happened("acme", 3, 10, 20));
      beat();
      assertThat(acme.seconds).hasSize(3);
      assertThat(acme.seconds.get(1).accepted()).isEqualTo(3);
      assertThat(acme.seconds.get(2).accepted()).isZero();
      assertThat(acme.seconds.get(2).delays()).isNotNull();
      assertThat(other.seconds.get(1).accepted()).isZero();
      assertThat(other.seconds.get(1).delays()).isNull();
    }
    beat();
    assertThat(acme.seconds).hasSize(3);
  }

  @Test
  void changes_are_told_with_the_next_second_and_no_more_than_fit() throws Exception {
    Seen acme = new Seen();
    Seen other = new Seen();
    pulse.watch("acme", acme, now);
    pulse.watch("other", other, now);
    Step _ = last("acme");
    List<Endpoint> changed = new ArrayList<>();
    for (int i = 0; i < Pulse.MOST_CHANGES; i++) {
      changed.add(new Endpoint(i, "acme", "https://acme.test/" + i, Health.created(now)));
    }
    changed.forEach(pulse::changed);
    assertThat(acme.seconds).hasSize(1);
    beat();
    assertThat(acme.seconds.getLast().changed()).isEqualTo(changed);
    assertThat(acme.seconds.getLast().moreChanged()).isFalse();
    assertThat(other.seconds.getLast().changed()).isEmpty();
    changed.forEach(pulse::changed);
    pulse.changed(changed.getFirst());
    beat();
    assertThat(acme.seconds.getLast().changed()).isEqualTo(changed);
    assertThat(acme.seconds.getLast().moreChanged()).isTrue();
    beat();
    assertThat(acme.seconds.getLast().changed()).isEmpty();
    assertThat(acme.seconds.getLast().moreChanged()).isFalse();
  }

  @Test
  void one_who_cannot_be_told_ends_nothing_and_is_told_again() throws Exception {
    List<Now> told = new ArrayList<>();
    Seen other = new Seen();
    pulse.watch(
        "acme",
        seen -> {
          told.add(seen);
          throw new IllegalStateException("the answer has ended");
        },
        now);
    pulse.watch("acme", other, now);
    Step _ = last("acme");
    pulse.changed(new Endpoint(1, "acme", "https://acme.test/", Health.created(now)));
    beat();
    beat();
    assertThat(told).hasSize(3);
    assertThat(other.seconds).hasSize(3);
  }

  @Test
  void a_report_is_made_once_between_two_beats() throws Exception {
    beat(happened("acme", 1));
    Future<ActivityReport> first = pulse.report("acme", Span.HOUR, now);
    assertThat(pulse.report("acme", Span.HOUR, now)).isSameAs(first);
    assertThat(pulse.report("acme", Span.DAY, now)).isNotSameAs(first);
    beat();
    assertThat(pulse.report("acme", Span.HOUR, now)).isSameAs(first);
    await(first);
    assertThat(pulse.report("acme", Span.HOUR, now)).isSameAs(first);
    beat(happened("acme", 1));
    assertThat(last("acme").accepted()).isEqualTo(2);
  }

  @Test
  void only_so_many_reports_are_made_at_once() throws Exception {
    List<Future<ActivityReport>> asked = new ArrayList<>();
    for (int i = 0; i < Pulse.MOST_REPORTS; i++) {
      asked.add(pulse.report("tenant-" + i, Span.DAY, now));
    }
    assertThat(pulse.report("further", Span.DAY, now).cause()).isInstanceOf(TooManyReports.class);
    assertThat(pulse.report("tenant-0", Span.DAY, now)).isSameAs(asked.getFirst());
    assertThat(await(asked.getFirst()).steps()).hasSize(96);
    assertThat(await(pulse.report("further", Span.DAY, now)).steps()).hasSize(96);
  }

  @Test
  void percentiles_of_the_last_minute_end_with_it() throws Exception {
    Seen seen = new Seen();
    beat(happened("acme", 1, 1_000));
    pulse.watch("acme", seen, now);
    Step _ = last("acme");
    assertThat(seen.seconds.getLast().delays()).isNotNull();
    for (int second = 0; second < 61; second++) {
      beat();
    }
    assertThat(seen.seconds.getLast().delays()).isNull();
  }

  @Test
  void what_was_dropped_today_is_counted_over_a_restart_and_until_midnight() throws Exception {
    beat(happened("acme", 3));
    await(pulse.finish(List.of(), now));
    close();
    open();
    Seen seen = new Seen();
    pulse.watch("acme", seen, now);
    Step _ = last("acme");
    assertThat(seen.seconds.getLast().droppedToday()).isEqualTo(3);
    beat(happened("acme", 2));
    assertThat(seen.seconds.getLast().droppedToday()).isEqualTo(5);
    now = now.plusSeconds(60);
    beat();
    assertThat(seen.seconds.getLast().droppedToday()).isEqualTo(5);
    Step _ = last("acme");
    beat();
    Step _ = last("acme");
    assertThat(seen.seconds.getLast().droppedToday()).isEqualTo(5);
    now = Instant.parse("2026-03-02T00:00:00Z");
    beat();
    assertThat(seen.seconds.getLast().droppedToday()).isZero();
  }
}
