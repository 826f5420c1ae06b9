/**
 * The words of the contract as plain values: events, subscriptions, endpoints, messages, attempts.
 *
 * <p>Nothing here decides, waits or does input and output.
 */
@NullMarked
package dev.holdfast.core.model;

import org.jspecify.annotations.NullMarked;
