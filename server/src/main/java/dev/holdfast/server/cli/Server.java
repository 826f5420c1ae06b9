package dev.holdfast.server.cli;

import io.vertx.core.Future;

/** A server that runs. */
interface Server {

  int port();

  /** Where its admin key is to be had, for a person. */
  String adminKey();

  /** Stops accepting, lets what is in flight end, and ends. */
  Future<Void> stop();
}
