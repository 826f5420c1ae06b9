package dev.holdfast.server.api;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list.
 *
 * @param next the cursor of the next page, if there is one
 */
record Page<T>(List<T> items, @Nullable String next) {

  /** The first {@code limit} of what was found, for which one more than that was looked for. */
  static <T> Page<T> of(List<T> found, int limit, Function<T, String> cursorAfter) {
    if (found.size() <= limit) {
      return new Page<>(found, null);
    }
    List<T> items = found.subList(0, limit);
    return new Page<>(items, cursorAfter.apply(items.getLast()));
  }
}
