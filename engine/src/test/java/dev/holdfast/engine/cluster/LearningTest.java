package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LearningTest {
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong version = new AtomicLong(3);
  private final List<Input> told = new ArrayList<>();
  private final Learning learning =
      new Learning(
          _ -> new Known(version.get(), List.of(), List.of(), List.of(), List.of()),
          told::add,
          nanos::get);

  @Test
  void the_path_is_told_after_which_version_all_changes_are_there() throws StoreException {
    learning.begin(1);
    learning.learn();
    version.set(5);
    learning.learn();
    assertThat(told.stream().map(input -> ((Input.Learned) input).since())).containsExactly(1L, 3L);
    // What was told to a path that is no more is told to the next one.
    learning.begin(3);
    learning.learn();
    assertThat(((Input.Learned) told.getLast()).since()).isEqualTo(3);
  }

  @Test
  void who_has_not_learned_for_half_an_hour_has_to_begin_anew() throws StoreException {
    learning.begin(1);
    nanos.addAndGet(Duration.ofMinutes(29).toNanos());
    learning.learn();
    assertThat(learning.since()).isZero();
    nanos.addAndGet(Duration.ofMinutes(31).toNanos());
    assertThatThrownBy(learning::learn)
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.FENCED));
    learning.begin(3);
    learning.learn();
    assertThat(learning.since()).isZero();
  }
}
