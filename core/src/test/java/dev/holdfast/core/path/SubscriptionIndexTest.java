package dev.holdfast.core.path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.RandomFilters;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SubscriptionIndexTest {
  private static final List<String> TENANTS = List.of("acme", "other");
  private static final List<String> PATTERNS = List.of("a.b", "a.c", "a.*", "*.b", "*");
  private static final List<String> TYPES = List.of("a.b", "a.c", "x.b");
  private static final List<String> SUBJECTS = List.of("s1", "s2");

  private final SubscriptionIndex index = new SubscriptionIndex();

  private static Subscription subscription(
      long id, String tenant, List<String> types, @Nullable String subject, Filters filters) {
    List<TypePattern> patterns = types.stream().map(TypePattern::new).toList();
    Interest interest = new Interest(patterns, subject, filters);
    return new Subscription(id, tenant, 1, interest, Form.PLAIN, Instant.EPOCH);
  }

  private static Filters equal(String field, String value) {
    return Filters.parse(
        Connector.AND,
        """
        [{"fieldName":"%s","fieldValue":%s,"comparison":"eq"}]
        """
            .formatted(field, value));
  }

  private List<Long> matching(String type, @Nullable String subject, String data) {
    return index.matching("acme", type, subject, data.getBytes(UTF_8), null).stream()
        .map(Subscription::id)
        .toList();
  }

  @Test
  void those_without_filters_come_as_they_were_added_and_those_with_filters_after_them_by_id() {
    index.add(subscription(5, "acme", List.of("a.b"), null, equal("x", "1")));
    index.add(subscription(4, "acme", List.of("a.b"), null, Filters.NONE));
    index.add(subscription(3, "acme", List.of("a.b"), null, equal("x", "1")));
    index.add(subscription(2, "acme", List.of("a.b"), null, Filters.NONE));
    index.add(subscription(1, "acme", List.of("a.b"), "s", Filters.NONE));
    assertThat(matching("a.b", "s", "{\"x\":1}")).containsExactly(4L, 2L, 3L, 5L, 1L);
    assertThat(matching("a.b", "s", "{\"x\":2}")).containsExactly(4L, 2L, 1L);
  }

  @Test
  void a_field_is_looked_at_as_long_as_one_filter_names_it() {
    Subscription first = subscription(1, "acme", List.of("a.b", "*"), null, equal("x", "1"));
    Subscription second = subscription(2, "acme", List.of("a.b"), null, equal("x", "1"));
    index.add(first);
    index.add(second);
    index.remove(first);
    index.remove(first);
    index.remove(first);
    assertThat(matching("a.b", null, "{\"x\":1}")).containsExactly(2L);
    index.remove(second);
    assertThat(matching("a.b", null, "{\"x\":1}")).isEmpty();
    index.add(first);
    assertThat(matching("a.b", null, "{\"x\":1}")).containsExactly(1L);
  }

  @Test
  void a_payload_that_is_no_json_is_wanted_by_those_without_filters() {
    index.add(subscription(1, "acme", List.of("a.b"), null, Filters.NONE));
    index.add(subscription(2, "acme", List.of("a.b"), null, equal("x", "1")));
    assertThat(matching("a.b", null, "not json")).containsExactly(1L);
  }

  @Test
  void it_finds_what_asking_each_would_find() {
    Seeds.each(
        200,
        random -> {
          SubscriptionIndex tested = new SubscriptionIndex();
          Map<Long, Subscription> all = new HashMap<>();
          for (int i = 0; i < 400; i++) {
            change(tested, all, random);
            Event event = event(random);
            List<Subscription> found =
                tested.matching(
                    event.tenant(), event.type(), event.subject(), event.data(), event.previous());
            assertThat(found)
                .containsExactlyInAnyOrderElementsOf(
                    all.values().stream()
                        .filter(each -> each.tenant().equals(event.tenant()))
                        .filter(each -> each.interest().wants(event))
                        .toList());
            assertThat(tested.covers(event.tenant(), event.type(), event.subject()))
                .isEqualTo(
                    all.values().stream()
                        .filter(each -> each.tenant().equals(event.tenant()))
                        .anyMatch(each -> each.interest().covers(event.type(), event.subject())));
          }
        });
  }

  /** Adds one, changes one, or takes one out. */
  private static void change(
      SubscriptionIndex tested, Map<Long, Subscription> all, SplittableRandom random) {
    long id = random.nextInt(80);
    Subscription before = all.remove(id);
    if (before != null) {
      tested.remove(before);
    }
    if (before == null || random.nextBoolean()) {
      List<String> types = new ArrayList<>();
      do {
        types.add(PATTERNS.get(random.nextInt(PATTERNS.size())));
      } while (random.nextInt(3) == 0);
      Subscription subscription =
          subscription(
              id,
              before == null ? TENANTS.get(random.nextInt(8) / 7) : before.tenant(),
              types,
              subject(random),
              RandomFilters.filters(random));
      all.put(id, subscription);
      tested.add(subscription);
    }
  }

  private static @Nullable String subject(SplittableRandom random) {
    return random.nextBoolean() ? null : SUBJECTS.get(random.nextInt(SUBJECTS.size()));
  }

  private static Event event(SplittableRandom random) {
    return new Event(
        1,
        TENANTS.get(random.nextInt(8) / 7),
        TYPES.get(random.nextInt(TYPES.size())),
        subject(random),
        null,
        RandomFilters.state(random),
        random.nextBoolean() ? null : RandomFilters.state(random),
        null,
        null);
  }
}
