package dev.holdfast.core.path;

import java.time.Instant;
import java.util.function.Consumer;

/** One turn of the loop: the time that holds for all of it, and where its effects go. */
record Turn(Instant now, Consumer<Effect> effects) {

  void effect(Effect effect) {
    effects.accept(effect);
  }

  void reply(Consumer<Answer> to, Answer answer) {
    effects.accept(new Effect.Reply(to, answer));
  }
}
