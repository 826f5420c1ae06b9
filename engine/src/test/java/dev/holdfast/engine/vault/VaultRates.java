package dev.holdfast.engine.vault;

import java.time.Instant;
import java.util.Locale;
import java.util.function.IntConsumer;

/** Measures sealing and opening by hand; not a test. */
final class VaultRates {
  private static final int TIMES = 200_000;
  private static final int BYTES = 200;

  private VaultRates() {}

  public static void main(String[] args) {
    Vault vault = Vault.make(Instant.EPOCH);
    byte[] bytes = new byte[BYTES];
    byte[][] sealed = new byte[TIMES][];
    for (int round = 0; round < 3; round++) {
      measure("seal", i -> sealed[i] = vault.seal(new Place("subscriptions", "acme", i), bytes));
      measure(
          "open",
          i -> {
            try {
              vault.open(new Place("subscriptions", "acme", i), sealed[i]);
            } catch (NotAuthentic e) {
              throw new IllegalStateException(e);
            }
          });
      measure("digest", i -> vault.digest("acme", "https://host.example/" + i));
    }
  }

  private static void measure(String what, IntConsumer work) {
    long start = System.nanoTime();
    for (int i = 0; i < TIMES; i++) {
      work.accept(i);
    }
    System.out.printf(Locale.ROOT, "%s %.2f us%n", what, (System.nanoTime() - start) / 1e3 / TIMES);
  }
}
