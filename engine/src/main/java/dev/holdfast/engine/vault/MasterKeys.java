package dev.holdfast.engine.vault;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The master keys that there are.
 *
 * @param all the first is the current one, which everything is wrapped with; the others only unwrap
 * @param origin where they come from, in words
 */
public record MasterKeys(List<MasterKey> all, String origin) {
  /** How many there may be. */
  public static final int MOST = 16;

  public MasterKeys {
    all = List.copyOf(all);
    if (all.isEmpty() || all.size() > MOST) {
      throw new IllegalArgumentException("1 to " + MOST + " master keys, not " + all.size());
    }
  }

  public MasterKey current() {
    return all.getFirst();
  }

  public Optional<MasterKey> find(String id) {
    return all.stream().filter(key -> key.id().equals(id)).findFirst();
  }

  /** Where they come from and which they are, without the keys. */
  @Override
  public String toString() {
    return origin
        + " has "
        + (all.size() == 1 ? "the key " : "the keys ")
        + all.stream().map(MasterKey::id).collect(Collectors.joining(", "));
  }
}
