package dev.holdfast.server.api;

/** Ends the handling of a request with a {@link Problem}. The caller's mistake, never ours. */
final class Refusal extends RuntimeException {
  private final transient Problem problem;

  Refusal(Problem problem) {
    super(problem.detail(), null, false, false);
    this.problem = problem;
  }

  static Refusal of(Problem.Kind kind, String detail) {
    return new Refusal(Problem.of(kind, detail));
  }

  static Refusal of(Problem.Kind kind, String field, String detail) {
    return new Refusal(Problem.of(kind, field, detail));
  }

  Problem problem() {
    return problem;
  }
}
