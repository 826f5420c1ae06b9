package dev.holdfast.server.cli;

/** Why a command did not do what it was asked to, in a sentence or two that say what to do. */
class CommandFailed extends Exception {

  CommandFailed(String message) {
    super(message, null, false, false);
  }

  /** For a person. */
  String what() {
    return String.valueOf(getMessage());
  }
}
