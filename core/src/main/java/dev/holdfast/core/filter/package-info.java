/**
 * What subscriptions ask of an event's payload: filters, how they are read, and whether they hold.
 *
 * <p>Pure: an event's two states go in, an answer comes out.
 */
@NullMarked
package dev.holdfast.core.filter;

import org.jspecify.annotations.NullMarked;
