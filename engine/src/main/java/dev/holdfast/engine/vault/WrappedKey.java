package dev.holdfast.engine.vault;

import java.time.Instant;

/**
 * A key of a store as the store has it.
 *
 * @param master the id of the master key that it is wrapped with
 */
public record WrappedKey(int id, String master, byte[] wrapped, Instant createdAt) {}
