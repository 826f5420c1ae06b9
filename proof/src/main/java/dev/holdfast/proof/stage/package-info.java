/**
 * What the benchmark and the torture are played on: processes that they start, calls that they
 * make, and how they tell people what is going on and what came of it.
 */
@NullMarked
package dev.holdfast.proof.stage;

import org.jspecify.annotations.NullMarked;
