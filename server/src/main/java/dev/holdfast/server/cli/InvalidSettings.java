package dev.holdfast.server.cli;

import java.util.List;

/** Settings that the server cannot start with. */
final class InvalidSettings extends Exception {

  /**
   * One thing that is wrong.
   *
   * @param what the key or the file
   * @param origin where it was given
   * @param problem what is wrong, what is allowed, and what was probably meant
   */
  record Problem(String what, String origin, String problem) {}

  private final List<Problem> problems;

  InvalidSettings(List<Problem> problems) {
    super(problems.size() + " problems in the settings");
    this.problems = List.copyOf(problems);
  }

  List<Problem> problems() {
    return problems;
  }

  /** All problems, for a person to read. */
  String report() {
    StringBuilder report = new StringBuilder("Holdfast did not start: ");
    report.append(problems.size() == 1 ? "one problem" : problems.size() + " problems");
    report.append(" in its settings.\n");
    for (Problem problem : problems) {
      report.append("\n  ").append(problem.what());
      report.append("  (").append(problem.origin()).append(")\n");
      report.append("      ").append(problem.problem()).append('\n');
    }
    return report.append("\n./holdfast settings lists every setting with its default.").toString();
  }
}
