package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.path.View;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.http.Attempts;
import dev.holdfast.engine.store.Retention;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TestMessagesTest {
  private static final String TENANT = "default";

  /** A request as it came. */
  private record Arrived(Map<String, List<String>> headers, String body) {
    @Nullable String header(String name) {
      return headers.containsKey(name) ? headers.get(name).getFirst() : null;
    }
  }

  @TempDir Path data;

  private final Instant now = Instant.now();
  private final Vertx vertx = Vertx.vertx();
  private final BlockingQueue<Arrived> arrived = new LinkedBlockingQueue<>();
  private final HttpServer receiver = receiver();
  private @Nullable Holdfast engine;

  @BeforeEach
  void open() throws Exception {
    engine =
        Holdfast.open(
            new Options(
                data,
                new RetrySchedule(Duration.ofMillis(84_800), 11),
                new EndpointHealth(
                    100, 700_000, 1_000, 2_000, Duration.ofDays(3), 50_000, Duration.ofMinutes(10)),
                Recovery.DRAIN,
                Limits.forHeap(256L << 20, 32),
                Duration.ofSeconds(20),
                Egress.direct(EgressRules.allowing(List.of("127.0.0.0/8"))),
                "Holdfast/test",
                Retention.FOREVER),
            vertx,
            InstantSource.system(),
            e -> {});
  }

  @AfterEach
  void close() {
    engine().stop().await();
    vertx.close().await();
  }

  @Test
  void a_test_message_has_the_form_of_the_one_subscription_and_is_signed() throws Exception {
    Form form =
        new Form(Format.WORKFRONT, true, "token", new TreeMap<>(Map.of("x-shop", "7")), secrets(1));
    Subscription subscription = subscribe("order.*", form);

    Arrived message = test(subscription);

    new Webhook(form.secrets().getFirst().text()).verify(message.body(), message.headers());
    assertThat(message.header("authorization")).isEqualTo("Bearer token");
    assertThat(message.header("x-shop")).isEqualTo("7");
    assertThat(message.body())
        .startsWith("{\"eventType\":\"test\",\"subscriptionId\":\"" + id(subscription) + "\",")
        .endsWith(",\"oldState\":\"e30=\"}");
  }

  @Test
  void every_subscription_of_an_endpoint_can_verify_a_test_message() throws Exception {
    Form one = new Form(Format.CLOUDEVENTS, false, "token", new TreeMap<>(), secrets(1));
    Form two = new Form(Format.HOLDFAST, false, "token", new TreeMap<>(), secrets(2));
    Subscription subscription = subscribe("order.*", one);
    subscribe("invoice.*", two);

    Arrived message = test(subscription);

    new Webhook(one.secrets().getFirst().text()).verify(message.body(), message.headers());
    new Webhook(two.secrets().getFirst().text()).verify(message.body(), message.headers());
    assertThatThrownBy(
            () ->
                new Webhook(secrets(3).getFirst().text()).verify(message.body(), message.headers()))
        .isInstanceOf(WebhookVerificationException.class);
    assertThat(message.header("authorization")).isEqualTo("Bearer token");
    assertThat(message.body()).startsWith("{\"id\":").contains("\"type\":\"holdfast.test\"");
  }

  @Test
  void a_test_message_for_nobody_is_plain() throws Exception {
    Subscription subscription = subscribe("order.*", Form.PLAIN);
    assertThat(test(subscription).headers()).doesNotContainKey("webhook-signature");
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    engine().ask(new Request.Unsubscribe(TENANT, subscription.id()), answer::complete);
    assertThat(answer.get(30, TimeUnit.SECONDS)).isInstanceOf(Answer.Unsubscribed.class);
    assertThat(test(subscription).body()).contains("\"type\":\"holdfast.test\"");
  }

  @Test
  void several_forms_have_in_common_what_they_agree_on() {
    Form first =
        new Form(Format.WORKFRONT, true, "token", new TreeMap<>(Map.of("a", "b")), secrets(1, 2));
    Form second =
        new Form(Format.WORKFRONT, true, "token", new TreeMap<>(Map.of("a", "b")), secrets(2, 3));
    Form third =
        new Form(Format.WORKFRONT, false, null, new TreeMap<>(Map.of("a", "c")), secrets(4));

    assertThat(TestMessages.common(List.of(), now)).isEqualTo(Form.PLAIN);
    Form alike = TestMessages.common(List.of(first, second), now);
    assertThat(alike.format()).isEqualTo(Format.WORKFRONT);
    assertThat(alike.base64()).isTrue();
    assertThat(alike.authToken()).isEqualTo("token");
    assertThat(alike.headers()).isEqualTo(first.headers());
    assertThat(alike.secrets())
        .extracting(Secret::text)
        .containsExactlyElementsOf(secrets(3, 2, 1).stream().map(Secret::text).toList());
    Form unlike = TestMessages.common(List.of(first, third, second), now);
    assertThat(unlike.format()).isEqualTo(Format.HOLDFAST);
    assertThat(unlike.base64()).isFalse();
    assertThat(unlike.authToken()).isNull();
    assertThat(unlike.headers()).isEmpty();
    assertThat(unlike.secrets()).hasSize(4);
  }

  @Test
  void a_test_message_is_in_the_version_that_all_have() {
    Form first = workfront(new Edition(Version.V1, now));
    Form second = workfront(new Edition(Version.V1, null));
    Form third = workfront(Edition.NEWEST);
    assertThat(TestMessages.common(List.of(first, second), now).version()).isEqualTo(Version.V1);
    assertThat(TestMessages.common(List.of(first, third), now).version()).isEqualTo(Version.V2);
    assertThat(TestMessages.common(List.of(first, Form.PLAIN), now).version())
        .isEqualTo(Version.V2);
  }

  private static Form workfront(Edition edition) {
    return new Form(Format.WORKFRONT, edition, false, null, new TreeMap<>(), List.of());
  }

  @Test
  void secrets_that_are_not_valid_any_more_sign_no_test_message() {
    Secret ended = new Secret(secrets(1).getFirst().text(), now.minusSeconds(9), now);
    Form form = new Form(Format.HOLDFAST, false, null, new TreeMap<>(), List.of(ended));
    assertThat(TestMessages.common(List.of(form, Form.PLAIN), now).secrets()).isEmpty();
  }

  @Test
  void a_test_message_has_no_more_signatures_than_fit_into_a_header() {
    Form form =
        new Form(
            Format.HOLDFAST,
            false,
            null,
            new TreeMap<>(),
            secrets(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21));
    assertThat(TestMessages.common(List.of(form, Form.PLAIN), now).secrets())
        .hasSize(20)
        .doesNotContain(form.secrets().getFirst());
  }

  @Test
  void with_too_many_tests_under_way_nothing_is_looked_at() {
    List<Attempts.Ended> underWay = new ArrayList<>();
    ManySubscriptions view = new ManySubscriptions(0);
    TestMessages tests =
        new TestMessages((_, ended) -> underWay.add(ended), InstantSource.fixed(now));
    for (int i = 0; i < 16; i++) {
      assertThat(tests.send(view, TENANT, 1).isComplete()).isFalse();
    }
    view.looks = 0;
    assertThat(tests.send(view, TENANT, 1).cause()).isInstanceOf(TooManyTests.class);
    assertThat(view.looks).isZero();

    underWay.getFirst().ended(new Outcome.Success(200, new byte[0]), 1);
    assertThat(tests.send(view, TENANT, 1).isComplete()).isFalse();
  }

  @Test
  void an_endpoints_subscriptions_are_found_among_many_a_part_at_a_time() {
    List<Delivery> sent = new ArrayList<>();
    TestMessages tests =
        new TestMessages((delivery, _) -> sent.add(delivery), InstantSource.fixed(now));
    ManySubscriptions view = new ManySubscriptions(2_500);

    tests.send(view, TENANT, 1);
    assertThat(sent.getLast().subscription().id()).isEqualTo(1);
    assertThat(view.most).isLessThanOrEqualTo(1_000);

    view = new ManySubscriptions(100_000);
    tests.send(view, TENANT, 1);
    assertThat(sent.getLast().subscription().form()).isEqualTo(Form.PLAIN);
    assertThat(sent.getLast().subscription().id()).isZero();
  }

  /** One subscription of the endpoint 1, and then this many newer ones of others. */
  private final class ManySubscriptions implements View {
    private final int others;
    int looks;
    int most;

    ManySubscriptions(int others) {
      this.others = others;
    }

    @Override
    public List<Subscription> subscriptions(String tenant, long before, int limit) {
      looks++;
      most = Math.max(most, limit);
      return LongStream.iterate(Math.min(before - 1, others + 1), id -> id > 0, id -> id - 1)
          .limit(limit)
          .mapToObj(
              id ->
                  new Subscription(
                      id,
                      tenant,
                      id,
                      new Interest(List.of(new TypePattern("*")), null, Filters.NONE),
                      Form.PLAIN,
                      now))
          .toList();
    }

    @Override
    public Optional<EndpointNow> endpoint(String tenant, long id) {
      looks++;
      return Optional.of(
          new EndpointNow(
              new Endpoint(id, tenant, "http://127.0.0.1/", Health.created(now)),
              new Unfinished(0, 0, 0, 0)));
    }

    @Override
    public Optional<Subscription> subscription(String tenant, long id) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Numbered objectSubscriptions(String tenant, long skipped, int limit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<EndpointNow> endpoints(String tenant, long before, int limit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Gauges gauges() {
      throw new UnsupportedOperationException();
    }

    @Override
    public TenantNow tenant(String tenant) {
      throw new UnsupportedOperationException();
    }
  }

  private Arrived test(Subscription subscription) throws InterruptedException {
    assertThat(engine().test(TENANT, subscription.endpoint()).await().orElseThrow().outcome())
        .isInstanceOf(Outcome.Success.class);
    Arrived message = arrived.poll(30, TimeUnit.SECONDS);
    if (message == null) {
      throw new AssertionError("nothing came");
    }
    return message;
  }

  private Subscription subscribe(String type, Form form) throws Exception {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    Interest interest = new Interest(List.of(new TypePattern(type)), null, Filters.NONE);
    String url = "http://127.0.0.1:" + receiver.actualPort() + "/";
    engine()
        .ask(
            new Request.Subscribe(TENANT, new Request.Wish(url, interest, form, null), null),
            answer::complete);
    return ((Answer.Subscribed) answer.get(30, TimeUnit.SECONDS)).subscription();
  }

  /** A secret for each number; the larger the number, the newer. */
  private List<Secret> secrets(int... numbers) {
    return Arrays.stream(numbers)
        .mapToObj(
            number -> {
              byte[] key = new byte[24];
              key[0] = (byte) number;
              return new Secret(
                  "whsec_" + Base64.getEncoder().encodeToString(key), now.plusMillis(number), null);
            })
        .toList();
  }

  private static String id(Subscription subscription) {
    return Id.text(Id.SUBSCRIPTION, subscription.id());
  }

  private Holdfast engine() {
    if (engine == null) {
      throw new AssertionError("not opened");
    }
    return engine;
  }

  private HttpServer receiver() {
    return vertx
        .createHttpServer()
        .requestHandler(
            request ->
                request
                    .body()
                    .onSuccess(
                        body -> {
                          Map<String, List<String>> headers = new TreeMap<>();
                          request
                              .headers()
                              .names()
                              .forEach(
                                  name ->
                                      headers.put(
                                          name.toLowerCase(Locale.ROOT),
                                          request.headers().getAll(name)));
                          arrived.add(new Arrived(headers, body.toString()));
                          request.response().end();
                        }))
        .listen(0, "127.0.0.1")
        .await();
  }
}
