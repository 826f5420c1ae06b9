package dev.holdfast.core.rules;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;

/**
 * How many attempts to one endpoint may be in flight at once.
 *
 * <p>Slow start: one, one more after each success, one again after a failure, until the most is
 * reached. After that a time-out halves the limit and each success raises it by one again, so that
 * an endpoint that hangs holds few connections.
 *
 * @param limit the attempts that may be in flight now
 * @param most the limit of a lane that is well
 */
public record Pace(int limit, int most, boolean slowStart) {

  public static Pace full(int most) {
    return new Pace(most, most, false);
  }

  public static Pace slowStart(int most) {
    return new Pace(1, most, most > 1);
  }

  public Pace after(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Success _ -> limit >= most ? this : raised();
      case Outcome.Failure failure -> {
        if (slowStart) {
          yield slowStart(most);
        }
        yield failure.kind() == Kind.TIMEOUT ? new Pace(Math.max(1, limit / 2), most, false) : this;
      }
    };
  }

  private Pace raised() {
    return new Pace(limit + 1, most, slowStart && limit + 1 < most);
  }
}
