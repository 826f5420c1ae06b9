package dev.holdfast.core.path;

/**
 * What has happened of one tenant's for some time, all of it on disk.
 *
 * @param accepted events that were accepted
 * @param delivered messages that were delivered
 * @param failed attempts that failed
 * @param dropped messages that were given up
 * @param delays of what was delivered, from its event's acceptance to the end of the attempt
 */
public record Activity(
    String tenant, long accepted, long delivered, long failed, long dropped, Delays delays) {}
