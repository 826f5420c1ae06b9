package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.path.View.TenantNow;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What is counted of each tenant, for charts. */
final class ActivityTest {
  private final Crank crank = new Crank();

  private Activity only() {
    List<Activity> taken = crank.loop.takeActivity();
    assertThat(taken).hasSize(1);
    return taken.getFirst();
  }

  @Test
  void events_and_deliveries_are_counted_for_their_tenant_and_once() {
    crank.subscribeFor("acme", "https://acme.test/", "t");
    crank.subscribeFor("other", "https://other.test/", "t");
    crank.send("acme", "t", 3);
    crank.send("other", "t", 1);
    List<Activity> taken = crank.loop.takeActivity();
    assertThat(taken).extracting(Activity::tenant).containsExactly("acme", "other");
    assertThat(taken).extracting(Activity::accepted).containsExactly(3L, 1L);
    assertThat(taken).extracting(Activity::delivered).containsExactly(3L, 1L);
    assertThat(crank.loop.takeActivity()).isEmpty();
  }

  @Test
  void failed_attempts_and_dropped_messages_are_counted() {
    crank.receiver = _ -> Crank.DOWN;
    crank.subscribe("https://acme.test/", "t");
    crank.send("t", 1);
    Activity first = only();
    assertThat(first.accepted()).isEqualTo(1);
    assertThat(first.failed()).isEqualTo(1);
    assertThat(first.dropped()).isZero();
    assertThat(first.delays().percentiles()).isNull();
    crank.pass(Duration.ofDays(4));
    Activity rest = only();
    assertThat(rest.failed()).isEqualTo(Crank.SCHEDULE.retries());
    assertThat(rest.dropped()).isEqualTo(1);
  }

  @Test
  void a_tenant_without_endpoints_is_forgotten_when_its_events_are_told() {
    Activities activities = new Activities();
    TenantCounts known = activities.of("acme");
    known.lanes++;
    known.accepted();
    activities.of("nobody").accepted();
    assertThat(activities.take()).extracting(Activity::tenant).containsExactly("acme", "nobody");
    assertThat(activities.of("acme")).isSameAs(known);
    assertThat(activities.size()).isEqualTo(1);
    activities.of("nobody").accepted();
    assertThat(activities.take()).extracting(Activity::accepted).containsExactly(1L);
  }

  @Test
  void nothing_is_counted_before_it_is_on_disk() {
    crank.subscribe("https://acme.test/", "t");
    crank.holdCommits = true;
    crank.askLater(Crank.submit("default", "t", 1));
    assertThat(crank.loop.takeActivity()).isEmpty();
    crank.commitOne();
    assertThat(only().accepted()).isEqualTo(1);
    assertThat(crank.sent).hasSize(1);
    assertThat(crank.loop.takeActivity()).isEmpty();
    crank.commit();
    assertThat(only().delivered()).isEqualTo(1);
  }

  @Test
  void what_the_store_could_not_keep_is_not_counted() {
    crank.subscribe("https://acme.test/", "t");
    crank.failNextCommit = StoreException.Kind.FULL;
    crank.send("t", 5);
    assertThat(crank.loop.takeActivity()).isEmpty();
  }

  @Test
  void a_delay_goes_from_acceptance_to_the_end_of_the_attempt() {
    crank.receiver = _ -> null;
    crank.subscribe("https://acme.test/", "t");
    crank.send("t", 1);
    crank.receiver = _ -> Crank.OK;
    crank.endAll(Crank.DOWN);
    crank.pass(Duration.ofMinutes(10));
    Delays.Percentiles delays = Objects.requireNonNull(only().delays().percentiles());
    long waited = Duration.between(Crank.START, crank.sent.getLast().startedAt()).toMillis();
    assertThat(delays.p50Millis()).isBetween(waited * 7 / 8, waited * 9 / 8 + 1);
  }

  @Test
  void what_there_is_of_a_tenant_is_what_its_endpoints_tell() {
    Subscription one = crank.subscribeFor("acme", "https://one.test/", "t");
    Subscription two = crank.subscribeFor("acme", "https://two.test/", "u");
    crank.subscribeFor("other", "https://other.test/", "t");
    crank.operate(two, Operation.DISABLE);
    crank.receiver = _ -> Crank.DOWN;
    crank.send("acme", "t", 2);
    crank.send("acme", "u", 3);
    assertThat(crank.loop.tenant("acme")).isEqualTo(new TenantNow(0, 2, 3, 1, 1, 0));
    crank.operate(one, Operation.FREEZE);
    assertThat(crank.loop.tenant("acme").frozen()).isEqualTo(1);
    assertThat(crank.loop.tenant("other")).isEqualTo(new TenantNow(0, 0, 0, 1, 0, 0));
    crank.crash();
    assertThat(crank.loop.tenant("acme")).isEqualTo(new TenantNow(0, 2, 3, 0, 1, 1));
    assertThat(crank.loop.tenant("nobody")).isEqualTo(TenantNow.NOTHING);
  }

  @Test
  void a_delay_is_read_to_a_quarter_and_the_buckets_can_be_added_up() {
    Delays all = new Delays();
    for (long millis = 1; millis <= 1_000; millis++) {
      Delays one = new Delays();
      one.add(millis);
      all.add(one);
    }
    Delays.Percentiles read = Objects.requireNonNull(all.percentiles());
    assertThat(read.p50Millis()).isBetween(450L, 550L);
    assertThat(read.p95Millis()).isBetween(900L, 1_000L);
    assertThat(read.p99Millis()).isBetween(940L, 1_023L);
    assertThat(new Delays().percentiles()).isNull();
  }

  @Test
  void a_time_of_any_length_has_its_bucket() {
    for (long millis = 1; millis > 0; millis = millis * 3 + 1) {
      Delays delays = new Delays();
      delays.add(millis);
      Delays.Percentiles read = Objects.requireNonNull(delays.percentiles());
      long known = Math.min(millis, (1L << 30) - 1);
      assertThat(read.p99Millis()).isBetween(known * 3 / 4, known * 5 / 4 + 1);
    }
    Delays early = new Delays();
    early.add(-5);
    assertThat(early.percentiles()).isEqualTo(new Delays.Percentiles(0, 0, 0));
  }
}
