/** The store that several nodes share: a PostgreSQL database. */
@NullMarked
package dev.holdfast.engine.store.postgres;

import org.jspecify.annotations.NullMarked;
