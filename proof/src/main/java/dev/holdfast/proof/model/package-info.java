/**
 * The contract once more, as simply as it can be written: what the simulation holds the engine
 * against.
 *
 * <p>It knows the domain and what passes through the ports, and nothing of how the engine decides:
 * no rule and no step of the path is used here. Where the engine is fast and forgets, the model is
 * slow and remembers.
 */
@NullMarked
package dev.holdfast.proof.model;

import org.jspecify.annotations.NullMarked;
