package dev.holdfast.core.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FilterIndexTest {

  /** An entry that notes when somebody asks for its filters. */
  private record Noted(long id, Filters wanted, Set<Long> asked) implements FilterIndex.Entry {
    @Override
    public Filters filters() {
      asked.add(id);
      return wanted;
    }
  }

  private final FilterIndex<Noted> index = new FilterIndex<>();
  private final Set<Long> asked = new HashSet<>();

  private Noted add(long id, Connector connector, Filter... filters) {
    Noted entry = new Noted(id, new Filters(connector, List.of(filters)), asked);
    index.add(entry);
    return entry;
  }

  /** So many others that the index tells them apart. */
  private void addMany() {
    for (int i = 0; i <= FilterIndex.FEW; i++) {
      add(1_000 + i, Connector.AND, eq("other", new Numeral("" + i)));
    }
  }

  private static Comparison eq(String field, Value value) {
    return new Comparison(field, value, Operator.EQ, State.NEW);
  }

  private static Comparison gt(String field, Value value) {
    return new Comparison(field, value, Operator.GT, State.NEW);
  }

  private static <T extends FilterIndex.Entry> List<Long> find(
      FilterIndex<T> index, String data, String previous) {
    List<T> found = new ArrayList<>();
    index.find(new Payload(data.getBytes(UTF_8), previous.getBytes(UTF_8)), found, null);
    return found.stream().map(FilterIndex.Entry::id).toList();
  }

  private List<Long> find(String data) {
    asked.clear();
    return find(index, data, "{}");
  }

  @Test
  void entries_that_ask_for_another_value_are_not_asked() {
    addMany();
    add(1, Connector.AND, eq("a", new Text("x")), gt("b", new Numeral("1")));
    add(2, Connector.AND, eq("a", new Text("y")));
    add(3, Connector.AND, eq("a", new Text("x")));
    assertThat(find("{\"a\":\"x\",\"b\":1}")).containsExactly(3L);
    assertThat(asked).containsExactlyInAnyOrder(1L, 3L);
    assertThat(find("{\"a\":[\"x\"]}")).isEmpty();
    assertThat(find("{}")).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void entries_that_ask_for_another_nested_value_are_not_asked() {
    addMany();
    List<Noted> entries = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Value number = new Numeral("" + i);
      Value customer = new Fields(Map.of("country", new Text("NO"), "number", number));
      entries.add(add(i, Connector.AND, eq("order", new Fields(Map.of("customer", customer)))));
    }
    assertThat(find("{\"order\":{\"customer\":{\"country\":\"NO\",\"number\":7,\"n\":1}}}"))
        .containsExactly(7L);
    assertThat(asked).contains(7L).hasSizeLessThanOrEqualTo(2);
    assertThat(find("{\"order\":{\"country\":\"NO\",\"number\":7}}")).isEmpty();
    assertThat(find("{\"order\":[{\"customer\":{\"country\":\"NO\",\"number\":7}}]}")).isEmpty();
    assertThat(asked).isEmpty();
    assertThat(index.remove(entries.get(7))).isTrue();
    assertThat(find("{\"order\":{\"customer\":{\"country\":\"NO\",\"number\":7}}}")).isEmpty();
  }

  @Test
  void a_few_are_all_asked() {
    for (int i = 0; i < FilterIndex.FEW; i++) {
      add(i, Connector.AND, eq("a", new Numeral("" + i)));
    }
    assertThat(find("{\"a\":3}")).containsExactly(3L);
    assertThat(asked).hasSize(FilterIndex.FEW);
    add(100, Connector.AND, eq("a", new Numeral("100")));
    assertThat(find("{\"a\":3}")).containsExactly(3L);
    assertThat(asked).containsExactly(3L);
  }

  @Test
  void an_entry_stands_where_the_fewest_others_do() {
    addMany();
    for (int i = 0; i < 10; i++) {
      add(i, Connector.AND, eq("state", new Text("open")), eq("customer", new Numeral("" + i)));
    }
    assertThat(find("{\"state\":\"open\",\"customer\":7}")).containsExactly(7L);
    assertThat(asked).containsExactlyInAnyOrder(0L, 7L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "5 | 5.0",
        "5 | \"5.00\"",
        "\"5\" | 5",
        "\"5\" | 50e-1",
        "\"5\" | \"5\"",
        "true | \"true\"",
        "\"false\" | false",
        "null | null",
        "\"2026-05-04T09:30Z\" | \"2026-05-04T11:30+02:00\"",
      })
  void whatever_eq_takes_for_the_same_is_found(String given, String found) {
    addMany();
    Filters filters =
        Filters.parse(
            Connector.AND,
            "[{\"fieldName\":\"a\",\"fieldValue\":" + given + ",\"comparison\":\"eq\"}]");
    index.add(new Noted(1, filters, asked));
    assertThat(find("{\"a\":" + found + "}")).containsExactly(1L);
    assertThat(find("{\"a\":\"something else\"}")).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void what_was_is_looked_up_as_well() {
    addMany();
    Comparison old = new Comparison("a", new Text("x"), Operator.EQ, State.OLD);
    Noted entry = add(1, Connector.AND, old);
    assertThat(find(index, "{}", "{\"a\":\"x\"}")).containsExactly(1L);
    assertThat(find(index, "{\"a\":\"x\"}", "{}")).isEmpty();
    assertThat(index.remove(entry)).isTrue();
    assertThat(find(index, "{}", "{\"a\":\"x\"}")).isEmpty();
  }

  @Test
  void joined_by_or_an_entry_stands_under_each_value_and_is_found_once() {
    addMany();
    Noted entry =
        add(
            1,
            Connector.OR,
            eq("a", new Text("x")),
            new Group(Connector.AND, List.of(eq("b", new Text("y")), gt("c", new Numeral("1")))));
    assertThat(find("{\"a\":\"x\",\"b\":\"y\",\"c\":2}")).containsExactly(1L);
    assertThat(find("{\"b\":\"y\",\"c\":2}")).containsExactly(1L);
    assertThat(find("{\"c\":2}")).isEmpty();
    assertThat(asked).isEmpty();
    assertThat(index.remove(entry)).isTrue();
    assertThat(find("{\"a\":\"x\",\"b\":\"y\",\"c\":2}")).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void joined_by_or_with_something_else_it_is_always_asked() {
    addMany();
    add(1, Connector.OR, eq("a", new Text("x")), gt("b", new Numeral("1")));
    assertThat(find("{\"b\":2}")).containsExactly(1L);
    assertThat(find("{\"b\":1}")).isEmpty();
    assertThat(asked).containsExactly(1L);
  }

  @Test
  void an_or_group_among_filters_joined_by_and_is_enough_to_be_found_by() {
    addMany();
    add(
        1,
        Connector.AND,
        gt("b", new Numeral("1")),
        new Group(Connector.OR, List.of(eq("a", new Text("x")), eq("a", new Text("y")))));
    assertThat(find("{\"a\":\"y\",\"b\":2}")).containsExactly(1L);
    assertThat(find("{\"a\":\"z\",\"b\":2}")).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void they_are_found_in_the_order_of_their_ids() {
    addMany();
    add(5, Connector.AND, eq("a", new Text("x")));
    add(3, Connector.AND, gt("b", new Numeral("1")));
    add(9, Connector.AND, gt("b", new Numeral("1")));
    add(1, Connector.AND, eq("a", new Text("x")));
    assertThat(find("{\"a\":\"x\",\"b\":2}")).containsExactly(1L, 3L, 5L, 9L);
  }

  @Test
  void an_entry_that_is_not_there_is_not_removed() {
    Noted stranger =
        new Noted(1, new Filters(Connector.AND, List.of(eq("a", new Text("x")))), asked);
    assertThat(index.remove(stranger)).isFalse();
    assertThat(index.isEmpty()).isTrue();
    addMany();
    assertThat(index.remove(stranger)).isFalse();
    add(2, Connector.AND, eq("a", new Text("x")));
    assertThat(index.remove(stranger)).isFalse();
    assertThat(find("{\"a\":\"x\"}")).containsExactly(2L);
  }

  @Test
  void it_is_empty_when_the_last_has_gone() {
    List<Noted> all = new ArrayList<>();
    for (int i = 0; i <= FilterIndex.FEW; i++) {
      all.add(add(i, Connector.AND, eq("a", new Numeral("" + i))));
    }
    Comparison old = new Comparison("a", new Text("x"), Operator.EQ, State.OLD);
    all.add(add(100, Connector.AND, old));
    all.add(add(101, Connector.AND, gt("a", new Text("x"))));
    while (!all.isEmpty()) {
      assertThat(index.isEmpty()).isFalse();
      assertThat(index.remove(all.removeFirst())).isTrue();
    }
    assertThat(index.isEmpty()).isTrue();
    for (Comparison only : List.of(old, eq("a", new Text("x")))) {
      Noted entry = add(1, Connector.AND, only);
      assertThat(index.isEmpty()).isFalse();
      assertThat(index.remove(entry)).isTrue();
      assertThat(index.isEmpty()).isTrue();
    }
  }

  @Test
  void a_state_before_that_nobody_asks_for_is_not_read() {
    addMany();
    byte[] previous = "{\"a\":1}".getBytes(UTF_8);
    Payload payload = new Payload("{\"a\":1}".getBytes(UTF_8), previous);
    index.find(payload, new ArrayList<>(), null);
    previous[5] = '2';
    assertThat(payload.field(State.OLD, "a")).isEqualTo(new Numeral("2"));
  }

  @Test
  void an_entry_takes_the_place_of_one_with_its_id() {
    add(1, Connector.AND, eq("a", new Text("x")));
    Noted second = add(1, Connector.AND, eq("a", new Text("y")));
    assertThat(find("{\"a\":\"x\"}")).isEmpty();
    assertThat(find("{\"a\":\"y\"}")).containsExactly(1L);
    assertThat(index.remove(second)).isTrue();
    assertThat(index.isEmpty()).isTrue();
  }

  private record Plain(long id, Filters filters) implements FilterIndex.Entry {}

  @Test
  void it_finds_what_asking_each_would_find() {
    Seeds.each(
        300,
        random -> {
          FilterIndex<Plain> tested = new FilterIndex<>();
          Map<Long, Plain> all = new TreeMap<>();
          for (int i = 0; i < 300; i++) {
            long id = random.nextInt(60);
            Plain before = all.remove(id);
            if (before != null) {
              assertThat(tested.remove(before)).isTrue();
              assertThat(tested.remove(before)).isFalse();
            }
            if (before == null || random.nextBoolean()) {
              Plain entry = new Plain(id, RandomFilters.filters(random));
              all.put(id, entry);
              tested.add(entry);
            }
            assertThat(tested.isEmpty()).isEqualTo(all.isEmpty());
            Payload payload = new Payload(RandomFilters.state(random), RandomFilters.state(random));
            List<Plain> found = new ArrayList<>();
            tested.find(payload, found, null);
            assertThat(found)
                .isEqualTo(
                    all.values().stream().filter(entry -> entry.filters().hold(payload)).toList());
          }
          all.values().forEach(tested::remove);
          assertThat(tested.isEmpty()).isTrue();
        });
  }
}
