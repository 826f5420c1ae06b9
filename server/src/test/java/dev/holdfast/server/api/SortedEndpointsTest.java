package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Health.Reason;
import dev.holdfast.core.model.Health.State;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Endpoints in other orders than that of their ids. */
class SortedEndpointsTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final int VERY_MANY = 100_000;
  private static final List<State> STATES = List.of(State.DISABLED, State.FROZEN, State.ENABLED);
  private static final List<String> SORTS =
      List.of("newest", "url", "state", "failures", "waiting");

  private final Vertx vertx = Vertx.vertx();
  private final FakeEngine engine = new FakeEngine(vertx);
  private final FakeView view = new FakeView();
  private final Map<String, Endpoint> all = new HashMap<>();
  private final Map<String, Integer> waiting = new HashMap<>();
  private final TestServer server;

  SortedEndpointsTest() throws Exception {
    engine.view = () -> view;
    server = TestServer.start(engine, ApiLimits.defaults());
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private String add(long number, String url, State state, int failures, Unfinished unfinished) {
    Health health =
        new Health(
            state,
            NOW,
            Reason.CREATED,
            NOW,
            0,
            0,
            Bucket.EMPTY,
            Bucket.EMPTY,
            failures,
            null,
            null);
    Endpoint endpoint = new Endpoint(number << 22, "default", url, health);
    view.add(endpoint, unfinished);
    String id = Id.text(Id.ENDPOINT, endpoint.id());
    all.put(id, endpoint);
    waiting.put(
        id,
        unfinished.pending() + unfinished.waiting() + unfinished.parked() + unfinished.paused());
    return id;
  }

  private void addMany(int count) {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 1; i <= count; i++) {
      add(
          i,
          "https://host%d.example/Path/%d?key=%d".formatted(random.nextInt(1_000), i, i),
          STATES.get(random.nextInt(STATES.size())),
          random.nextInt(40),
          new Unfinished(
              random.nextInt(3), random.nextInt(3), random.nextInt(3), random.nextInt(3)));
    }
  }

  private Comparator<String> order(String sort) {
    Comparator<String> byId = Comparator.reverseOrder();
    return switch (sort) {
      case "url" ->
          Comparator.<String, String>comparing(id -> endpoint(id).url()).thenComparing(byId);
      case "state" ->
          Comparator.<String>comparingInt(id -> STATES.indexOf(endpoint(id).health().state()))
              .thenComparing(byId);
      case "failures" ->
          Comparator.<String>comparingInt(id -> -endpoint(id).health().consecutiveFailures())
              .thenComparing(byId);
      case "waiting" ->
          Comparator.<String>comparingInt(id -> -waiting.getOrDefault(id, 0)).thenComparing(byId);
      default -> byId;
    };
  }

  private Endpoint endpoint(String id) {
    Endpoint endpoint = all.get(id);
    if (endpoint == null) {
      throw new AssertionError(id);
    }
    return endpoint;
  }

  private JsonNode get(String path) throws Exception {
    Reply reply = server.get(path);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  private List<String> walk(String query, int most) throws Exception {
    List<String> found = new ArrayList<>();
    String next = "";
    while (next != null && found.size() < most) {
      JsonNode page = get("/v1/endpoints?" + query + (next.isEmpty() ? "" : "&cursor=" + next));
      page.get("items").forEach(item -> found.add(item.get("id").asString()));
      next = page.get("next").isNull() ? null : page.get("next").asString();
    }
    return found;
  }

  @Test
  void a_hundred_thousand_endpoints_are_paged_in_every_order_without_a_gap() throws Exception {
    addMany(VERY_MANY);
    for (String sort : SORTS) {
      List<String> expected = new ArrayList<>(all.keySet());
      expected.sort(order(sort));
      assertThat(walk("sort=" + sort + "&limit=500", 1_000)).isEqualTo(expected.subList(0, 1_000));
      List<String> narrow =
          expected.stream()
              .filter(
                  id -> endpoint(id).url().toLowerCase(Locale.ROOT).contains("host77.example/path"))
              .toList();
      assertThat(narrow).hasSizeGreaterThan(50);
      assertThat(walk("sort=" + sort + "&limit=30&q=HOST77.example/pATH", VERY_MANY))
          .isEqualTo(narrow);
      assertThat(walk("sort=" + sort + "&limit=100&state=frozen&q=host77.", VERY_MANY))
          .isEqualTo(
              narrow.stream().filter(id -> endpoint(id).health().state() == State.FROZEN).toList());
    }
  }

  @Test
  void whole_lists_are_the_same_whatever_the_pages() throws Exception {
    addMany(2_300);
    for (String sort : SORTS) {
      List<String> expected = new ArrayList<>(all.keySet());
      expected.sort(order(sort));
      for (int limit : List.of(100, 1_000)) {
        assertThat(walk("sort=" + sort + "&limit=" + limit, Integer.MAX_VALUE)).isEqualTo(expected);
      }
    }
  }

  @Test
  void the_event_loop_turns_between_the_slices_that_are_copied() throws Exception {
    addMany(5 * ApiLimits.SORTED_SLICE);
    AtomicInteger sinceTurned = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger slices = new AtomicInteger();
    view.whenListed =
        () -> {
          slices.incrementAndGet();
          most.accumulateAndGet(sinceTurned.incrementAndGet(), Math::max);
          engine.context().runOnContext(_ -> sinceTurned.set(0));
        };
    get("/v1/endpoints?sort=url");
    assertThat(slices.get()).isEqualTo(6);
    assertThat(most.get()).isEqualTo(1);
  }

  @Test
  void too_many_endpoints_are_refused_without_a_copy() throws Exception {
    view.enabled = ApiLimits.SORTED_ENDPOINTS + 1;
    view.whenListed =
        () -> {
          throw new AssertionError("they are copied");
        };
    Reply refused = server.get("/v1/endpoints?sort=url");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("more than 200000 endpoints");
  }

  @Test
  void a_copy_that_failed_is_not_made_again_at_once() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    view.whenListed =
        () -> {
          looks.incrementAndGet();
          throw new IllegalStateException("cannot be seen");
        };
    var sorted = new SortedEndpoints(engine);
    List<Future<?>> pages = onLoop(() -> List.of(page(sorted, "a"), page(sorted, "a")));
    for (Future<?> page : pages) {
      assertThatThrownBy(page::await).hasMessage("cannot be seen");
    }
    assertThatThrownBy(() -> onLoop(() -> page(sorted, "a")).await()).hasMessage("cannot be seen");
    assertThat(looks.get()).isEqualTo(1);
  }

  private static Future<?> page(SortedEndpoints sorted, String tenant) {
    return sorted.page(tenant, new SortedEndpoints.Wish(EndpointSort.URL, null, null, null, 10));
  }

  private <T> T onLoop(Supplier<T> work) throws Exception {
    CompletableFuture<T> done = new CompletableFuture<>();
    engine.context().runOnContext(_ -> done.complete(work.get()));
    return done.get(30, TimeUnit.SECONDS);
  }

  @Test
  void only_a_few_tenants_endpoints_are_copied_at_once_and_others_wait_for_none() throws Exception {
    var sorted = new SortedEndpoints(engine);
    List<Future<?>> first =
        onLoop(
            () -> {
              List<Future<?>> begun = new ArrayList<>();
              for (int i = 0; i <= ApiLimits.SORTED_COPIES; i++) {
                begun.add(page(sorted, "tenant-" + i));
              }
              begun.add(page(sorted, "tenant-0"));
              return begun;
            });
    assertThatThrownBy(first.get(ApiLimits.SORTED_COPIES)::await)
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.problem().kind()).isEqualTo(Problem.Kind.OVERLOADED));
    for (int i = 0; i < ApiLimits.SORTED_COPIES; i++) {
      first.get(i).await();
    }
    first.getLast().await();
    for (int i = 0; i < 3 * ApiLimits.SORTED_TENANTS; i++) {
      String tenant = "later-" + i;
      onLoop(() -> page(sorted, tenant)).await();
    }
  }

  @Test
  void a_search_sees_the_url_as_it_is_shown() throws Exception {
    String one = add(1, "https://a.example/hook?token=abc", State.ENABLED, 0, Unfinished.NOTHING);
    String two = add(2, "https://abc.example/", State.ENABLED, 0, Unfinished.NOTHING);
    assertThat(walk("q=abc", 10)).containsExactly(two);
    assertThat(walk("q=token", 10)).containsExactly(one);
    assertThat(walk("q=.EXAMPLE", 10)).containsExactly(two, one);
    assertThat(walk("q=%25", 10)).isEmpty();
    assertThat(walk("q=nowhere&sort=url", 10)).isEmpty();
  }

  @Test
  void a_tenant_without_endpoints_has_an_empty_list_in_every_order() throws Exception {
    for (String sort : SORTS) {
      assertThat(get("/v1/endpoints?sort=" + sort).toString())
          .isEqualTo("{\"items\":[],\"next\":null}");
    }
  }

  @Test
  void a_cursor_by_url_whose_endpoint_is_not_there_is_refused() throws Exception {
    add(1, "https://a.example/", State.ENABLED, 0, Unfinished.NOTHING);
    String cursor = Cursor.text(Cursor.List.ENDPOINTS_BY_URL, new Cursor.Place(0, 99));
    assertThat(server.get("/v1/endpoints?sort=url&cursor=" + cursor).status()).isEqualTo(400);
  }
}
