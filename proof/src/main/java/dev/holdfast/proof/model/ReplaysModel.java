package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.Replay.State;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Finished messages, and the replays of them: each fitting one gets exactly one new message. */
final class ReplaysModel {
  private final TreeMap<Long, Finished> finished = new TreeMap<>();
  private final Set<Long> replayed = new HashSet<>();
  private final Map<Long, Known> replays = new TreeMap<>();
  private final List<Selection> asked = new ArrayList<>();
  private final Set<Long> cancelling = new HashSet<>();
  private Instant gotOnAt = Instant.MIN;

  final Newcomers newcomers = new Newcomers();

  /** Whether anything is ever replayed, so that what is finished is remembered. */
  boolean remembers;

  private record Finished(
      long event,
      long subscription,
      long endpoint,
      @Nullable Version version,
      Ending ending,
      Instant at) {}

  /** A replay as it is on disk, and what it is of. */
  private record Known(Replay replay, NavigableMap<Long, Finished> fits) {}

  void finished(MessageModel message, Ending ending, Instant at) {
    if (remembers) {
      finished.put(
          message.id,
          new Finished(
              message.event,
              message.subscription,
              message.endpoint.id,
              message.version,
              ending,
              at));
    }
  }

  void ask(Selection selection) {
    asked.add(selection);
  }

  void cancel(long replay) {
    cancelling.add(replay);
  }

  void answered(Replay replay) {
    Known known = replays.get(replay.id());
    unless(known != null, "what is answered is on disk", replay);
  }

  /** The writes of one batch, in their order. */
  final class Checking {
    private final Map<Long, Replay> soFar = new HashMap<>();

    /**
     * The engine writes how far a replay is.
     *
     * @param isThere whether there is such a subscription
     */
    void check(Write.Progress write, LongPredicate isThere, Instant now) {
      Replay after = write.replay();
      if (after.selection().isHistory()) {
        checkHistory(write, isThere, now);
        return;
      }
      if (write.before() == null) {
        unless(
            asked.contains(after.selection())
                && after.equals(Replay.of(after.id(), after.tenant(), after.selection()))
                && write.made().isEmpty(),
            "a replay is made as somebody asked for it",
            write);
        return;
      }
      Known known = replays.get(after.id());
      if (known == null) {
        throw new Violation("only a stored replay goes on", write.toString());
      }
      Replay before = soFar.getOrDefault(after.id(), known.replay());
      unless(
          before.state() == State.RUNNING && isSameSoFar(before, write.before()),
          "a replay goes on from where it is",
          () -> write + " but " + before);
      if (after.state() == State.CANCELLED) {
        unless(
            cancelling.contains(after.id())
                && isSameSoFar(before.as(State.CANCELLED), after)
                && write.made().isEmpty(),
            "a replay is cancelled when somebody asks for it, and stays where it is",
            write);
      } else if (before.total() == null) {
        unless(
            after.equals(before.counted(known.fits().size())) && write.made().isEmpty(),
            "a replay is of what was finished before it was made",
            () -> after + " but of " + known.fits().keySet());
      } else {
        checkStep(write, known, before, isThere, now);
      }
      soFar.put(after.id(), after);
    }

    private void checkHistory(Write.Progress write, LongPredicate isThere, Instant now) {
      Replay after = write.replay();
      Known known = replays.get(after.id());
      if (known == null) {
        throw new Violation("only a stored history goes on", write.toString());
      }
      boolean isPresent = isThere.test(Objects.requireNonNull(after.selection().subscription()));
      unless(
          after.state() != State.CANCELLED || cancelling.contains(after.id()) || !isPresent,
          "a history ends when somebody asks for it, or with its subscription",
          write);
      newcomers.check(write, soFar.getOrDefault(after.id(), known.replay()), isPresent, now);
      soFar.put(after.id(), after);
    }

    private void checkStep(
        Write.Progress write, Known known, Replay before, LongPredicate isThere, Instant now) {
      Replay after = write.replay();
      Map<Long, Message> made = new HashMap<>();
      for (Write.Remade remade : write.made()) {
        Message message = remade.message();
        Finished original = known.fits().get(remade.original());
        unless(
            original != null
                && made.put(remade.original(), message) == null
                && remade.original() > before.through()
                && remade.original() <= after.through()
                && (before.selection().again() || !replayed.contains(remade.original())),
            "a replay makes exactly one new message of each that fits",
            () -> remade + " but of " + known.fits().keySet());
        Finished of = Objects.requireNonNull(original);
        Instant base = message.base();
        unless(
            message.event() == of.event()
                && message.subscription() == of.subscription()
                && base != null
                && !base.isAfter(now)
                && Row.of(message).equals(Row.replayed(base)),
            "a replayed message is new, of the same event and subscription, and due at once",
            remade);
        unless(
            message.version() == of.version(),
            "a replayed message has its original's version",
            () -> remade + " but " + of);
      }
      Map<Long, Finished> passed =
          known.fits().subMap(before.through(), false, after.through(), true);
      int skipped = 0;
      for (Map.Entry<Long, Finished> original : passed.entrySet()) {
        if (!made.containsKey(original.getKey())) {
          skipped++;
          boolean mayBe =
              !isThere.test(original.getValue().subscription())
                  || (replayed.contains(original.getKey()) && !before.selection().again());
          unless(
              mayBe,
              "a replay skips only what was replayed before or has no subscription",
              () -> original + " in " + write);
        }
      }
      Replay expected = before.after(made.size(), skipped, after.through());
      unless(
          after.equals(expected) || after.equals(expected.as(State.DONE)),
          "a replay counts what it does",
          () -> after + " but " + expected);
      boolean isDone = after.state() == State.DONE;
      unless(
          !isDone || Objects.equals(after.total(), after.done() + after.skipped()),
          "a replay that is done has done or skipped everything",
          after);
    }
  }

  /** How far a replay is, is on disk. */
  void store(Write.Progress write) {
    Replay replay = write.replay();
    Known known = replays.get(replay.id());
    if (replay.selection().isHistory()) {
      newcomers.store(write);
      replays.put(replay.id(), new Known(replay, new TreeMap<>()));
      return;
    }
    if (write.before() == null) {
      asked.remove(replay.selection());
      known = new Known(replay, fitting(replay));
    }
    replays.put(replay.id(), new Known(replay, Objects.requireNonNull(known).fits()));
    for (Write.Remade made : write.made()) {
      replayed.add(made.original());
    }
  }

  /** A subscription is on disk that wants what was before it. */
  void came(Subscription subscription, Replay history) {
    replays.put(history.id(), new Known(history, new TreeMap<>()));
    newcomers.came(subscription, history);
  }

  private NavigableMap<Long, Finished> fitting(Replay replay) {
    Selection selection = replay.selection();
    NavigableMap<Long, Finished> fits = new TreeMap<>();
    finished.forEach(
        (id, message) -> {
          Instant createdAt = Id.time(id);
          if (message.at().isBefore(replay.createdAt())
              && selection.endings().contains(message.ending())
              && (selection.endpoint() == null || selection.endpoint() == message.endpoint())
              && (selection.subscription() == null
                  || selection.subscription() == message.subscription())
              && (selection.since() == null || !createdAt.isBefore(selection.since()))
              && (selection.until() == null || createdAt.isBefore(selection.until()))) {
            fits.put(id, message);
          }
        });
    return fits;
  }

  /** The engine has heard of something that lets it go on. */
  void goesOn(Instant now) {
    gotOnAt = now;
  }

  Instant gotOnAt() {
    return gotOnAt;
  }

  /** The process starts again. */
  void restart(Instant now) {
    asked.clear();
    gotOnAt = now;
  }

  boolean areAtTheirEnd() {
    return replays.values().stream().noneMatch(known -> known.replay().state() == State.RUNNING);
  }

  @Override
  public String toString() {
    return replays.values().stream().map(Known::replay).toList().toString();
  }

  /** Where there was nothing to be made, it may have looked on without telling. */
  private static boolean isSameSoFar(Replay known, @Nullable Replay told) {
    return told != null
        && told.through() >= known.through()
        && known.equals(
            new Replay(
                told.id(),
                told.tenant(),
                told.selection(),
                told.below(),
                told.state(),
                told.total(),
                told.done(),
                told.skipped(),
                known.through()));
  }
}
