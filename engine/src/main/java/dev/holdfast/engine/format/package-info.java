/** How an event is put into the body of a request. */
@NullMarked
package dev.holdfast.engine.format;

import org.jspecify.annotations.NullMarked;
