package dev.holdfast.server.cli;

import java.net.UnknownHostException;

/** Why a command could not start, in one line that says what to do. */
final class CannotStart extends Exception {

  CannotStart(String message) {
    super(message, null, false, false);
  }

  /** For a server that could not listen. By texts, since each transport has its own types. */
  static CannotStart listening(String host, int port, Throwable problem) {
    for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
      String text = String.valueOf(cause.getMessage());
      if (text.contains("in use")) {
        return new CannotStart(
            "Port %d on %s is in use. End what uses it, or choose another with --port."
                .formatted(port, host));
      }
      if (text.contains("ermission denied")) {
        return new CannotStart(
            "This user may not listen on port %d. Choose one above 1023 with --port."
                .formatted(port));
      }
      if (text.contains("assign requested address") || cause instanceof UnknownHostException) {
        return new CannotStart(
            "%s is no address of this machine. Choose another, such as 127.0.0.1.".formatted(host));
      }
    }
    return new CannotStart(
        "Cannot listen on %s port %d: %s".formatted(host, port, problem.getMessage()));
  }
}
