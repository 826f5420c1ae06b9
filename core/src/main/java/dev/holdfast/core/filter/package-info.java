/**
 * What subscriptions ask of an event's payload: filters, how they are read, whether they hold, and
 * how those that hold are found among many.
 *
 * <p>Pure: an event's two states go in, an answer comes out. {@code FilterReader} and {@code
 * FilterWriter} turn JSON into {@link dev.holdfast.core.filter.Filters} and back; {@link
 * dev.holdfast.core.filter.Payload} reads the fields of an event; {@code Compare} says what is the
 * same and what is less; {@link dev.holdfast.core.filter.FilterIndex} finds.
 */
@NullMarked
package dev.holdfast.core.filter;

import org.jspecify.annotations.NullMarked;
