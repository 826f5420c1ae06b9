package dev.holdfast.core.port;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.TypePattern;
import java.time.Instant;
import java.util.List;
import java.util.Map;
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

  /** The same event without its messages. */
  Optional<Event> eventAlone(String tenant, EventKey key) throws StoreException;

  /**
   * One page of a tenant's events, newest first, with what has become of their messages. Looks at
   * no more than a fixed number of rows.
   */
  EventPage events(EventQuery query) throws StoreException;

  /**
   * One page of the attempts of messages that an endpoint has. Messages are gone through from the
   * newest to the oldest, the attempts of each likewise; a page has its attempts by their time,
   * newest first. Looks at no more than a fixed number of rows.
   */
  AttemptPage attempts(AttemptQuery query) throws StoreException;

  /**
   * The newest attempts of some endpoints of a tenant, oldest first, so many of each at most.
   * Endpoints without any are left out. Looks at no more than a fixed number of rows for all of
   * them, among an endpoint's unfinished messages and the newest of those that have finished.
   *
   * @param since when they were made, and their messages, too, unless these are unfinished
   */
  Map<Long, List<AttemptMark>> latestAttempts(
      String tenant, List<Long> endpoints, Instant since, int each) throws StoreException;

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

  /** What is drawn of an attempt. */
  record AttemptMark(Instant at, long durationMillis, boolean isSuccess) {}

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
   * @param about what their events are about
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
      int limit,
      About about) {

    /** Messages whatever they are about. */
    public Query(
        String tenant,
        Set<Status> statuses,
        @Nullable Long endpoint,
        @Nullable Long subscription,
        @Nullable EventKey event,
        @Nullable Instant since,
        @Nullable Instant until,
        long before,
        int limit) {
      this(
          tenant,
          statuses,
          endpoint,
          subscription,
          event,
          since,
          until,
          before,
          limit,
          About.ANYTHING);
    }
  }

  /** What events are about; anything where it is absent. */
  record About(@Nullable TypePattern type, @Nullable String subject) {
    public static final About ANYTHING = new About(null, null);

    public boolean isAnything() {
      return type == null && subject == null;
    }

    /** Whether it is of this. */
    public boolean covers(String eventType, @Nullable String eventSubject) {
      return (type == null || type.matches(eventType))
          && (subject == null || subject.equals(eventSubject));
    }
  }

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

  /**
   * Which events are wanted.
   *
   * @param before only events with an id below; {@code Long.MAX_VALUE} for the first page
   */
  record EventQuery(
      String tenant,
      About about,
      @Nullable Instant since,
      @Nullable Instant until,
      long before,
      int limit) {}

  /**
   * Events that were found.
   *
   * @param next where the next page begins, if there may be one: its {@link EventQuery#before}
   */
  record EventPage(List<EventSummary> items, @Nullable Long next) {}

  /**
   * An event without its payload.
   *
   * @param publicId its id as people see it
   * @param bytes how long its payload is
   * @param messages how many of its messages, also of those that replays have made, are in each
   *     status, as far as one read looks at them
   */
  record EventSummary(
      long id,
      String publicId,
      String type,
      @Nullable String subject,
      @Nullable Instant occurredAt,
      int bytes,
      Map<Status, Integer> messages) {}

  /**
   * Which attempts are wanted.
   *
   * @param since only attempts that began then or later
   * @param until only attempts that began earlier
   * @param madeSince messages that were made before are not looked at
   * @param before where a page goes on; {@link AttemptPosition#START} for the first one
   */
  record AttemptQuery(
      String tenant,
      long endpoint,
      @Nullable Instant since,
      @Nullable Instant until,
      @Nullable Instant madeSince,
      AttemptPosition before,
      int limit) {}

  /** The attempt of a message after which a page goes on: with those of lower numbers. */
  record AttemptPosition(long message, int number) {
    public static final AttemptPosition START =
        new AttemptPosition(Long.MAX_VALUE, Integer.MAX_VALUE);
  }

  /**
   * Attempts that were found.
   *
   * @param next where the next page begins, if there may be one
   */
  record AttemptPage(List<Attempt> items, @Nullable AttemptPosition next) {}

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
