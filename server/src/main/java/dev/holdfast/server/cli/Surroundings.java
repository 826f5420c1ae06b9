package dev.holdfast.server.cli;

import java.io.InputStream;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What commands need of the world around them, so that tests can stand in for it.
 *
 * @param environment the variables of the process
 * @param in standard input
 * @param screen what output goes to
 * @param patience made when a command begins something that takes time
 */
record Surroundings(
    Map<String, String> environment,
    InstantSource clock,
    InputStream in,
    Supplier<Screen> screen,
    Supplier<Patience> patience) {

  /** Whether the environment says that the store is a database. */
  boolean namesStore() {
    return !environment.getOrDefault(Settings.STORE_URL.variable(), "").isBlank();
  }

  static Surroundings real(InstantSource clock) {
    return new Surroundings(
        System.getenv(),
        clock,
        System.in,
        () -> Screen.of(System.getenv()),
        () -> {
          StopSignal stop = StopSignal.install();
          return stop::askedWithin;
        });
  }
}
