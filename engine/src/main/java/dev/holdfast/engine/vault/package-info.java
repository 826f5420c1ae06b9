/**
 * Keeps what nobody but its receiver should know from whoever gets hold of the store's files.
 *
 * <p>{@link dev.holdfast.engine.vault.Vault} seals and opens values with keys of the store's own.
 * Those are in the store, wrapped by a {@link dev.holdfast.engine.vault.MasterKey}, which is not:
 * {@link dev.holdfast.engine.vault.MasterKeySource} says where it comes from. So another master key
 * means that a few keys are wrapped anew, and nothing else.
 */
@NullMarked
package dev.holdfast.engine.vault;

import org.jspecify.annotations.NullMarked;
