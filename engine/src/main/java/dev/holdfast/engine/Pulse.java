package dev.holdfast.engine;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.path.Activity;
import dev.holdfast.core.path.Delays;
import dev.holdfast.core.path.View;
import dev.holdfast.engine.ActivityReport.Span;
import dev.holdfast.engine.Watcher.Now;
import dev.holdfast.engine.Watcher.Watching;
import dev.holdfast.engine.store.ActivityRow;
import dev.holdfast.engine.store.ActivityRows;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes charts of what the loop has counted: takes it once a second, tells whoever watches, and
 * keeps each minute in the store when it is over.
 *
 * <p>Nothing here is on the path of a message. What is read from the store and written to it goes
 * through one thread of its own, and what came of it comes back in the same order: so what is not
 * written yet, together with what was read, is always all of it, and nothing twice.
 *
 * <p>Lives on the event loop.
 */
final class Pulse {
  private static final Logger log = LoggerFactory.getLogger(Pulse.class);

  /** Tenants of whom a minute is written; the others' counts go on into the next one. */
  static final int TENANTS_A_MINUTE = 1_000;

  /** Minutes that wait to be written; beyond that the oldest are forgotten. */
  static final int MOST_WAITING = 10_000;

  /** Changes of state of a tenant's endpoints that are told in a second; others are left out. */
  static final int MOST_CHANGES = 100;

  /** Reports that are made at once. */
  static final int MOST_REPORTS = 50;

  /** What may wait for the store; with more, nobody is told what it knows to be dropped. */
  private static final int MOST_READS = 1_000;

  /** Tenants whose last minute is remembered while nobody watches them. */
  private static final int MOST_RECENT = 5_000;

  private final ActivityRows rows;
  private final Executor eventLoop;
  private final Supplier<View> view;
  private final Readers thread = new Readers("holdfast-activity", 1);

  /** The minute that runs, by tenant: who has waited for longest first. */
  private final LinkedHashMap<String, Sum> running = new LinkedHashMap<>();

  /** Minutes that are over and not in the store yet, the oldest first. */
  private final Deque<ActivityRow> waiting = new ArrayDeque<>();

  private final Map<String, RecentDelays> recent = new HashMap<>();
  private final Map<String, Watched> watched = new HashMap<>();

  /** What was counted in the last second. */
  private Map<String, Activity> lastSecond = Map.of();

  /** Reports that were made since the last beat, or still are: whoever asks again gets the same. */
  private final Map<Wanted, Future<ActivityReport>> reports = new HashMap<>();

  private int reportsUnderWay;
  private final Seldom unwritten = new Seldom();
  private final Seldom untold = new Seldom();
  private @Nullable Instant minute;
  private boolean writing;

  /** Whether nothing is tried any more in this minute. */
  private boolean failed;

  private record Wanted(String tenant, Span span) {}

  /** What is counted of a tenant in the minute that runs. */
  private static final class Sum {
    long accepted;
    long delivered;
    long failed;
    long dropped;
    final Delays delays = new Delays();

    void add(Activity more) {
      accepted += more.accepted();
      delivered += more.delivered();
      failed += more.failed();
      dropped += more.dropped();
      delays.add(more.delays());
    }

    ActivityRow row(String tenant, Instant at) {
      Delays copied = new Delays();
      copied.add(delays);
      return new ActivityRow(
          at, new Activity(tenant, accepted, delivered, failed, dropped, copied));
    }
  }

  /** A tenant that somebody watches. */
  private static final class Watched {
    final List<Watcher> watchers = new ArrayList<>();

    /** Endpoints that have changed since the last beat. */
    List<Endpoint> changed = new ArrayList<>();

    /** Whether there are more of them. */
    boolean moreChanged;

    /** What the store had of the day's dropped messages, and of which day that is. */
    long dropped;

    Instant day = Instant.MIN;
  }

  /**
   * @param eventLoop runs what comes back from the store
   * @param view what can be seen of the loop now
   */
  Pulse(ActivityRows rows, Executor eventLoop, Supplier<View> view) {
    this.rows = rows;
    this.eventLoop = eventLoop;
    this.view = view;
  }

  /** A second has passed, in which this was counted. */
  void beat(List<Activity> counted, Instant now) {
    Map<String, Activity> second = new HashMap<>();
    for (Activity of : counted) {
      second.put(of.tenant(), of);
    }
    lastSecond = second;
    reports.values().removeIf(Future::isComplete);
    endMinute(now);
    count(counted, now);
    write(now);
    if (!watched.isEmpty()) {
      tellSecond(now);
    }
  }

  private void tellSecond(Instant now) {
    Map<String, Long> dropped = droppedUnwritten(dayOf(now));
    for (String tenant : List.copyOf(watched.keySet())) {
      Watched of = watched.get(tenant);
      if (of != null) {
        Now seen =
            now(tenant, of, dropped.getOrDefault(tenant, 0L), now, of.changed, of.moreChanged);
        of.changed = new ArrayList<>();
        of.moreChanged = false;
        List.copyOf(of.watchers).forEach(watcher -> tell(watcher, seen));
      }
    }
  }

  /** Nobody who watches can end what is watched. */
  private void tell(Watcher watcher, Now seen) {
    try {
      watcher.now(seen);
    } catch (RuntimeException e) {
      long times = untold.happened(seen.at());
      if (times > 0) {
        log.error(
            "activity.not-told times={} next=\"whoever watches is told again in a second; deliveries"
                + " go on; report this\"",
            times,
            e);
      }
    }
  }

  /** Counts something that no beat will bring, since its loop ends. */
  void count(List<Activity> counted, Instant now) {
    for (Activity of : counted) {
      running.computeIfAbsent(of.tenant(), _ -> new Sum()).add(of);
      if (of.delivered() > 0) {
        RecentDelays known = recent.get(of.tenant());
        if (known == null && (recent.size() < MOST_RECENT || watched.containsKey(of.tenant()))) {
          known = new RecentDelays();
          recent.put(of.tenant(), known);
        }
        if (known != null) {
          known.add(of.delays(), now);
        }
      }
    }
  }

  /** An endpoint has come into another state. It is told with the next beat: this is in a step. */
  void changed(Endpoint endpoint) {
    Watched of = watched.get(endpoint.tenant());
    if (of == null) {
      return;
    }
    if (of.changed.size() < MOST_CHANGES) {
      of.changed.add(endpoint);
    } else {
      of.moreChanged = true;
    }
  }

  // ---- minutes

  private static Instant minuteOf(Instant time) {
    return time.truncatedTo(ChronoUnit.MINUTES);
  }

  private static Instant dayOf(Instant time) {
    return time.truncatedTo(ChronoUnit.DAYS);
  }

  private void endMinute(Instant now) {
    Instant current = minuteOf(now);
    Instant before = minute;
    minute = current;
    if (before == null || before.equals(current)) {
      return;
    }
    keepForWriting(before, TENANTS_A_MINUTE);
    failed = false;
    recent.entrySet().removeIf(entry -> entry.getValue().isOver(now));
    if (waiting.isEmpty()) {
      removeOld(now);
    }
    watched.keySet().forEach(tenant -> countDropped(tenant, now));
  }

  private void keepForWriting(Instant at, int most) {
    Iterator<Map.Entry<String, Sum>> sums = running.entrySet().iterator();
    for (int kept = 0; kept < most && sums.hasNext(); kept++) {
      Map.Entry<String, Sum> sum = sums.next();
      waiting.add(sum.getValue().row(sum.getKey(), at));
      sums.remove();
    }
    while (waiting.size() > MOST_WAITING) {
      waiting.remove();
    }
  }

  /** Writes some of what waits: a little each second, so that no batch waits for it. */
  private void write(Instant now) {
    if (writing || failed || waiting.isEmpty()) {
      return;
    }
    List<ActivityRow> some = waiting.stream().limit(ActivityRows.AT_ONCE).toList();
    writing = true;
    thread.read(
        () -> {
          rows.add(some, now);
          return true;
        },
        _ -> eventLoop.execute(() -> written(some)),
        cause -> eventLoop.execute(() -> notWritten(cause, now)));
  }

  private void written(List<ActivityRow> some) {
    writing = false;
    for (ActivityRow row : some) {
      // Not there any more if so many wait that it was forgotten.
      waiting.removeFirstOccurrence(row);
      Watched of = watched.get(row.counts().tenant());
      if (of != null && of.day.equals(dayOf(row.at()))) {
        of.dropped += row.counts().dropped();
      }
    }
  }

  private void notWritten(Throwable cause, Instant now) {
    writing = false;
    failed = true;
    long times = unwritten.happened(now);
    if (times > 0) {
      log.warn(
          "activity.not-written times={} minutes={} next=\"tried again with the next minute;"
              + " deliveries go on, charts may have a gap\"",
          times,
          waiting.size(),
          cause);
    }
  }

  private void removeOld(Instant now) {
    thread.read(
        () -> {
          if (rows.hasOld(now)) {
            rows.add(List.of(), now);
          }
          return true;
        },
        _ -> {},
        cause -> eventLoop.execute(() -> notWritten(cause, now)));
  }

  /**
   * Writes the minute that runs, too, since the process ends. Completes when that is done, or
   * cannot be.
   */
  Future<Void> finish(List<Activity> last, Instant now) {
    count(last, now);
    keepForWriting(minuteOf(now), MOST_WAITING);
    failed = false;
    Promise<Void> finished = Promise.promise();
    finish(finished, now);
    return finished.future();
  }

  private void finish(Promise<Void> finished, Instant now) {
    if (writing) {
      // After what is being written; the thread does one thing after the other.
      thread.read(
          () -> true,
          _ -> eventLoop.execute(() -> finish(finished, now)),
          _ -> eventLoop.execute(finished::complete));
      return;
    }
    if (failed || waiting.isEmpty()) {
      finished.complete();
      return;
    }
    write(now);
    finish(finished, now);
  }

  /** Reads and writes nothing any more. Blocks for as long as the store needs to answer. */
  void close() {
    thread.forgetWaiting();
    thread.close();
  }

  // ---- what people see

  /**
   * What has happened of a tenant's until now, or a second ago. Fails with {@link TooManyReports}
   * if many others are under way.
   */
  Future<ActivityReport> report(String tenant, Span span, Instant now) {
    Wanted wanted = new Wanted(tenant, span);
    Future<ActivityReport> known = reports.get(wanted);
    if (known != null) {
      return known;
    }
    if (reportsUnderWay == MOST_REPORTS) {
      return Future.failedFuture(new TooManyReports());
    }
    reportsUnderWay++;
    Promise<ActivityReport> made = Promise.promise();
    reports.put(wanted, made.future().onComplete(_ -> reportsUnderWay--));
    thread.read(
        () -> {
          ActivitySum sum = new ActivitySum(span, span.from(now));
          rows.since(tenant, sum.from()).forEach(sum::add);
          return sum;
        },
        sum ->
            eventLoop.execute(
                () -> {
                  unwritten(tenant, now).forEach(sum::add);
                  made.complete(sum.report());
                }),
        cause -> eventLoop.execute(() -> made.fail(cause)));
    return made.future();
  }

  /** What is known of a tenant that the store has not. */
  private List<ActivityRow> unwritten(String tenant, Instant now) {
    List<ActivityRow> found = new ArrayList<>();
    for (ActivityRow row : waiting) {
      if (row.counts().tenant().equals(tenant)) {
        found.add(row);
      }
    }
    Sum sum = running.get(tenant);
    if (sum != null) {
      found.add(sum.row(tenant, minute == null ? minuteOf(now) : minute));
    }
    return found;
  }

  /** Tells somebody of a tenant from now on: first, as soon as the store has answered. */
  Watching watch(String tenant, Watcher watcher, Instant now) {
    Watched of = watched.computeIfAbsent(tenant, _ -> new Watched());
    Watching watching =
        () -> {
          of.watchers.remove(watcher);
          if (of.watchers.isEmpty()) {
            watched.remove(tenant, of);
          }
        };
    boolean isFirst = of.watchers.isEmpty();
    of.watchers.add(watcher);
    Future<?> known = isFirst ? countDropped(tenant, now) : Future.succeededFuture();
    known.onComplete(
        _ -> {
          if (of.watchers.contains(watcher)) {
            long dropped = droppedUnwritten(dayOf(now)).getOrDefault(tenant, 0L);
            tell(watcher, now(tenant, of, dropped, now, List.of(), false));
          }
        });
    return watching;
  }

  /** What watched tenants' messages were dropped since a time that the store has not. */
  private Map<String, Long> droppedUnwritten(Instant since) {
    Map<String, Long> dropped = new HashMap<>();
    for (ActivityRow row : waiting) {
      if (watched.containsKey(row.counts().tenant()) && !row.at().isBefore(since)) {
        dropped.merge(row.counts().tenant(), row.counts().dropped(), Long::sum);
      }
    }
    for (String tenant : watched.keySet()) {
      Sum sum = running.get(tenant);
      if (sum != null) {
        dropped.merge(tenant, sum.dropped, Long::sum);
      }
    }
    return dropped;
  }

  /** Looks how many of a tenant's messages the store knows to be dropped today. */
  private Future<Void> countDropped(String tenant, Instant now) {
    if (thread.waiting() >= MOST_READS) {
      return Future.succeededFuture();
    }
    Instant day = dayOf(now);
    Promise<Void> counted = Promise.promise();
    thread.read(
        () -> rows.droppedSince(tenant, day),
        dropped ->
            eventLoop.execute(
                () -> {
                  Watched of = watched.get(tenant);
                  if (of != null) {
                    of.day = day;
                    of.dropped = dropped;
                  }
                  counted.complete();
                }),
        _ -> eventLoop.execute(counted::complete));
    return counted.future();
  }

  private Now now(
      String tenant,
      Watched of,
      long droppedUnwritten,
      Instant now,
      List<Endpoint> changed,
      boolean moreChanged) {
    long dropped = droppedUnwritten + (of.day.equals(dayOf(now)) ? of.dropped : 0);
    Activity second = lastSecond.get(tenant);
    RecentDelays known = recent.get(tenant);
    return new Now(
        now,
        second == null ? 0 : second.accepted(),
        second == null ? 0 : second.delivered(),
        second == null ? 0 : second.failed(),
        known == null ? null : known.percentiles(now),
        view.get().tenant(tenant),
        dropped,
        changed,
        moreChanged);
  }
}
