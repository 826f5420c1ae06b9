package dev.holdfast.core.filter;

/** One condition on an event's payload, or a group of them. */
public sealed interface Filter {

  /** Stands in for the comparisons to come. */
  record Comparison(String fieldName) implements Filter {}
}
