package dev.holdfast.core.model;

import java.time.Instant;

/**
 * One HTTP POST of a message, with its outcome.
 *
 * @param number counted from 1
 * @param scheduled whether it used up one of the message's scheduled attempts
 */
public record Attempt(
    long message,
    int number,
    Instant at,
    long durationMillis,
    boolean scheduled,
    Outcome outcome) {}
