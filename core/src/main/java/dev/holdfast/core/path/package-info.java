/** The path of a message. */
@NullMarked
package dev.holdfast.core.path;

import org.jspecify.annotations.NullMarked;
