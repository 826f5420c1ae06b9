package dev.holdfast.engine.vault;

import java.util.List;
import java.util.Optional;

/** Where master keys come from. */
public sealed interface MasterKeySource permits MasterKeySource.Given, KeyFile {

  /** Reads them; empty when there are none. */
  Optional<MasterKeys> read() throws KeysRefused;

  /** Reads them, and makes the first one when there are none; when it returns, that is on disk. */
  MasterKeys readOrMake() throws KeysRefused;

  /** Where is looked, in words. */
  String where();

  /**
   * Keys that were set.
   *
   * @param all the current one first
   * @param where what set them
   */
  record Given(List<MasterKey> all, String where) implements MasterKeySource {
    public Given {
      all = List.copyOf(all);
    }

    @Override
    public Optional<MasterKeys> read() {
      return Optional.of(readOrMake());
    }

    @Override
    public MasterKeys readOrMake() {
      return new MasterKeys(all, where);
    }
  }
}
