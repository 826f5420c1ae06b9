package dev.holdfast.server.api;

import dev.holdfast.core.model.Health;
import dev.holdfast.core.path.View.EndpointNow;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.engine.store.EndpointReads.Outline;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Finds a tenant's endpoints in other orders than that of their ids, and by a part of their URL.
 *
 * <p>What they are sorted by changes all the time, so nobody keeps them sorted. It is copied in
 * small slices, between which the event loop does its work, and sorted on another thread; for a
 * second the copy serves whoever asks. Lives on the event loop.
 */
final class SortedEndpoints {
  private final Engine engine;

  /** The copies of tenants that were asked for last, the oldest first. */
  private final LinkedHashMap<String, Future<Copy>> copies = new LinkedHashMap<>();

  SortedEndpoints(Engine engine) {
    this.engine = engine;
  }

  /**
   * What is wanted.
   *
   * @param part of the masked URL, in lower case
   * @param after where the page begins; absent for the first one
   */
  record Wish(
      EndpointSort sort,
      @Nullable String part,
      Health.@Nullable State state,
      Cursor.@Nullable Place after,
      int limit) {

    private boolean fits(Outline endpoint) {
      return (state == null || endpoint.state() == state)
          && (part == null || endpoint.url().toLowerCase(Locale.ROOT).contains(part));
    }
  }

  Future<Page<EndpointNow>> page(String tenant, Wish wish) {
    return copy(tenant)
        .compose(copy -> onWorker(() -> copy.page(wish)))
        .compose(page -> asTheyAreNow(tenant, page));
  }

  /** Does something on another thread, and comes back in another turn of the event loop. */
  private <T> Future<T> onWorker(Callable<T> work) {
    Context context = engine.context();
    Promise<T> done = Promise.promise();
    context
        .executeBlocking(work, false)
        .map(Objects::requireNonNull)
        .onComplete(result -> context.runOnContext(_ -> done.handle(result)));
    return done.future();
  }

  private Future<Page<EndpointNow>> asTheyAreNow(String tenant, Page<Long> page) {
    return engine
        .endpoints(tenant, page.items())
        .map(
            found -> {
              Map<Long, EndpointNow> byId = new HashMap<>();
              found.forEach(now -> byId.put(now.endpoint().id(), now));
              return new Page<>(
                  page.items().stream().map(byId::get).filter(Objects::nonNull).toList(),
                  page.next());
            });
  }

  private Future<Copy> copy(String tenant) {
    Future<Copy> known = copies.get(tenant);
    if (known != null) {
      return known;
    }
    long underWay = copies.values().stream().filter(copy -> !copy.isComplete()).count();
    if (underWay >= ApiLimits.SORTED_COPIES) {
      return Future.failedFuture(
          new Refusal(
              Problem.of(
                      Kind.OVERLOADED,
                      "Endpoints of many tenants are being sorted. Send this again.")
                  .retryAfter(1)));
    }
    if (copies.size() == ApiLimits.SORTED_TENANTS) {
      copies.values().stream()
          .filter(Future::isComplete)
          .findFirst()
          .ifPresent(copies.values()::remove);
    }
    Future<Copy> made =
        engine
            .outlines(tenant, ApiLimits.SORTED_ENDPOINTS + 1)
            .orElseGet(() -> slices(tenant))
            .compose(all -> onWorker(() -> new Copy(all)));
    copies.put(tenant, made);
    made.onComplete(
        _ ->
            engine
                .context()
                .owner()
                .setTimer(
                    ApiLimits.SORTED_TIME.toMillis(),
                    _ -> engine.context().runOnContext(_ -> copies.remove(tenant, made))));
    return made;
  }

  private Future<List<Outline>> slices(String tenant) {
    return engine
        .look(view -> view.tenant(tenant))
        .compose(
            there ->
                (long) there.enabled() + there.disabled() + there.frozen()
                        > ApiLimits.SORTED_ENDPOINTS
                    ? Future.failedFuture(tooMany())
                    : slice(tenant, Long.MAX_VALUE, new ArrayList<>()));
  }

  /**
   * Copies one slice after the other. Each goes to another thread and back: so the event loop also
   * gets to what has come in from the network before it copies the next, which it would not if it
   * only put that behind what it has to do.
   */
  private Future<List<Outline>> slice(String tenant, long before, List<Outline> all) {
    return engine
        .look(view -> view.endpoints(tenant, before, ApiLimits.SORTED_SLICE))
        .compose(
            some ->
                onWorker(
                    () -> {
                      some.forEach(now -> all.add(outline(now)));
                      return some;
                    }))
        .compose(
            some ->
                some.size() < ApiLimits.SORTED_SLICE || all.size() > ApiLimits.SORTED_ENDPOINTS
                    ? Future.succeededFuture(all)
                    : slice(tenant, some.getLast().endpoint().id(), all));
  }

  private static Refusal tooMany() {
    return Refusal.of(
        Kind.INVALID_PARAMETER,
        "sort",
        "This tenant has more than "
            + ApiLimits.SORTED_ENDPOINTS
            + " endpoints, which are neither sorted nor searched. List them without sort and q.");
  }

  private static Outline outline(EndpointNow now) {
    var unfinished = now.unfinished();
    return new Outline(
        now.endpoint().id(),
        now.endpoint().url(),
        now.endpoint().health().state(),
        now.endpoint().health().consecutiveFailures(),
        (long) unfinished.pending()
            + unfinished.waiting()
            + unfinished.parked()
            + unfinished.paused());
  }

  /** A tenant's endpoints as they were, in each order that was asked for. */
  private static final class Copy {
    private final List<Outline> all;
    private final Map<EndpointSort, List<Outline>> sorted =
        Collections.synchronizedMap(new EnumMap<>(EndpointSort.class));

    Copy(List<Outline> found) {
      if (found.size() > ApiLimits.SORTED_ENDPOINTS) {
        throw tooMany();
      }
      all = found.stream().map(Copy::masked).toList();
    }

    private static Outline masked(Outline one) {
      String url = MaskedUrl.of(one.url());
      return url.equals(one.url())
          ? one
          : new Outline(one.id(), url, one.state(), one.consecutiveFailures(), one.unfinished());
    }

    Page<Long> page(Wish wish) {
      List<Outline> ordered =
          sorted.computeIfAbsent(wish.sort(), sort -> all.stream().sorted(sort.order()).toList());
      List<Long> ids = new ArrayList<>();
      Outline last = null;
      for (int i = start(ordered, wish); i < ordered.size(); i++) {
        Outline endpoint = ordered.get(i);
        if (wish.fits(endpoint)) {
          if (last != null && ids.size() == wish.limit()) {
            return new Page<>(ids, wish.sort().cursorAfter(last));
          }
          ids.add(endpoint.id());
          last = endpoint;
        }
      }
      return new Page<>(ids, null);
    }

    private static int start(List<Outline> ordered, Wish wish) {
      Cursor.Place after = wish.after();
      if (after == null) {
        return 0;
      }
      if (wish.sort() == EndpointSort.URL) {
        // The URL of an endpoint never changes, but is too long for a cursor.
        for (int i = 0; i < ordered.size(); i++) {
          if (ordered.get(i).id() == after.second()) {
            return i + 1;
          }
        }
        throw Cursor.refused();
      }
      return firstAfter(ordered, wish.sort(), after);
    }

    /** The first endpoint that comes after a place, whether one is there or not. */
    private static int firstAfter(List<Outline> ordered, EndpointSort sort, Cursor.Place after) {
      int low = 0;
      int high = ordered.size();
      while (low < high) {
        int middle = (low + high) >>> 1;
        Outline one = ordered.get(middle);
        long key = sort.key(one);
        boolean isAfter =
            key > after.first() || (key == after.first() && one.id() < after.second());
        if (isAfter) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    }
  }
}
