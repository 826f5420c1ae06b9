package dev.holdfast.engine.egress;

import org.jspecify.annotations.Nullable;

/**
 * A proxy that connections are made through, by {@code CONNECT}.
 *
 * @param credentials what it wants to be shown, if anything
 * @param looksUpNames whether it is given names, and is trusted to look them up and to decide
 *     whether they may be reached; else it is given addresses that were looked up and checked here
 */
public record Proxy(
    String host, int port, @Nullable Credentials credentials, boolean looksUpNames) {

  /** A user's name and password. */
  public record Credentials(String user, String password) {
    @Override
    public String toString() {
      return "Credentials[hidden]";
    }
  }
}
