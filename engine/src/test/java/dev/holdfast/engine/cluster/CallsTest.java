package dev.holdfast.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import org.junit.jupiter.api.Test;

class CallsTest {

  @Test
  void what_is_asked_is_understood_as_it_was_meant() {
    Actor by = new Actor(Actor.Kind.KEY, "key_1", "operator \"one\"");
    for (Request request :
        new Request[] {
          new Request.Operate("acme", 12, Request.Operation.FREEZE),
          new Request.RetryNow("acme", Long.MAX_VALUE),
          new Request.CancelReplay("acme", 7)
        }) {
      assertThat(Calls.isFor(request)).isTrue();
      assertThat(Calls.read(Calls.write(request, by))).isEqualTo(new Calls.Asked(request, by));
    }
    assertThat(Calls.read(Calls.write(new Request.RetryNow("acme", 1), Actor.PROGRAM)).by())
        .isEqualTo(Actor.PROGRAM);
  }

  @Test
  void what_any_node_decides_is_asked_of_none() {
    assertThat(Calls.isFor(new Request.Unsubscribe("acme", 1))).isFalse();
    assertThat(new Answer.NotOurs(Shards.of(9)).shard()).isBetween(0, 255);
  }
}
