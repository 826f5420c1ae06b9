package dev.holdfast.engine.store;

import java.nio.file.Path;

/** Opens a store and holds it until the process is ended. */
final class StoreHolder {
  private StoreHolder() {}

  public static void main(String[] args) throws Exception {
    try (SqliteStore store = SqliteStore.open(Path.of(args[0]))) {
      System.out.println("open");
      System.out.flush();
      store.snapshot();
      Thread.currentThread().join();
    }
  }
}
