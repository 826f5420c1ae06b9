/** The whole program, with what proves it beside what serves. */
@NullMarked
package dev.holdfast.proof;

import org.jspecify.annotations.NullMarked;
