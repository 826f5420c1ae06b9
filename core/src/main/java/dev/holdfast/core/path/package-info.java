/**
 * The path of a message. {@link dev.holdfast.core.path.Loop} decides everything on it: inputs go
 * in, effects come out, and what does the input and output stands around it.
 *
 * <ol>
 *   <li>{@code Accept} gives the events of a request their ids, if {@code Admission} lets them in,
 *       and
 *   <li>{@code Match} finds the subscriptions that want them, by type, subject and filters ({@code
 *       SubscriptionIndex}). {@code Make} makes one message for each, or two while it gets events
 *       in both versions of its format.
 *   <li>{@code Commit} has them written; when they are on disk, the sender gets its 202 ({@code
 *       Answers}, a few in each step), and
 *   <li>{@code Dispatch} takes the messages from memory, lane by lane, and starts attempts.
 *   <li>{@code Settle} lets the rules decide about an attempt that has ended: the message is
 *       delivered, waits or is dropped, the endpoint stays as it is or changes its state. That is
 *       committed again.
 * </ol>
 *
 * <p>Beside the path, for messages that do not arrive at once:
 *
 * <ul>
 *   <li>{@code Wait}: a message that failed waits for its slot, in {@code RetryTimer} when that is
 *       near, in the store when it is not.
 *   <li>{@code Park}: a message whose time has come while its endpoint takes nothing.
 *   <li>{@code Circuit}: what a change of an endpoint's state brings about; {@code Probe} tries a
 *       disabled one now and then.
 *   <li>{@code Refill}: brings what waits in the store into a lane as its window empties, after a
 *       restart, a backlog or a recovery.
 *   <li>{@code Subscriptions}, {@code Imports}, {@code RetryByHand}, {@code Replays}: what people
 *       ask for. What depends on something that is being written is asked again {@code Later}.
 *       {@code Align} brings the messages of a subscription that has changed in line with it.
 *   <li>{@code Spread}: makes the messages of an event that very many want, in steps.
 *   <li>{@code Announce}: tells subscribers what became of endpoints and messages.
 *   <li>{@code HandOver}: where messages go that the store has just got.
 * </ul>
 *
 * <p>And where several nodes share a store, so that each decides for some shards only:
 *
 * <ul>
 *   <li>{@code Custody}: shards come to this node, and go to others.
 *   <li>{@code Inbox}: takes in what other nodes have left for this one; {@code Look} reads a
 *       message anew of which this node cannot tell how the store has it.
 *   <li>{@code News}: takes in what other nodes have changed of subscriptions and settings. What
 *       was decided before it came is {@code Stale} and decided anew.
 * </ul>
 *
 * <p>A message is held in memory in exactly one place ({@code Held}) or it is a row of the store
 * that will be found: through its due time, or through its endpoint. How much is held is bounded by
 * {@link dev.holdfast.core.path.Limits}.
 */
@NullMarked
package dev.holdfast.core.path;

import org.jspecify.annotations.NullMarked;
