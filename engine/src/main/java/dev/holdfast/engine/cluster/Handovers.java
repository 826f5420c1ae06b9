package dev.holdfast.engine.cluster;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Who has to hear of a batch that was written: it may be a little more than needed. */
final class Handovers {
  private Handovers() {}

  /** The shards of others that the batch has left something for. */
  static Shards of(Batch batch) {
    if (batch.ours().equals(Shards.ALL)) {
      return Shards.NONE;
    }
    Set<Integer> found = new TreeSet<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept ->
            accept.events().forEach(event -> add(event, batch.ours(), found));
        case Write.Spread spread -> addMessages(spread.messages(), batch.ours(), found);
        case Write.Move move -> add(move.message().endpoint(), batch.ours(), found);
        case Write.Park park -> add(park.message().endpoint(), batch.ours(), found);
        case Write.Progress progress -> {
          if (progress.before() == null) {
            add(progress.replay().id(), batch.ours(), found);
          }
          progress.made().forEach(one -> add(one.message().endpoint(), batch.ours(), found));
        }
        case Write.Subscribe subscribe -> add(subscribe.history(), batch.ours(), found);
        case Write.Import imported ->
            imported.created().forEach(one -> add(one.history(), batch.ours(), found));
        case Write.Drop drop -> add(drop.announced(), batch.ours(), found);
        case Write.ChangeState changed -> add(changed.announced(), batch.ours(), found);
        case Write.Deliver _,
            Write.Retry _,
            Write.Update _,
            Write.Unsubscribe _,
            Write.Forget _,
            Write.Configure _ -> {}
      }
    }
    return found.isEmpty() ? Shards.NONE : Shards.of(found);
  }

  /** Whether the batch has changed what everyone knows. */
  static boolean changeWhatIsKnown(Batch batch) {
    for (Write write : batch.writes()) {
      boolean changes =
          switch (write) {
            case Write.Subscribe _,
                Write.Import _,
                Write.Update _,
                Write.Unsubscribe _,
                Write.Forget _,
                Write.Configure _ ->
                true;
            case Write.Accept _,
                Write.Spread _,
                Write.Deliver _,
                Write.Retry _,
                Write.Park _,
                Write.Move _,
                Write.Drop _,
                Write.ChangeState _,
                Write.Progress _ ->
                false;
          };
      if (changes) {
        return true;
      }
    }
    return batch.deeds().stream().anyMatch(deed -> deed.what() instanceof Deed.Configured);
  }

  private static void add(Write.@Nullable AcceptedEvent event, Shards ours, Set<Integer> found) {
    if (event != null) {
      addMessages(event.messages(), ours, found);
      for (FanOut step : event.later()) {
        add(step.event(), ours, found);
      }
    }
  }

  private static void add(@Nullable Replay history, Shards ours, Set<Integer> found) {
    if (history != null) {
      add(history.id(), ours, found);
    }
  }

  private static void addMessages(List<Message> messages, Shards ours, Set<Integer> found) {
    for (Message message : messages) {
      add(message.endpoint(), ours, found);
    }
  }

  private static void add(long id, Shards ours, Set<Integer> found) {
    int shard = Shards.of(id);
    if (!ours.contains(shard)) {
      found.add(shard);
    }
  }
}
