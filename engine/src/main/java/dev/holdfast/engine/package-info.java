/** The path with real threads, a real store and a real network around it. */
@NullMarked
package dev.holdfast.engine;

import org.jspecify.annotations.NullMarked;
