package dev.holdfast.core.port;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Replay;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What people ask about messages, finished or not. Never on the path of a message. */
public interface History {

  /**
   * One page of a tenant's messages, newest first. Looks at no more than a fixed number of rows.
   */
  Page messages(Query query) throws StoreException;

  /** A message of the tenant with all its attempts. */
  Optional<MessageDetail> message(String tenant, long id) throws StoreException;

  /** An event of the tenant, by our id or the caller's, with the state of its messages. */
  Optional<EventDetail> event(String tenant, EventKey key) throws StoreException;

  /** What an endpoint has gone through, newest first, at most {@code limit}. */
  List<Change> changes(long endpoint, int limit) throws StoreException;

  /** What all endpoints of a tenant have gone through, newest first. */
  List<EndpointChange> changes(ChangeQuery query) throws StoreException;

  /** A replay of the tenant. */
  Optional<Replay> replay(String tenant, long id) throws StoreException;

  /** Replays of a tenant with an id below {@code before}, newest first. */
  List<Replay> replays(String tenant, long before, int limit) throws StoreException;

  /**
   * Events of the tenant, the newest first, at most {@code limit}. Looks at a limited number of
   * events, and of bytes.
   */
  List<Event> latestEvents(String tenant, int limit) throws StoreException;

  /** An event's id: ours, or the caller's. */
  sealed interface EventKey {
    record Own(long id) implements EventKey {}

    record Callers(String id) implements EventKey {}
  }

  /** The states that people see. */
  enum Status {
    PENDING,
    WAITING,
    PARKED,
    DELIVERED,
    DROPPED
  }

  /**
   * Which messages are wanted.
   *
   * @param statuses those to be found; all when empty
   * @param before only messages with an id below; {@code Long.MAX_VALUE} for the first page
   */
  record Query(
      String tenant,
      Set<Status> statuses,
      @Nullable Long endpoint,
      @Nullable Long subscription,
      @Nullable EventKey event,
      @Nullable Instant since,
      @Nullable Instant until,
      long before,
      int limit) {}

  /**
   * What was found.
   *
   * @param next where the next page begins, if there may be one: its {@link Query#before}
   */
  record Page(List<MessageSummary> items, @Nullable Long next) {}

  /**
   * A message without its attempts.
   *
   * @param unfinished the message as it waits, while it is unfinished
   * @param event the event's id as people see it
   * @param replayOf the message that it was made of by a replay
   * @param version as {@link Message#version}
   */
  record MessageSummary(
      long id,
      String event,
      long subscription,
      long endpoint,
      String type,
      @Nullable String subject,
      Status status,
      @Nullable DropReason reason,
      int attempts,
      @Nullable Message unfinished,
      @Nullable Version version,
      @Nullable Long replayOf) {

    /** A message that no replay has made. */
    public MessageSummary(
        long id,
        String event,
        long subscription,
        long endpoint,
        String type,
        @Nullable String subject,
        Status status,
        @Nullable DropReason reason,
        int attempts,
        @Nullable Message unfinished,
        @Nullable Version version) {
      this(
          id,
          event,
          subscription,
          endpoint,
          type,
          subject,
          status,
          reason,
          attempts,
          unfinished,
          version,
          null);
    }

    /**
     * The same message, made of another by a replay.
     *
     * @param original 0 when it was made of an event that there was no message of
     */
    public MessageSummary madeOf(long original) {
      return new MessageSummary(
          id,
          event,
          subscription,
          endpoint,
          type,
          subject,
          status,
          reason,
          attempts,
          unfinished,
          version,
          original == 0 ? null : Long.valueOf(original));
    }
  }

  record MessageDetail(MessageSummary message, List<Attempt> attempts) {}

  record EventDetail(Event event, List<MessageSummary> messages) {}

  /** A change of an endpoint's state. */
  record Change(Instant at, Health.State state, Health.Reason reason) {}

  /**
   * A change of the state of one of several endpoints.
   *
   * @param id orders those of the same time
   */
  record EndpointChange(long id, long endpoint, Change change) {}

  /**
   * Which changes are wanted.
   *
   * @param since only those at that time or later
   * @param until only those before that time
   * @param before only those that come after it in the list; absent for the first page
   */
  record ChangeQuery(
      String tenant,
      @Nullable Instant since,
      @Nullable Instant until,
      @Nullable ChangePosition before,
      int limit) {}

  /** A place in the list of changes. */
  record ChangePosition(Instant at, long id) {}
}
