package dev.holdfast.engine;

/**
 * How often a value was how large.
 *
 * @param bounds the largest value of each bucket, ascending
 * @param counts how many values are in each bucket, with one more for those beyond all bounds
 * @param sum all values together
 */
public record Distribution(long[] bounds, long[] counts, long sum) {}
