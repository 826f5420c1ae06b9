package dev.holdfast.proof.model;

import java.util.function.Supplier;

/** The engine did what the contract does not allow. */
public final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String rule;

  /**
   * A broken rule.
   *
   * @param rule which one, in words that are the same for every case of it
   * @param detail what happened
   */
  public Violation(String rule, String detail) {
    super(rule + ": " + detail);
    this.rule = rule;
  }

  public String rule() {
    return rule;
  }

  static void unless(boolean holds, String rule, Object detail) {
    if (!holds) {
      throw new Violation(rule, detail.toString());
    }
  }

  /** For a detail that takes time to write. */
  static void unless(boolean holds, String rule, Supplier<String> detail) {
    if (!holds) {
      throw new Violation(rule, detail.get());
    }
  }
}
