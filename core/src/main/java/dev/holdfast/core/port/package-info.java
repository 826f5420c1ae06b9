/**
 * What the path needs from the world: a store that keeps what it is given, and a sender.
 *
 * <p>Whatever implements these does input and output and decides nothing.
 */
@NullMarked
package dev.holdfast.core.port;

import org.jspecify.annotations.NullMarked;
