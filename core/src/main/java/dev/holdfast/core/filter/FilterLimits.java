package dev.holdfast.core.filter;

/** How much of everything there may be in the filters of one subscription. */
public final class FilterLimits {
  /** Comparisons in all, those in groups included. */
  public static final int FILTERS = 100;

  public static final int GROUPS = 10;

  /** The fewest filters of a group. */
  public static final int GROUP_LEAST = 2;

  /** The most filters of a group. */
  public static final int GROUP_MOST = 5;

  /** Characters of a field's name. */
  public static final int NAME_CHARACTERS = 256;

  /** Characters of a value as JSON, without white space and escapes. */
  public static final int VALUE_CHARACTERS = 8_192;

  /** How deep arrays and objects of a value may be nested. */
  public static final int VALUE_NESTING = 20;

  private FilterLimits() {}
}
