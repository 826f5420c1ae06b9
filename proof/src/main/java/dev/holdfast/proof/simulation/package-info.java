/**
 * Small worlds in which everything goes wrong, each made from one seed.
 *
 * <p>{@link dev.holdfast.proof.simulation.World} says what the seed has made: the settings, and a
 * script of what people, receivers, the disk and the power do. {@link
 * dev.holdfast.proof.simulation.Simulation} lives through it: it turns the engine's loop, which is
 * the one that runs in production, with a clock of its own, and stands in for the store and the
 * receivers. {@link dev.holdfast.proof.model.Model} watches and knows what may happen.
 *
 * <p>Nothing here reads a clock, starts a thread or depends on a hash code that changes: the same
 * seed gives the same trace, byte for byte.
 */
@NullMarked
package dev.holdfast.proof.simulation;

import org.jspecify.annotations.NullMarked;
