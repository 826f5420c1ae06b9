package dev.holdfast.proof.simulation;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Puts what happens into words for the trace. */
final class Words {
  private final Trace trace;

  Words(Trace trace) {
    this.trace = trace;
  }

  static String of(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Success success -> Integer.toString(success.status());
      case Outcome.Failure failure ->
          failure.kind()
              + (failure.status() == null ? "" : " " + failure.status())
              + (failure.retryAfter() == null ? "" : " Retry-After: " + failure.retryAfter());
    };
  }

  static String of(Input.Loaded loaded) {
    return loaded.messages().stream().map(message -> message.id()).toList().toString();
  }

  String of(Batch batch) {
    List<String> parts = new ArrayList<>();
    batch.writes().forEach(write -> parts.add(of(write)));
    for (Endpoint endpoint : batch.endpoints()) {
      parts.add("counts of " + trace.endpoint(endpoint.id()));
    }
    return String.join(", ", parts);
  }

  private String of(Write write) {
    return switch (write) {
      case Write.Accept accept ->
          "accept " + accept.events().stream().map(this::of).collect(Collectors.joining(", "));
      case Write.Deliver deliver -> "delivered " + trace.message(deliver.message().id());
      case Write.Retry retry ->
          trace.message(retry.message().id())
              + " waits, slot "
              + retry.message().slot()
              + " due "
              + due(retry.message().due());
      case Write.Park park -> "park " + trace.message(park.message().id());
      case Write.Drop drop -> "drop " + trace.message(drop.message().id()) + " " + drop.reason();
      case Write.Subscribe subscribe ->
          "subscribe "
              + trace.subscription(subscribe.subscription().id())
              + " to "
              + trace.endpoint(subscribe.subscription().endpoint())
              + version(subscribe.subscription());
      case Write.Import all ->
          "import "
              + all.created().size()
              + " new, "
              + all.changed().stream().map(this::of).toList();
      case Write.Update update ->
          "change "
              + trace.subscription(update.subscription().id())
              + " to "
              + trace.endpoint(update.subscription().endpoint())
              + version(update.subscription())
              + (update.subscription().paused() ? ", paused" : "");
      case Write.Move move ->
          "move "
              + trace.message(move.message().id())
              + " to "
              + trace.endpoint(move.message().endpoint());
      case Write.Spread spread ->
          "make " + spread.messages().size() + " of " + trace.event(spread.step().event());
      case Write.Progress progress ->
          "replay " + progress.made().size() + ", " + progress.replay().state();
      case Write.Unsubscribe unsubscribe ->
          "unsubscribe " + trace.subscription(unsubscribe.subscription().id());
      case Write.Forget forget -> "forget " + trace.subscription(forget.subscription());
      case Write.Configure configure -> "set " + trace.endpoint(configure.endpoint());
      case Write.ChangeState change ->
          trace.endpoint(change.endpoint().id()) + " is " + change.endpoint().health().state();
    };
  }

  private String of(Write.AcceptedEvent accepted) {
    return trace.event(accepted.event().id())
        + " with "
        + accepted.messages().stream()
            .map(
                message ->
                    message.status()
                        + " "
                        + trace.message(message.id())
                        + " for "
                        + trace.endpoint(message.endpoint())
                        + version(message))
            .toList();
  }

  static String version(Message message) {
    return message.version() == null ? "" : " in " + message.version();
  }

  private static String version(Subscription subscription) {
    return subscription.form().format() == Format.WORKFRONT
        ? " in " + subscription.form().version()
        : "";
  }

  static String of(Answer answer) {
    return switch (answer) {
      case Answer.Accepted accepted -> "accepted " + accepted.receipts().size();
      case Answer.Subscribed _ -> "subscribed";
      default -> answer.toString();
    };
  }

  private static String due(@Nullable Instant due) {
    return due == null ? "never" : Trace.time(due);
  }
}
