package dev.holdfast.core.filter;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether filters hold, and why.
 *
 * @param decidedBy the place of the filter that decided, such as {@code filters[1].filters[0]}: of
 *     those joined by AND the first that does not hold, of those joined by OR the first that does.
 *     Absent when it took all of them. A group is named itself when it took all of its filters
 * @param each for the place of each filter and group whether it holds, in their order
 */
public record Decision(boolean hold, @Nullable String decidedBy, Map<String, Boolean> each) {
  public Decision {
    each = Collections.unmodifiableMap(new LinkedHashMap<>(each));
  }
}
