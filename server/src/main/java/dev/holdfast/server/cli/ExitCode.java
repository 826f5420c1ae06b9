package dev.holdfast.server.cli;

/** What a command ends with. */
final class ExitCode {
  static final int DONE = 0;

  /** It could not be done, or went wrong on the way. */
  static final int FAILED = 1;

  /** It was asked for wrongly: an unknown command, option or setting, or a bad value. */
  static final int USAGE = 2;

  /**
   * The server cannot vouch for its store any more. What was accepted is found when it restarts.
   */
  static final int BROKEN = 3;

  private ExitCode() {}
}
