package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Answer.Imported.Result;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Request.Imported;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ImportsTest {
  private static final String ONE = "http://one.example/";
  private static final String TWO = "http://two.example/";

  private final Crank crank = new Crank();

  private static Imported wanted(String url, String type, Format format, @Nullable String secret) {
    List<Secret> secrets = List.of(new Secret(secret == null ? "made" : secret, Crank.START, null));
    return new Imported(
        new Wish(
            url,
            new Interest(List.of(new TypePattern(type)), null, Filters.NONE),
            new Form(format, false, null, new TreeMap<>(), secrets),
            null),
        secret == null);
  }

  private static Imported wanted(String url, String type) {
    return wanted(url, type, Format.HOLDFAST, null);
  }

  private List<Result> results(Imported... wanted) {
    return imported(wanted).stream().map(Item::result).toList();
  }

  private List<Item> imported(Imported... wanted) {
    Answer answer = crank.ask(new Request.Import("default", List.of(wanted), false));
    return ((Answer.Imported) answer).items();
  }

  private List<Subscription> stored() {
    return List.copyOf(crank.store.subscriptions.values());
  }

  @Test
  void what_is_not_there_is_created() {
    assertThat(results(wanted(ONE, "a"), wanted(ONE, "b"), wanted(TWO, "a")))
        .containsOnly(Result.CREATED)
        .hasSize(3);
    assertThat(stored()).hasSize(3);
    assertThat(crank.store.endpoints).hasSize(2);
    crank.send("a", 1);
    crank.pass(Duration.ofSeconds(1));
    assertThat(crank.taken).hasSize(2);
  }

  @Test
  void the_same_once_more_changes_nothing() {
    imported(wanted(ONE, "a"), wanted(TWO, "a", Format.CLOUDEVENTS, "given"));
    List<Subscription> before = stored();
    assertThat(results(wanted(TWO, "a", Format.CLOUDEVENTS, "given"), wanted(ONE, "a")))
        .containsOnly(Result.UNCHANGED);
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void what_is_there_with_the_same_url_types_and_subject_is_changed_in_place() {
    long id = imported(wanted(ONE, "a")).getFirst().subscription().id();
    List<Item> items = imported(wanted(ONE, "a", Format.CLOUDEVENTS, null));
    assertThat(items.getFirst().result()).isEqualTo(Result.CHANGED);
    assertThat(items.getFirst().subscription().id()).isEqualTo(id);
    Subscription only = stored().getFirst();
    assertThat(stored()).hasSize(1);
    assertThat(only.form().format()).isEqualTo(Format.CLOUDEVENTS);
    assertThat(only.form().secrets()).extracting(Secret::text).containsExactly("made");
  }

  @Test
  void one_that_is_all_the_same_is_found_before_others_that_are_alike() {
    imported(wanted(ONE, "a"), wanted(ONE, "a", Format.CLOUDEVENTS, null));
    assertThat(
            results(
                wanted(ONE, "a", Format.WORKFRONT, null),
                wanted(ONE, "a", Format.CLOUDEVENTS, null),
                wanted(ONE, "a", Format.HOLDFAST, null)))
        .containsExactly(Result.CREATED, Result.UNCHANGED, Result.UNCHANGED);
  }

  @Test
  void another_secret_is_a_rotation() {
    imported(wanted(ONE, "a", Format.HOLDFAST, "first"));
    imported(wanted(ONE, "a", Format.HOLDFAST, "second"));
    assertThat(stored().getFirst().form().secretsAt(crank.now))
        .extracting(Secret::text)
        .containsExactly("second", "first");
  }

  @Test
  void a_rate_limit_becomes_the_endpoints() {
    Wish wish = wanted(ONE, "a").wish();
    Imported limited =
        new Imported(new Wish(ONE, wish.interest(), wish.form(), new RateLimit(3)), true);
    assertThat(results(limited)).containsExactly(Result.CREATED);
    assertThat(results(limited)).containsExactly(Result.UNCHANGED);
    assertThat(crank.store.endpoints.values())
        .extracting(endpoint -> endpoint.rateLimit())
        .containsExactly(new RateLimit(3));
    imported(wanted(ONE, "b"));
    assertThat(results(wanted(ONE, "a"))).containsExactly(Result.UNCHANGED);
  }

  @Test
  void a_dry_run_tells_and_does_nothing() {
    imported(wanted(ONE, "a"));
    Answer answer =
        crank.ask(
            new Request.Import(
                "default",
                List.of(
                    wanted(ONE, "a"), wanted(ONE, "b"), wanted(ONE, "a", Format.WORKFRONT, null)),
                true));
    assertThat(((Answer.Imported) answer).items())
        .extracting(Item::result)
        .containsExactly(Result.UNCHANGED, Result.CREATED, Result.CREATED);
    assertThat(stored()).hasSize(1);
    assertThat(crank.store.endpoints).hasSize(1);
  }

  @Test
  void another_tenants_subscriptions_are_left_alone() {
    crank.subscribeFor("other", ONE, "a");
    assertThat(results(wanted(ONE, "a"))).containsExactly(Result.CREATED);
    assertThat(stored()).hasSize(2);
  }

  @Test
  void on_a_full_disk_nothing_of_it_is_there_and_it_can_be_done_later() {
    imported(wanted(ONE, "a"));
    crank.failNextCommit = StoreException.Kind.FULL;
    Request request =
        new Request.Import(
            "default", List.of(wanted(ONE, "a", Format.WORKFRONT, null), wanted(TWO, "b")), false);
    assertThat(crank.ask(request)).isInstanceOf(Refused.class);
    assertThat(stored()).hasSize(1);
    assertThat(crank.loop.endpoints("default", Long.MAX_VALUE, 10)).hasSize(1);
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.ask(request)).isInstanceOf(Answer.Imported.class);
    assertThat(stored())
        .extracting(subscription -> subscription.form().format())
        .containsExactly(Format.WORKFRONT, Format.HOLDFAST);
  }

  @Test
  void two_at_the_same_time_make_each_subscription_once() {
    crank.holdCommits = true;
    Request request =
        new Request.Import("default", List.of(wanted(ONE, "a"), wanted(TWO, "b")), false);
    List<Answer> first = crank.askLater(request);
    List<Answer> second = crank.askLater(request);
    crank.holdCommits = false;
    crank.commit();
    assertThat(((Answer.Imported) first.getFirst()).items())
        .extracting(Item::result)
        .containsOnly(Result.CREATED);
    assertThat(((Answer.Imported) second.getFirst()).items())
        .extracting(Item::result)
        .containsOnly(Result.UNCHANGED);
    assertThat(stored()).hasSize(2);
  }

  @Test
  void a_rate_limit_is_not_changed_when_nothing_else_can_be() {
    imported(wanted(ONE, "a"));
    crank.failNextCommit = StoreException.Kind.FULL;
    Wish wish = wanted(ONE, "b").wish();
    Imported limited =
        new Imported(new Wish(ONE, wish.interest(), wish.form(), new RateLimit(3)), true);
    assertThat(crank.ask(new Request.Import("default", List.of(limited), false)))
        .isInstanceOf(Refused.class);
    crank.pass(Duration.ofSeconds(10));
    assertThat(crank.store.endpoints.values()).allMatch(endpoint -> endpoint.rateLimit() == null);
  }

  @Test
  void a_limit_that_comes_with_a_later_wish_for_a_new_url_is_kept() {
    Wish wish = wanted(ONE, "b").wish();
    Imported limited =
        new Imported(new Wish(ONE, wish.interest(), wish.form(), new RateLimit(3)), true);
    imported(wanted(ONE, "a"), limited);
    crank.crash();
    assertThat(crank.loop.endpoints("default", Long.MAX_VALUE, 10))
        .allMatch(now -> new RateLimit(3).equals(now.endpoint().rateLimit()));
  }

  @Test
  void more_valid_secrets_than_allowed_are_refused_and_nothing_is_changed() {
    for (int i = 0; i < Limits.VALID_SECRETS; i++) {
      imported(wanted(ONE, "a", Format.HOLDFAST, "secret-" + i));
    }
    Answer answer =
        crank.ask(
            new Request.Import(
                "default",
                List.of(wanted(TWO, "a"), wanted(ONE, "a", Format.HOLDFAST, "one more")),
                false));
    assertThat(((Answer.Unfit) answer).field()).isEqualTo("subscriptions[1].secret");
    assertThat(stored()).hasSize(1);
  }

  @Test
  void very_many_that_are_alike_are_taken() {
    List<Imported> many = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      Wish wish = wanted(ONE, "a").wish();
      TreeMap<String, String> headers = new TreeMap<>(Map.of("X-Number", "" + i));
      Form form = new Form(Format.HOLDFAST, false, null, headers, wish.form().secrets());
      many.add(new Imported(new Wish(ONE, wish.interest(), form, null), true));
    }
    Request request = new Request.Import("default", many, false);
    assertThat(((Answer.Imported) crank.ask(request)).items())
        .allMatch(item -> item.result() == Result.CREATED);
    assertThat(((Answer.Imported) crank.ask(request)).items())
        .allMatch(item -> item.result() == Result.UNCHANGED);
  }

  @Test
  void very_many_at_once_are_taken() {
    List<Imported> many = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      many.add(wanted(ONE, "type" + i));
    }
    Answer answer = crank.ask(new Request.Import("default", many, false));
    assertThat(((Answer.Imported) answer).items()).hasSize(5_000);
    assertThat(stored()).hasSize(5_000);
  }

  @Test
  void imports_that_wait_are_all_answered_also_when_one_of_them_has_nothing_to_change() {
    crank.holdCommits = true;
    Request.Import same = new Request.Import("default", List.of(wanted(ONE, "a")), false);
    Request.Import other = new Request.Import("default", List.of(wanted(TWO, "a")), false);
    List<List<Answer>> answers = new ArrayList<>();
    for (Request.Import request : List.of(same, same, same, other)) {
      answers.add(crank.askLater(request));
    }
    crank.commit();
    assertThat(answers).allMatch(answer -> answer.size() == 1);
    assertThat(stored()).hasSize(2);
  }
}
