package dev.holdfast.server.api;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Answer.NotRetryable.Obstacle;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageDetail;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Shows messages with their attempts, and retries them by hand. */
final class MessagesApi {
  private static final String PATH = "/v1/messages";
  private static final Set<String> FILTERS =
      Set.of(
          "status",
          "endpoint",
          "subscription",
          "event",
          "type",
          "subject",
          "since",
          "until",
          "cursor",
          "limit");

  private final Engine engine;
  private final RetrySchedule schedule;

  MessagesApi(Engine engine, RetrySchedule schedule) {
    this.engine = engine;
    this.schedule = schedule;
  }

  List<Route> routes() {
    return List.of(
        Route.get(PATH, Access.LOOK, FILTERS, this::list),
        Route.get(PATH + "/{id}", Access.LOOK, Set.of(), this::get),
        Route.post(PATH + "/{id}/retry", Access.MANAGE, this::retry));
  }

  private void list(Exchange exchange, byte[] body) {
    History.Query query = query(exchange);
    exchange.then(
        engine.read(history -> page(history.messages(query))), json -> exchange.answer(200, json));
  }

  private static History.Query query(Exchange exchange) {
    Parameters parameters = exchange.parameters();
    String event = parameters.one("event");
    return new History.Query(
        exchange.tenant(),
        statuses(parameters.many("status")),
        parameters.id("endpoint", Id.ENDPOINT),
        parameters.id("subscription", Id.SUBSCRIPTION),
        event == null ? null : eventKey(event),
        parameters.time("since"),
        parameters.time("until"),
        parameters.before(Cursor.List.MESSAGES),
        parameters.limit(),
        parameters.about());
  }

  private static EventKey eventKey(String text) {
    return EventsApi.key(text)
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_PARAMETER,
                    "event",
                    "Give an event's id as it came in an answer, or as you chose it."));
  }

  private static Set<Status> statuses(List<String> given) {
    Set<Status> statuses = EnumSet.noneOf(Status.class);
    for (String name : given) {
      statuses.add(status(name));
    }
    return statuses;
  }

  private static Status status(String name) {
    for (Status status : Status.values()) {
      if (Json.kebab(status).equals(name)) {
        return status;
      }
    }
    throw Refusal.of(
        Kind.INVALID_PARAMETER,
        "status",
        "Give one or more of these, separated by commas: pending, waiting, parked, delivered,"
            + " dropped.");
  }

  private Buffer page(History.Page page) {
    Long next = page.next();
    return Json.list(
        page.items(),
        (out, message) -> write(out, message, schedule),
        next == null ? null : Cursor.text(Cursor.List.MESSAGES, next));
  }

  private void get(Exchange exchange, byte[] body) {
    long id = id(exchange);
    String tenant = exchange.tenant();
    exchange.then(
        engine.read(history -> history.message(tenant, id).map(this::json)),
        found ->
            found.ifPresentOrElse(
                json -> exchange.answer(200, json), () -> exchange.refuse(Problem.UNKNOWN_ID)));
  }

  private Buffer json(MessageDetail detail) {
    return Json.write(
        out -> {
          out.writeStartObject();
          writeHead(out, detail.message(), schedule);
          out.writeArrayPropertyStart("attempts");
          for (Attempt attempt : detail.attempts()) {
            writeAttempt(out, attempt);
          }
          out.writeEndArray();
          out.writeEndObject();
        });
  }

  private void retry(Exchange exchange, byte[] body) {
    long id = id(exchange);
    exchange.ask(
        engine,
        new Request.RetryNow(exchange.tenant(), id),
        answer -> {
          switch (answer) {
            case Answer.RetryStarted _ ->
                exchange.answer(
                    202,
                    Json.write(
                        out -> {
                          out.writeStartObject();
                          Json.id(out, "id", Id.MESSAGE, id);
                          out.writeEndObject();
                        }));
            case Answer.NotRetryable(Obstacle obstacle) ->
                exchange.refuse(Problem.of(Kind.NOT_RETRYABLE, remedy(obstacle)));
            case Answer.NotFound _ -> refuseUnlessFinished(exchange, id);
            case Answer.Refused refused -> exchange.refuse(Problem.of(refused));
            case Answer.Accepted _,
                Answer.Conflict _,
                Answer.OfSubscriptions _,
                Answer.ReplayIs _,
                Answer.EndpointIs _,
                Answer.NotOurs _ ->
                exchange.unexpected(answer);
          }
        });
  }

  /** The engine only knows unfinished messages; one that it does not know may be finished. */
  private void refuseUnlessFinished(Exchange exchange, long id) {
    String tenant = exchange.tenant();
    exchange.then(
        engine.read(history -> history.message(tenant, id).isPresent()),
        finished ->
            exchange.refuse(
                finished
                    ? Problem.of(Kind.NOT_RETRYABLE, remedy(Obstacle.FINISHED))
                    : Problem.UNKNOWN_ID));
  }

  private static String remedy(Obstacle obstacle) {
    return switch (obstacle) {
      case FINISHED ->
          "The message is delivered or dropped, which is final. A replay sends it again as a new"
              + " message: POST /v1/replays.";
      case ENDPOINT_FROZEN ->
          "Its endpoint is frozen. Enable the endpoint first: POST /v1/endpoints/{id}/enable;"
              + " that makes all its messages due.";
      case BEING_SENT ->
          "It is being sent, or is about to be. Look at its attempts: GET /v1/messages/{id}.";
    };
  }

  private static long id(Exchange exchange) {
    return Id.parse(Id.MESSAGE, exchange.variable())
        .orElseThrow(() -> new Refusal(Problem.UNKNOWN_ID));
  }

  /** A message as it stands in a list: with the number of its attempts. */
  static void write(JsonGenerator out, MessageSummary message, RetrySchedule schedule) {
    out.writeStartObject();
    writeHead(out, message, schedule);
    out.writeNumberProperty("attempts", message.attempts());
    out.writeEndObject();
  }

  private static void writeHead(JsonGenerator out, MessageSummary message, RetrySchedule schedule) {
    Message unfinished = message.unfinished();
    Instant base = unfinished == null ? null : unfinished.base();
    Json.id(out, "id", Id.MESSAGE, message.id());
    out.writeStringProperty("event", message.event());
    Json.id(out, "subscription", Id.SUBSCRIPTION, message.subscription());
    Json.id(out, "endpoint", Id.ENDPOINT, message.endpoint());
    out.writeStringProperty("type", message.type());
    Json.text(out, "subject", message.subject());
    Json.constant(out, "status", message.status());
    Json.constant(out, "reason", message.reason());
    Json.time(out, "createdAt", Id.time(message.id()));
    Json.time(out, "deadline", base == null ? null : schedule.deadline(base));
    Json.time(out, "nextAttemptAt", nextAttemptAt(unfinished));
    Long replayOf = message.replayOf();
    Json.text(out, "replayOf", replayOf == null ? null : Id.text(Id.MESSAGE, replayOf));
    Json.constant(out, "version", message.version());
  }

  /** Known for waiting messages only: a parked one's due time is its deadline. */
  private static @Nullable Instant nextAttemptAt(@Nullable Message unfinished) {
    return unfinished != null && unfinished.status() == Message.Status.WAITING
        ? unfinished.due()
        : null;
  }

  private static void writeAttempt(JsonGenerator out, Attempt attempt) {
    out.writeStartObject();
    writeAttemptHead(out, attempt);
    writeOutcome(out, attempt.outcome());
    out.writeEndObject();
  }

  /** When an attempt was made, as fields of the object that is being written. */
  static void writeAttemptHead(JsonGenerator out, Attempt attempt) {
    out.writeNumberProperty("number", attempt.number());
    Json.time(out, "at", attempt.at());
    out.writeNumberProperty("durationMillis", attempt.durationMillis());
    out.writeBooleanProperty("scheduled", attempt.scheduled());
  }

  /** How an attempt ended, as fields of the object that is being written. */
  static void writeOutcome(JsonGenerator out, Outcome outcome) {
    writeEnding(out, outcome);
    out.writeStringProperty("response", new String(outcome.response(), StandardCharsets.UTF_8));
  }

  /** The same without what was answered. */
  static void writeEnding(JsonGenerator out, Outcome outcome) {
    switch (outcome) {
      case Outcome.Success success -> {
        out.writeStringProperty("outcome", "success");
        out.writeNumberProperty("status", success.status());
        out.writeNullProperty("error");
      }
      case Outcome.Failure failure -> {
        out.writeStringProperty("outcome", "failure");
        Integer status = failure.status();
        if (status == null) {
          out.writeNullProperty("status");
        } else {
          out.writeNumberProperty("status", status);
        }
        Json.constant(out, "error", failure.kind());
      }
    }
  }
}
