/**
 * The contract's rules as pure functions: given a message, an endpoint's health, an outcome and the
 * time, what happens next.
 *
 * <ul>
 *   <li>{@link dev.holdfast.core.rules.RetrySchedule}: when a message is tried, and when it is
 *       given up.
 *   <li>{@link dev.holdfast.core.rules.RetryAfter}: what an endpoint that asks for time gets.
 *   <li>{@link dev.holdfast.core.rules.EndpointHealth}: when an endpoint is disabled, frozen and
 *       enabled.
 *   <li>{@link dev.holdfast.core.rules.ProbeChoice}: which message probes a disabled endpoint.
 *   <li>{@link dev.holdfast.core.rules.Recovery}: what becomes due when an endpoint is enabled.
 *   <li>{@link dev.holdfast.core.rules.Pace}: how much is sent to one endpoint at once.
 * </ul>
 *
 * <p>Nothing here reads a clock, draws a number, or does input and output; the build checks it.
 */
@NullMarked
package dev.holdfast.core.rules;

import org.jspecify.annotations.NullMarked;
