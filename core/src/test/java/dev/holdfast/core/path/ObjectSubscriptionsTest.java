package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ObjectSubscriptionsTest {
  private static final List<String> TYPES =
      List.of("PROJ.UPDATE", "PROJ.CREATE", "PROJ.*", ".UPDATE", "order.paid");
  private static final List<String> FILTERS =
      List.of("[]", "[{\"fieldName\":\"a\",\"fieldValue\":\"b\",\"comparison\":\"eq\"}]");

  private static Subscription random(long id, SplittableRandom random) {
    return random(id, random.nextBoolean() ? "one" : "two", random);
  }

  private static Subscription random(long id, String tenant, SplittableRandom random) {
    boolean isWorkfront = random.nextInt(4) > 0;
    Edition edition =
        isWorkfront && random.nextBoolean() ? new Edition(Version.V1, null) : Edition.NEWEST;
    List<TypePattern> types =
        random.nextInt(8) == 0
            ? List.of(new TypePattern("PROJ.UPDATE"), new TypePattern("TASK.UPDATE"))
            : List.of(new TypePattern(TYPES.get(random.nextInt(TYPES.size()))));
    Form form =
        new Form(
            isWorkfront ? Format.WORKFRONT : Format.HOLDFAST,
            edition,
            isWorkfront && random.nextBoolean(),
            random.nextBoolean() ? "token" : null,
            Collections.emptyNavigableMap(),
            List.of());
    return new Subscription(
        id,
        tenant,
        random.nextInt(3),
        new Interest(
            types,
            random.nextBoolean() ? "subject" : null,
            Filters.parse(Connector.AND, FILTERS.get(random.nextInt(FILTERS.size())))),
        form,
        Instant.EPOCH);
  }

  @Test
  void it_has_what_a_plain_list_of_all_subscriptions_has() {
    Seeds.each(
        200,
        random -> {
          ObjectSubscriptions index = new ObjectSubscriptions();
          TreeMap<Long, Subscription> all = new TreeMap<>();
          for (int step = 0; step < 80; step++) {
            long id = random.nextInt(30);
            Subscription before = all.remove(id);
            if (before != null) {
              index.remove(before);
            }
            if (random.nextInt(3) > 0) {
              Subscription added = random(id, random);
              if (random.nextBoolean()) {
                index.expect(added);
              }
              index.add(added);
              all.put(id, added);
            }
            if (random.nextInt(3) == 0) {
              Subscription never = random(99, random);
              index.expect(never);
              assertThat(index.like(never).contains(99L))
                  .isEqualTo(ObjectEvent.of(never).isPresent());
              index.expectNoMore(never);
            }
            Subscription replaced = all.get((long) random.nextInt(30));
            if (replaced != null) {
              Subscription after = random(replaced.id(), replaced.tenant(), random);
              index.replace(replaced, after);
              all.put(after.id(), after);
            }
            compare(index, all, random(99, random));
          }
        });
  }

  private static void compare(
      ObjectSubscriptions index, Map<Long, Subscription> all, Subscription asked) {
    for (String tenant : List.of("one", "two")) {
      assertThat(index.of(tenant))
          .isEqualTo(
              all.values().stream()
                  .filter(found -> found.tenant().equals(tenant))
                  .filter(found -> ObjectEvent.of(found).isPresent())
                  .toList());
    }
    assertThat(index.like(asked))
        .containsExactlyInAnyOrderElementsOf(
            all.values().stream()
                .filter(found -> ObjectEvent.of(found).isPresent())
                .filter(found -> ObjectEvent.of(asked).isPresent())
                .filter(found -> found.endpoint() == asked.endpoint())
                .filter(found -> found.interest().equals(asked.interest()))
                .filter(found -> found.form().equals(asked.form()))
                .map(Subscription::id)
                .toList());
  }
}
