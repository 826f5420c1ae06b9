/**
 * Attempts over HTTP.
 *
 * <p>{@link dev.holdfast.engine.http.Attempts} makes them, with a {@code HttpSender} on each of two
 * event loops: one for endpoints that have proven themselves, and one for all others. An attempt
 * takes a kept connection to its origin, shares one that speaks HTTP/2, or opens one: the name is
 * looked up, {@link dev.holdfast.engine.egress.EgressRules} sorts out the addresses that must not
 * be reached, and the connection goes to an address that was checked. The connection reads the
 * answer, {@code Deadlines} ends what takes too long, and whoever asked hears the outcome exactly
 * once.
 */
@NullMarked
package dev.holdfast.engine.http;

import org.jspecify.annotations.NullMarked;
