/**
 * The HTTP interface: events in, subscriptions and endpoints managed, messages looked at.
 *
 * <p>A request comes in through {@link dev.holdfast.server.api.Intake}, which finds its route,
 * checks its key, receives its body within the limits and hands it to one of the {@code …Api}
 * classes, one per resource. These parse, ask the engine and answer. Everything runs on the
 * engine's own event loop, so that an event is handed over without a change of threads; what could
 * hold the loop up (large bodies, long lists, history) is done on other threads.
 */
@NullMarked
package dev.holdfast.server.api;

import org.jspecify.annotations.NullMarked;
