package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The latest moment, already past, that something to be kept tells of. */
public final class LatestTime {

  private LatestTime() {}

  public static Instant of(Batch batch) {
    Instant latest = Instant.EPOCH;
    for (Write write : batch.writes()) {
      latest = later(latest, of(write));
    }
    for (Deed deed : batch.deeds()) {
      latest = later(latest, deed.at());
    }
    return latest;
  }

  private static @Nullable Instant of(Write write) {
    return switch (write) {
      case Write.Accept accept ->
          accept.events().isEmpty() ? null : Id.time(accept.events().getLast().event().id());
      case Write.Deliver deliver -> deliver.at();
      case Write.Retry retry -> end(retry.attempt());
      case Write.Park park -> park.message().base();
      case Write.Move _, Write.Spread _ -> null;
      case Write.Progress progress ->
          progress.made().isEmpty() ? null : progress.made().getLast().message().base();
      case Write.Drop drop -> drop.at();
      case Write.Subscribe subscribe -> subscribe.subscription().createdAt();
      case Write.Update update -> update.subscription().changedAt();
      case Write.Import all -> of(all);
      case Write.Unsubscribe unsubscribe -> unsubscribe.at();
      case Write.Forget _, Write.Configure _ -> null;
      case Write.ChangeState change -> change.endpoint().health().since();
    };
  }

  private static Instant of(Write.Import all) {
    Instant latest = Instant.EPOCH;
    for (Write.Subscribe created : all.created()) {
      latest = later(latest, created.subscription().createdAt());
    }
    for (Write.Update changed : all.changed()) {
      latest = later(latest, changed.subscription().changedAt());
    }
    return latest;
  }

  private static Instant end(Attempt attempt) {
    return attempt.at().plusMillis(attempt.durationMillis());
  }

  private static Instant later(Instant one, @Nullable Instant other) {
    return other != null && other.isAfter(one) ? other : one;
  }
}
