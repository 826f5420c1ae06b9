package dev.holdfast.server.cli;

/** Nobody answers where the server should be. */
final class ServerUnreachable extends CommandFailed {

  ServerUnreachable(String message) {
    super(message);
  }
}
