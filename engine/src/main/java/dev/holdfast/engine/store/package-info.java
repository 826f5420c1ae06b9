/**
 * The embedded store: one SQLite file that keeps what was accepted and what became of it.
 *
 * <p>{@link dev.holdfast.engine.store.SqliteStore} opens and closes it. A batch goes through {@code
 * Writer}, which has the only connection that writes. {@code PathReads} finds work for the path,
 * {@code HistoryReads} answers people; both have connections that cannot write. {@code
 * Checkpointer} moves what was written from the log into the file, and keeps the log small.
 */
@NullMarked
package dev.holdfast.engine.store;

import org.jspecify.annotations.NullMarked;
