package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Interest.NewSubject;
import java.util.List;
import org.junit.jupiter.api.Test;

class InterestTest {
  private static final Interest INTEREST =
      new Interest(List.of(new TypePattern("order.*")), "order-7", Filters.NONE);

  @Test
  void a_change_of_nothing_changes_nothing() {
    assertThat(Interest.Change.NOTHING.applyTo(INTEREST)).isEqualTo(INTEREST);
  }

  @Test
  void types_subject_and_connector_change_by_themselves() {
    List<TypePattern> types = List.of(new TypePattern("a"), new TypePattern("b"));
    assertThat(new Interest.Change(types, null, null, null).applyTo(INTEREST))
        .isEqualTo(new Interest(types, "order-7", Filters.NONE));
    assertThat(new Interest.Change(null, new NewSubject(null), null, null).applyTo(INTEREST))
        .isEqualTo(new Interest(INTEREST.types(), null, Filters.NONE));
    assertThat(new Interest.Change(null, null, null, Connector.OR).applyTo(INTEREST).filters())
        .isEqualTo(new Filters(Connector.OR, List.of()));
  }

  @Test
  void types_of_creations_are_told_by_their_last_part() {
    assertThat(new TypePattern("TASK.CREATE").isOfCreations()).isTrue();
    assertThat(new TypePattern("TASK.UPDATE").isOfCreations()).isFalse();
    assertThat(new TypePattern("task.created").isOfCreations()).isFalse();
    assertThat(new TypePattern("*.CREATE").isOfCreations()).isTrue();
    assertThat(new TypePattern("TASK.*").isOfCreations()).isFalse();
    assertThat(new TypePattern("CREATE").isOfCreations()).isFalse();
  }
}
