package dev.holdfast.core.filter;

import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.JsonRecyclerPools;

/**
 * How JSON is read and written here. Numbers, names and texts may be as long as what they stand in,
 * since none is converted in more than linear time.
 */
final class Json {

  /** How deep an event's data may be nested; what is nested deeper counts as having no fields. */
  static final int NESTING = 1_000;

  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(NESTING)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .recyclerPool(JsonRecyclerPools.threadLocalPool())
          .disable(TokenStreamFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
          .build();

  private Json() {}
}
