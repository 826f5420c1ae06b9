/**
 * Whether Holdfast keeps its promises when everything around it goes wrong, with real processes on
 * a real disk.
 *
 * <p>{@link dev.holdfast.proof.torture.Torture} runs {@code Scenario}s one after the other. Each
 * has its own {@code Scene}: a server that is killed, stopped, starved or damaged, {@code
 * Publishers} that send events to it all the time, and a {@code Listener} that takes what it
 * delivers. A {@code Ledger} outside the server notes every 202 and every arrival. At the end it is
 * compared with what the server's store says: every acknowledged event has arrived, and none came
 * again without a reason.
 */
@NullMarked
package dev.holdfast.proof.torture;

import org.jspecify.annotations.NullMarked;
