package dev.holdfast.server.cli;

import io.vertx.core.Future;
import java.util.List;

/** A server that runs. */
interface Server {

  int port();

  /** Where its admin key is to be had, for a person. */
  String adminKey();

  /** What its secrets are sealed under, for a person. */
  String masterKey();

  /** What an operator should look into. */
  List<String> warnings();

  /** Stops accepting, lets what is in flight end, and ends. */
  Future<Void> stop();
}
