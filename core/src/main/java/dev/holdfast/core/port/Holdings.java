package dev.holdfast.core.port;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Replay;
import java.util.List;
import java.util.Map;

/**
 * What is in some shards, for the node that decides for them from now on.
 *
 * @param endpoints as they are, with their health
 * @param unfinished how many messages of each endpoint are unfinished, for endpoints that have some
 * @param fanOuts events that were accepted and whose messages are not all made yet
 * @param replays those that are not at their end
 */
public record Holdings(
    List<Endpoint> endpoints,
    Map<Long, Snapshot.Unfinished> unfinished,
    List<FanOut> fanOuts,
    List<Replay> replays) {}
