package dev.holdfast.core.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Batches begin some time apart, unless somebody alone waits for one. */
final class GatheringTest {
  private static final Duration APART = Duration.ofNanos(1_250_000);
  private static final Duration A_MOMENT = Duration.ofNanos(100_000);

  private final Crank crank = Crank.withBatchEvery(APART);

  @BeforeEach
  void subscribe() {
    crank.subscribe("http://one.example/", "order");
    crank.pass(Duration.ofSeconds(1));
  }

  private List<Answer> submit() {
    return crank.askLater(Crank.submit("default", "order", 1));
  }

  /** Several that wait while a batch is being written, which begins now and then ends. */
  private List<List<Answer>> submitBehindABatch(int count) {
    crank.holdCommits = true;
    submit();
    List<List<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      answers.add(submit());
    }
    crank.holdCommits = false;
    crank.commitOne();
    return answers;
  }

  @Test
  void an_event_alone_is_written_at_once_however_soon_it_comes_after_another() {
    for (int i = 0; i < 3; i++) {
      assertThat(submit()).singleElement().isInstanceOf(Answer.Accepted.class);
      crank.pass(A_MOMENT);
    }
  }

  @Test
  void one_that_waited_for_the_batch_before_is_written_right_after_it() {
    assertThat(submitBehindABatch(1)).allMatch(answers -> answers.size() == 1);
  }

  @Test
  void several_are_written_together_when_their_time_has_come() {
    Instant began = crank.now;
    List<List<Answer>> answers = submitBehindABatch(3);
    assertThat(answers).allMatch(List::isEmpty);
    assertThat(crank.loop.nextWake()).contains(began.plus(APART));

    crank.passUntil(began.plus(APART).minus(A_MOMENT));
    assertThat(answers).allMatch(List::isEmpty);

    crank.passUntil(began.plus(APART));
    assertThat(answers).allMatch(each -> each.getFirst() instanceof Answer.Accepted);
  }

  @Test
  void an_outcome_waits_for_company_but_not_for_long() {
    Instant began = crank.now;
    submit();
    assertThat(crank.sent).hasSize(1);
    assertThat(crank.store.open).hasSize(1);

    crank.passUntil(began.plus(APART));
    assertThat(crank.store.open).isEmpty();
  }

  @Test
  void an_outcome_goes_with_the_event_that_comes_after_it() {
    submit();
    crank.pass(A_MOMENT);
    crank.receiver = _ -> null;
    submit();
    assertThat(crank.store.finished).hasSize(1);
  }

  @Test
  void what_has_gathered_is_written_before_a_stop() {
    crank.receiver = _ -> null;
    submitBehindABatch(3);
    crank.put(new Input.StopRequested());
    crank.pass(APART);
    crank.endAll(Crank.OK);
    assertThat(crank.loop.isStopped()).isFalse();
    crank.pass(APART);
    assertThat(crank.loop.isStopped()).isTrue();
    assertThat(crank.store.open).hasSize(3);
  }
}
