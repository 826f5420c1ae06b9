package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.State;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions that want what was before them: each event since their moment comes to them once,
 * whether it was there before or not.
 */
final class Newcomers {
  private record Past(String type, @Nullable String subject, Set<Long> given) {}

  private final NavigableMap<Long, Past> events = new TreeMap<>();
  private final Map<Long, Newcomer> newcomers = new HashMap<>();

  private static final class Newcomer {
    Replay replay;
    Subscription subscription;

    /** Whether it has wanted other types, or to end, so that nobody can say what it should get. */
    boolean hasTurned;

    Newcomer(Replay replay, Subscription subscription) {
      this.replay = replay;
      this.subscription = subscription;
    }

    Instant since() {
      return Objects.requireNonNull(replay.selection().since());
    }
  }

  /** An event is on disk, and who has wanted it by themselves. */
  void accepted(Write.AcceptedEvent accepted) {
    Event event = accepted.event();
    Set<Long> given = new HashSet<>();
    accepted.messages().forEach(message -> given.add(message.subscription()));
    accepted
        .later()
        .forEach(step -> step.targets().forEach(target -> given.add(target.subscription())));
    events.put(event.id(), new Past(event.type(), event.subject(), given));
  }

  /** A subscription is on disk that wants what was before it. */
  void came(Subscription subscription, Replay history) {
    newcomers.put(history.id(), new Newcomer(history, subscription));
  }

  void changed(Subscription subscription) {
    for (Newcomer newcomer : newcomers.values()) {
      if (newcomer.subscription.id() == subscription.id()) {
        newcomer.hasTurned |= !newcomer.subscription.types().equals(subscription.types());
        newcomer.subscription = subscription;
      }
    }
  }

  /** Somebody wants a subscription to end: what is accepted from now on does not come to it. */
  void leaving(long subscription) {
    for (Newcomer newcomer : newcomers.values()) {
      newcomer.hasTurned |= newcomer.subscription.id() == subscription;
    }
  }

  static void checkCame(Write.Subscribe write) {
    Replay history = write.history();
    unless(
        history == null
            || (history.selection().isHistory()
                && Objects.equals(history.selection().subscription(), write.subscription().id())
                && history.equals(Replay.of(history.id(), history.tenant(), history.selection()))),
        "a history is its subscription's, and nothing of it is done yet",
        write);
  }

  /**
   * The engine writes how far a history is.
   *
   * @param before how far it is, by what was written before
   * @param isThere whether the subscription is
   */
  void check(Write.Progress write, Replay before, boolean isThere, Instant now) {
    Replay after = write.replay();
    Newcomer newcomer = newcomer(after);
    unless(
        before.state() == State.RUNNING
            && after.selection().equals(before.selection())
            && (before.below() == null || Objects.equals(before.below(), after.below()))
            && after.below() != null
            && after.through() >= before.through(),
        "a history goes on from where it is",
        () -> write + " but " + before);
    if (after.state() == State.CANCELLED) {
      unless(write.made().isEmpty(), "a history that ends makes nothing", write);
      return;
    }
    if (before.total() == null) {
      unless(write.made().isEmpty(), "a history is counted first", write);
      if (after.total() == null) {
        unless(
            before.below() == null
                && after.equals(before.bounded(Objects.requireNonNull(after.below()))),
            "it is written once where a history ends",
            write);
        return;
      }
      unless(
          newcomer.hasTurned
              || Objects.requireNonNull(after.total()) == fitting(newcomer, after, 0).size(),
          "a history is of what was before",
          () -> write + " but of " + fitting(newcomer, after, 0));
      return;
    }
    Set<Long> made = new HashSet<>();
    for (Write.Remade remade : write.made()) {
      Message message = remade.message();
      Past past = events.get(message.event());
      Instant base = message.base();
      unless(
          remade.original() == 0
              && past != null
              && !past.given().contains(newcomer.subscription.id())
              && made.add(message.event())
              && message.subscription() == newcomer.subscription.id()
              && message.version() == null
              && !Id.time(message.event()).isBefore(newcomer.since())
              && message.event() > before.through()
              && message.event() <= after.through()
              && base != null
              && !base.isAfter(now)
              && Row.of(message).equals(Row.replayed(base)),
          "what was before comes once, in its order, and behind what is new",
          () -> remade + " in " + write);
    }
    unless(
        newcomer.hasTurned || !isThere || fitting(newcomer, after, before.through()).equals(made),
        "a history leaves nothing out",
        () -> write + " but " + fitting(newcomer, after, before.through()));
  }

  /** Which events of those that it has passed it has to bring. */
  private Set<Long> fitting(Newcomer newcomer, Replay after, long from) {
    Set<Long> fits = new HashSet<>();
    long below = Objects.requireNonNull(after.below());
    boolean isWhole = after.state() == State.DONE || after.through() == 0;
    events
        .subMap(from, false, below, false)
        .forEach(
            (id, past) -> {
              if ((isWhole || id <= after.through()) && isFor(newcomer, id, past)) {
                fits.add(id);
              }
            });
    return fits;
  }

  private static boolean isFor(Newcomer newcomer, long id, Past past) {
    return !past.given().contains(newcomer.subscription.id())
        && !Id.time(id).isBefore(newcomer.since())
        && newcomer.subscription.interest().covers(past.type(), past.subject());
  }

  /** How far a history is, is on disk. */
  void store(Write.Progress write) {
    Newcomer newcomer = newcomer(write.replay());
    newcomer.replay = write.replay();
    for (Write.Remade made : write.made()) {
      Objects.requireNonNull(events.get(made.message().event()))
          .given()
          .add(newcomer.subscription.id());
    }
  }

  private Newcomer newcomer(Replay replay) {
    Newcomer newcomer = newcomers.get(replay.id());
    if (newcomer == null) {
      throw new Violation("only a stored history goes on", replay.toString());
    }
    return newcomer;
  }

  boolean areAtTheirEnd() {
    return newcomers.values().stream()
        .noneMatch(newcomer -> newcomer.replay.state() == State.RUNNING);
  }

  /** At the end each has had every event since its moment. */
  void checkComplete() {
    for (Newcomer newcomer : newcomers.values()) {
      if (newcomer.hasTurned || newcomer.replay.state() != State.DONE) {
        continue;
      }
      events.forEach(
          (id, past) ->
              unless(
                  !isFor(newcomer, id, past),
                  "a newcomer has had everything since its moment",
                  () -> id + " for " + newcomer.subscription));
    }
  }

  @Override
  public String toString() {
    return newcomers.values().stream().map(newcomer -> newcomer.replay).toList().toString();
  }
}
