package dev.holdfast.core.port;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Subscription;
import java.util.List;

/**
 * What every node knows of subscriptions and the settings of endpoints, or what of it has changed.
 *
 * @param version grows with each change; all changes up to it are in here, or were known
 * @param endpoints those that are new, or whose settings have changed. Their health is news only to
 *     nodes that do not decide for them, and may be old
 * @param subscriptions those that are new or have changed
 * @param ended those that have ended and may have unfinished messages
 * @param forgotten those that have none any more
 */
public record Known(
    long version,
    List<Endpoint> endpoints,
    List<Subscription> subscriptions,
    List<Subscription> ended,
    List<Long> forgotten) {}
