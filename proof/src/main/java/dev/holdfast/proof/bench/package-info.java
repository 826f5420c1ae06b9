/**
 * How fast Holdfast is, measured the same way every time.
 *
 * <p>{@link dev.holdfast.proof.bench.Bench} runs {@code Scenario}s one after the other. A scenario
 * takes what it needs from the {@code Rig}: a server under test, a {@code Receiver} for what it
 * delivers, a {@code LoadGenerator} for what it accepts. Each is a process of its own, so that the
 * CPU time of each is known and none shares a heap with another. All traffic stays on 127.0.0.1.
 *
 * <p>Every event carries a {@code Mark}: when it was meant to be sent, and a number. So the
 * receiver knows how long each message took, waiting to be sent included, and at the end of a
 * scenario whether each accepted event arrived.
 */
@NullMarked
package dev.holdfast.proof.bench;

import org.jspecify.annotations.NullMarked;
