package dev.holdfast.core.port;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Subscription;
import java.time.Instant;

/** An attempt to be made: everything that the sender needs to know. */
public record Delivery(
    Message message, Event event, Subscription subscription, String url, Instant startedAt) {}
