package dev.holdfast.proof.bench;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a server keeps what it accepts.
 *
 * @param arguments how the server is told
 * @param database in which it is, when it is one that others can look into
 */
record Place(List<String> arguments, @Nullable Database database) {

  static Place in(Path directory) {
    return new Place(List.of("--data", directory.toString()), null);
  }
}
