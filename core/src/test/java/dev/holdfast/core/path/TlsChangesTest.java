package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.EndpointTls.Change;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Imported.Result;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whom an endpoint trusts and who we are there. */
class TlsChangesTest {
  private static final String URL = "https://one.example/";
  private static final EndpointTls ONE = new EndpointTls("certificate", "key", null);
  private static final EndpointTls TWO = new EndpointTls(null, null, "roots");

  private final Crank crank = new Crank();

  private Answer configure(Subscription subscription, Change change) {
    return crank.ask(
        new Request.Configure(subscription.tenant(), subscription.endpoint(), null, change));
  }

  private @Nullable EndpointTls stored() {
    return crank.store.endpoints.values().iterator().next().tls();
  }

  private @Nullable EndpointTls sent() {
    crank.send("t", 1);
    return crank.sent.getLast().tls();
  }

  private static Wish wish(String url, String type, @Nullable EndpointTls tls) {
    Interest interest = new Interest(List.of(new TypePattern(type)), null, Filters.NONE);
    return new Wish(url, null, interest, Form.PLAIN, null, tls);
  }

  private static Patch patch(@Nullable String url, Change tls) {
    return new Patch(url, Interest.Change.NOTHING, Form.Change.NOTHING, null, null, tls);
  }

  @Test
  void what_is_set_counts_for_the_next_attempt_and_stays() {
    Subscription subscription = crank.subscribe(URL, "t");
    assertThat(sent()).isNull();
    assertThat(configure(subscription, Change.to(ONE))).isInstanceOf(Answer.EndpointIs.class);
    assertThat(sent()).isEqualTo(ONE);
    assertThat(stored()).isEqualTo(ONE);
    crank.crash();
    assertThat(sent()).isEqualTo(ONE);
    configure(subscription, new Change(false, false, null, null, true, "roots"));
    assertThat(sent()).isEqualTo(new EndpointTls("certificate", "key", "roots"));
    configure(subscription, Change.TO_NOTHING);
    assertThat(sent()).isNull();
    assertThat(stored()).isNull();
  }

  @Test
  void it_can_be_set_together_with_the_rate_limit_and_leaves_it_otherwise() {
    Subscription subscription = crank.subscribe(URL, "t");
    crank.ask(
        new Request.Configure(
            "default",
            subscription.endpoint(),
            new NewRateLimit(new RateLimit(5)),
            Change.to(ONE)));
    configure(subscription, Change.to(TWO));
    crank.ask(Request.Configure.limitRate("default", subscription.endpoint(), new RateLimit(6)));
    Endpoint endpoint = crank.store.endpoints.values().iterator().next();
    assertThat(endpoint.tls()).isEqualTo(TWO);
    assertThat(endpoint.rateLimit()).isEqualTo(new RateLimit(6));
  }

  @Test
  void a_subscription_may_bring_it_and_one_without_leaves_it() {
    crank.ask(new Request.Subscribe("default", wish(URL, "t", ONE), null));
    assertThat(stored()).isEqualTo(ONE);
    crank.subscribe(URL, "u");
    assertThat(stored()).isEqualTo(ONE);
    assertThat(sent()).isEqualTo(ONE);
  }

  @Test
  void a_changed_subscription_may_bring_it_to_its_endpoint_old_or_new() {
    Subscription subscription = crank.subscribe(URL, "t");
    crank.ask(new Request.Update("default", subscription.id(), patch(null, Change.to(ONE))));
    assertThat(stored()).isEqualTo(ONE);
    String other = "https://two.example/";
    crank.ask(new Request.Update("default", subscription.id(), patch(other, Change.to(TWO))));
    assertThat(crank.store.endpoints.values())
        .extracting(Endpoint::tls)
        .containsExactlyInAnyOrder(ONE, TWO);
    assertThat(sent()).isEqualTo(TWO);
  }

  @Test
  void where_nothing_is_encrypted_nothing_can_be_set() {
    Subscription subscription = crank.subscribe("http://one.example/", "t");
    assertUnfit(configure(subscription, Change.to(ONE)));
    assertUnfit(
        crank.ask(new Request.Update("default", subscription.id(), patch(null, Change.to(ONE)))));
    assertThat(configure(subscription, Change.TO_NOTHING)).isInstanceOf(Answer.EndpointIs.class);
    Subscription encrypted = crank.subscribe(URL, "u");
    assertUnfit(
        crank.ask(
            new Request.Update(
                "default", encrypted.id(), patch("http://one.example/", Change.to(ONE)))));
    assertThat(crank.store.endpoints.values()).allMatch(endpoint -> endpoint.tls() == null);
  }

  private static void assertUnfit(Answer answer) {
    assertThat(answer).isInstanceOf(Answer.Unfit.class);
    assertThat(((Answer.Unfit) answer).field()).isEqualTo("tls");
  }

  @Test
  void only_its_tenant_can_set_it() {
    Subscription subscription = crank.subscribe(URL, "t");
    assertThat(
            crank.ask(
                new Request.Configure("other", subscription.endpoint(), null, Change.to(ONE))))
        .isEqualTo(new Answer.NotFound());
    assertThat(sent()).isNull();
  }

  @Test
  void an_import_brings_it_or_changes_nothing() {
    assertThat(imported(wish(URL, "t", ONE))).containsExactly(Result.CREATED);
    assertThat(imported(wish(URL, "t", ONE))).containsExactly(Result.UNCHANGED);
    assertThat(imported(wish(URL, "t", null))).containsExactly(Result.UNCHANGED);
    assertThat(imported(wish(URL, "t", TWO))).containsExactly(Result.CHANGED);
    assertThat(stored()).isEqualTo(TWO);
    crank.failNextCommit = StoreException.Kind.FULL;
    assertThat(ask(wish(URL, "u", ONE))).isInstanceOf(Answer.Refused.class);
    crank.pass(Duration.ofSeconds(10));
    assertThat(stored()).isEqualTo(TWO);
    assertThat(sent()).isEqualTo(TWO);
  }

  private Answer ask(Wish wish) {
    return crank.ask(
        new Request.Import("default", List.of(new Request.Imported(wish, true)), false));
  }

  private List<Result> imported(Wish wish) {
    return ((Answer.Imported) ask(wish))
        .items().stream().map(Answer.Imported.Item::result).toList();
  }
}
