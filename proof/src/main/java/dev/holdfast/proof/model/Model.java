package dev.holdfast.proof.model;

import static dev.holdfast.proof.model.Violation.unless;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.State;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Operational;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import dev.holdfast.proof.model.EndpointModel.StateChange;
import dev.holdfast.proof.model.MessageModel.Decision;
import dev.holdfast.proof.model.SubscriptionModel.Face;
import dev.holdfast.proof.model.SubscriptionModel.VersionWish;
import dev.holdfast.proof.model.Wanted.Expected;
import dev.holdfast.proof.model.Wanted.Versions;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Hears of everything that the engine is told and does, in the order in which it happens, and
 * throws a {@link Violation} when the contract does not allow it.
 */
public final class Model {
  private final Contract contract;
  private final Obstacles obstacles;
  private final Timeliness timeliness;
  private final Duration bothVersions;

  private final Map<Long, EndpointModel> endpoints = new TreeMap<>();
  private final Map<Long, MessageModel> open = new TreeMap<>();
  private final Map<Long, Integer> sizes = new HashMap<>();

  /** Subscriptions that the engine knows to be on disk. */
  private final Map<Long, Subscription> subscriptions = new TreeMap<>();

  /**
   * Of these, the ones that are to end, each with how many have asked for it and not been refused.
   */
  private final Map<Long, Integer> leaving = new HashMap<>();

  /** Ended ones that may have unfinished messages, and since when the engine knows. */
  private final Map<Long, Instant> ended = new TreeMap<>();

  /** What was asked of each subscription there ever was. */
  private final Map<Long, SubscriptionModel> histories = new HashMap<>();

  /** Changes of the version of many at once that are not answered yet, by who has asked. */
  private final IdentityHashMap<Object, Versioning> versionings = new IdentityHashMap<>();

  /** When the engine last heard of a subscription that came, changed or goes. */
  private Instant subscriptionsChangedAt = Instant.MIN;

  /** When this process has read what is on disk. */
  private Instant startedAt = Instant.MIN;

  private final Steps steps = new Steps();
  private final ReplaysModel replays = new ReplaysModel();

  private final Map<Long, Subscription> storedSubscriptions = new TreeMap<>();
  private final Set<Long> storedEnded = new HashSet<>();

  /** What was submitted and is not on disk yet, by the number in its data. */
  private final Map<Long, Wanted> submitted = new HashMap<>();

  /** The numbers of all events on disk, by their ids. */
  private final Map<Long, Long> events = new HashMap<>();

  private final Counts counts = new Counts();

  /**
   * A model that has seen nothing yet.
   *
   * @param prompt how long the engine may take for what it only has to do
   * @param sweep how many messages of a subscription that has changed it deals with at once
   * @param bothVersions how long after a change of its version a subscription gets each event in
   *     both
   */
  public Model(
      Contract contract, Obstacles obstacles, Duration prompt, int sweep, Duration bothVersions) {
    this.bothVersions = bothVersions;
    this.contract = contract;
    this.obstacles = obstacles;
    this.timeliness = new Timeliness(contract, obstacles, prompt, sweep);
  }

  /** What has happened so far. */
  public static final class Counts {
    public long accepted;
    public long attempts;
    public long delivered;
    public long repeated;
    public long exhausted;
    public long expired;
    public long unsubscribed;
    public long stateChanges;
    public long probes;
    public long recoveries;
    public long refusedWrites;
    public long starts;
    public long deaths;
    public long failedCommits;
    public long failedReads;
    public long changes;
    public long moves;
    public long pauses;
    public long steps;
    public long replayed;
    public long announced;
    public long newcomers;
    public long versionChanges;
    public long inBothVersions;
    public long alreadyThere;

    /** Adds those of another life. */
    public void add(Counts other) {
      accepted += other.accepted;
      attempts += other.attempts;
      delivered += other.delivered;
      repeated += other.repeated;
      exhausted += other.exhausted;
      expired += other.expired;
      unsubscribed += other.unsubscribed;
      stateChanges += other.stateChanges;
      probes += other.probes;
      recoveries += other.recoveries;
      refusedWrites += other.refusedWrites;
      starts += other.starts;
      deaths += other.deaths;
      failedCommits += other.failedCommits;
      failedReads += other.failedReads;
      changes += other.changes;
      moves += other.moves;
      pauses += other.pauses;
      steps += other.steps;
      replayed += other.replayed;
      announced += other.announced;
      newcomers += other.newcomers;
      versionChanges += other.versionChanges;
      alreadyThere += other.alreadyThere;
      inBothVersions += other.inBothVersions;
    }
  }

  public Counts counts() {
    return counts;
  }

  // What is asked of the engine.

  /** An event was taken in: it has to be kept, or refused. */
  public void submitted(long number, String type, @Nullable String subject, Instant now) {
    submitted.put(number, wanted(type, subject, now));
  }

  /** What finished messages there are matters, since some are going to be replayed. */
  public void remembersFinished() {
    replays.remembers = true;
  }

  /** Who wants an event now, and the message that each has to get. */
  private Wanted wanted(String type, @Nullable String subject, Instant now) {
    Map<Long, Expected> messages = new HashMap<>();
    for (Subscription subscription : subscriptions.values()) {
      if (!leaving.containsKey(subscription.id())
          && subscription.interest().covers(type, subject)) {
        messages.put(
            subscription.id(),
            new Expected(
                subscription.endpoint(),
                newRow(subscription, now),
                hasJustChangedVersion(subscription, now)));
      }
    }
    return new Wanted(now, messages);
  }

  /** Whether it changed its version so lately that it gets what is accepted now in both. */
  private boolean hasJustChangedVersion(Subscription subscription, Instant now) {
    Instant changedAt = subscription.form().edition().changedAt();
    return changedAt != null && Duration.between(changedAt, now).compareTo(bothVersions) < 0;
  }

  /** How a message begins: held back, parked when its endpoint takes none, else pending. */
  private Row newRow(Subscription subscription, Instant now) {
    if (subscription.paused()) {
      return Row.PENDING.paused(contract, now);
    }
    return endpoint(subscription.endpoint()).isEnabled()
        ? Row.PENDING
        : Row.PENDING.parked(contract, now);
  }

  /** Somebody wants a subscription to be otherwise. */
  public void changing(long subscription, SubscriptionChange change, Instant now) {
    SubscriptionModel history = history(subscription);
    history.asked.add(change);
    if (change.version() != null) {
      history.versions.add(new VersionWish(change.version(), now, false));
    }
  }

  /**
   * Somebody wants many subscriptions to have a version.
   *
   * @param ids absent: all that are to one kind of event of one kind of object
   * @param expected those of all that have to be among what it is answered with
   * @param stored those that have had the version on disk since then
   */
  private record Versioning(
      @Nullable List<Long> ids, Version version, Instant at, Set<Long> expected, Set<Long> stored) {
    boolean isFor(long subscription) {
      return ids == null || ids.contains(subscription);
    }

    void stored(Subscription subscription) {
      if (subscription.form().version() == version) {
        stored.add(subscription.id());
      }
    }
  }

  /**
   * Somebody wants many subscriptions to have a version.
   *
   * @param ids absent: all that are to one kind of event of one kind of object
   */
  public void changingVersion(
      Object question, @Nullable List<Long> ids, Version version, Instant now) {
    Versioning asked = new Versioning(ids, version, now, new HashSet<>(), new HashSet<>());
    versionings.put(question, asked);
    for (Subscription subscription : subscriptions.values()) {
      if (isOfObjects(subscription) && !leaving.containsKey(subscription.id())) {
        asked.expected().add(subscription.id());
      }
      wish(history(subscription.id()), asked);
    }
    storedSubscriptions.values().forEach(asked::stored);
  }

  private static void wish(SubscriptionModel history, Versioning asked) {
    if (asked.isFor(history.known.id())) {
      history.versions.add(new VersionWish(asked.version(), asked.at(), true));
    }
  }

  private static boolean isOfObjects(Subscription subscription) {
    return subscription.form().format() == Format.WORKFRONT
        && subscription.types().size() == 1
        && subscription.types().getFirst().text().matches("[^*]+\\.(CREATE|UPDATE|DELETE)");
  }

  /** Somebody was told that all of them stay as they are, at once or after a while. */
  public void versionNotChanged(Object question) {
    versionings.remove(question);
  }

  /** Somebody was told which subscriptions have the version that they want many to have. */
  public void versionChanged(Object question, Collection<Subscription> have) {
    Versioning asked = Objects.requireNonNull(versionings.remove(question));
    List<Long> ids = asked.ids();
    Set<Long> found = new HashSet<>();
    for (Subscription subscription : have) {
      found.add(subscription.id());
      unless(
          subscription.form().version() == asked.version(),
          "a subscription is as somebody asked for it",
          () -> subscription + " but " + asked);
      unless(
          asked.stored().contains(subscription.id()), "what is answered is on disk", subscription);
    }
    unless(
        ids == null ? found.containsAll(asked.expected()) : found.equals(new HashSet<>(ids)),
        "the version of all that were asked for is changed, or of none",
        () -> found + " but " + asked);
    counts.versionChanges++;
  }

  /** Somebody was told that the subscription is there that they want. */
  public void subscribed(Subscription subscription, Version version) {
    unless(
        subscription.form().edition().equals(new Edition(version, null)),
        "a subscription is as somebody asked for it",
        () -> subscription + " but " + version);
  }

  /** Somebody was told that a subscription stays as it is. */
  public void notChanged(long subscription, SubscriptionChange change) {
    history(subscription).asked.remove(change);
  }

  /** Somebody was told that a subscription is as they want it. */
  public void changed(Subscription subscription, SubscriptionChange change) {
    SubscriptionModel history = history(subscription.id());
    Face face = face(subscription);
    unless(
        face.with(change).equals(face),
        "a subscription is as somebody asked for it",
        () -> subscription + " but " + change);
    unless(
        storedSubscriptions.containsKey(subscription.id())
            || storedEnded.contains(subscription.id()),
        "what is answered is on disk",
        subscription);
    history.asked.remove(change);
    counts.changes++;
    counts.versionChanges += change.version() == null ? 0 : 1;
  }

  public void replaying(Replay.Selection selection) {
    replays.ask(selection);
  }

  public void cancelling(long replay) {
    replays.cancel(replay);
  }

  /** Somebody was told how far a replay is. */
  public void replayIs(Replay replay) {
    replays.answered(replay);
  }

  private Face face(Subscription subscription) {
    EndpointModel endpoint = endpoints.get(subscription.endpoint());
    return face(endpoint == null ? "" : endpoint.url, subscription);
  }

  private static Face face(String url, Subscription subscription) {
    return new Face(
        url, subscription.types(), subscription.paused(), subscription.form().version());
  }

  private SubscriptionModel history(long subscription) {
    SubscriptionModel history = histories.get(subscription);
    if (history == null) {
      throw new Violation(
          "only a stored subscription is dealt with", "subscription " + subscription);
    }
    return history;
  }

  private SubscriptionModel history(MessageModel message) {
    return history(message.subscription);
  }

  /** Somebody was told that their events are accepted. */
  public void answered(List<Receipt> receipts) {
    for (Receipt receipt : receipts) {
      unless(events.containsKey(receipt.event()), "a 202 means that the event is on disk", receipt);
    }
  }

  public void unsubscribing(long subscription, Instant now) {
    leaving.merge(subscription, 1, Integer::sum);
    versionings.values().forEach(one -> one.expected().remove(subscription));
    replays.newcomers.leaving(subscription);
    subscriptionsChangedAt = now;
  }

  public void notUnsubscribed(long subscription, Instant now) {
    leaving.computeIfPresent(subscription, (_, asked) -> asked == 1 ? null : asked - 1);
    subscriptionsChangedAt = now;
  }

  public void enabledByHand(long id, Instant now) {
    endpoint(id).enableByHand(now);
    tell(endpoint(id), now);
  }

  public void disabledByHand(long id, Instant now) {
    endpoint(id).disableByHand(now);
    tell(endpoint(id), now);
  }

  /** Notes who has to be told of what has just become of an endpoint. */
  private void tell(EndpointModel endpoint, Instant now) {
    StateChange last = endpoint.unrecorded.peekLast();
    if (last != null && last.wanted == null) {
      last.wanted = wanted(typeOf(last.health.state()), Id.text(Id.ENDPOINT, endpoint.id), now);
    }
  }

  private static String typeOf(State state) {
    return switch (state) {
      case ENABLED -> "endpoint.enabled";
      case DISABLED -> "endpoint.disabled";
      case FROZEN -> "endpoint.frozen";
    };
  }

  public void frozenByHand(long id, Instant now) {
    EndpointModel endpoint = endpoint(id);
    endpoint.freezeByHand(now);
    tell(endpoint, now);
    open.values().stream()
        .filter(message -> message.endpoint.id == id)
        .forEach(MessageModel::freeze);
  }

  /** Somebody was told that the message is tried now. */
  public void retriedByHand(long id) {
    MessageModel message = open.get(id);
    if (message == null) {
      throw new Violation("only an unfinished message is tried by hand", "message " + id);
    }
    unless(message.isIdle(), "a message under way is not tried by hand", message);
    unless(
        message.endpoint.state != State.FROZEN, "nothing is tried while frozen", message.endpoint);
    message.byHand = true;
  }

  // Attempts.

  /** An attempt starts. */
  public void sends(Delivery delivery, Instant now) {
    MessageModel message = open.get(delivery.message().id());
    if (message == null) {
      throw new Violation(
          "only what is on disk and unfinished is sent", "message " + delivery.message());
    }
    EndpointModel endpoint = message.endpoint;
    unless(message.isIdle(), "a message is in one place only", message);
    unless(message.landed, "nothing is sent before its commit is answered", message);
    if (message.unrecorded && Row.of(delivery.message()).equals(message.stored)) {
      message.row = message.stored;
    }
    unless(
        Row.of(delivery.message()).equals(message.row),
        "what is sent is what is known",
        () -> delivery.message() + " but " + message);
    unless(isWhatWasAccepted(delivery, message), "an attempt sends what was accepted", delivery);
    checkVersion(delivery.message(), message);
    unless(
        subscriptions.containsKey(message.subscription),
        "nothing is sent for a subscription that has ended",
        message);
    Subscription subscription = subscriptions.get(message.subscription);
    unless(
        subscription != null && subscription.endpoint() == endpoint.id,
        "nothing is sent to another endpoint than its subscription's",
        () -> message + " of " + subscription);
    unless(
        message.byHand || (subscription != null && !subscription.paused()),
        "nothing is sent for a paused subscription but by hand",
        () -> message + " of " + subscription);
    unless(
        subscription != null
            && subscription.form().version() == delivery.subscription().form().version(),
        "an attempt is made in the version that its subscription has, unless its message has one",
        () -> delivery + " of " + subscription);
    unless(delivery.startedAt().equals(now), "an attempt starts now", delivery);
    unless(
        !now.isBefore(endpoint.limitedUntil()),
        "attempts to an endpoint are spaced as its rate limit wants it",
        () -> message + " before " + endpoint.limitedUntil() + "; " + endpoint);

    message.probe = false;
    if (message.byHand) {
      message.byHand = false;
      unless(endpoint.state != State.FROZEN, "nothing is tried while frozen", endpoint);
    } else if (endpoint.isEnabled()) {
      sendsToEnabled(message, now);
    } else {
      sendsProbe(message, now);
    }
    endpoint.sends(now);
    message.chosen = false;
    message.wasByHand = false;
    message.sendingSince = now;
    message.unproven = !endpoint.proven;
    endpoint.pending.remove(message.id);
    endpoint.inFlight++;
    if (endpoint.inFlight >= endpoint.limit) {
      endpoint.fullAt = now;
    }
    obstacles.sends(message.unproven, size(message), now);
    counts.attempts++;
    timeliness.checkPlaces();
  }

  /** Somebody has set an endpoint's rate limit, or taken it away. */
  public void limitsRate(long endpoint, @Nullable RateLimit limit, Instant now) {
    EndpointModel limited = endpoint(endpoint);
    limited.rateLimit = limit;
    // What waited for the limit could not be sent before.
    limited.fullAt = now;
  }

  /** The engine asks the store which message is to be the probe. */
  public void choosesProbe(long endpoint, Instant now) {
    endpoint(endpoint).choosesProbeAt = now;
  }

  /** The store has chosen the message of a probe. */
  public void choseProbe(long id) {
    MessageModel message = open.get(id);
    if (message != null) {
      message.chosen = true;
    }
  }

  private boolean isWhatWasAccepted(Delivery delivery, MessageModel message) {
    return delivery.event().id() == message.event
        && delivery.message().event() == message.event
        && delivery.subscription().id() == message.subscription
        && delivery.message().endpoint() == message.endpoint.id
        && delivery.url().equals(message.endpoint.url)
        && events.getOrDefault(message.event, -1L) == number(delivery.event());
  }

  private void sendsToEnabled(MessageModel message, Instant now) {
    EndpointModel endpoint = message.endpoint;
    unless(
        endpoint.inFlight < endpoint.limit,
        "no more in flight to an endpoint than slow start and its limit allow",
        () -> message + "; " + endpoint);
    if (!message.unrecorded) {
      unless(
          message.row.status() != Status.PAUSED || message.wasByHand,
          "what was held back is released before it is tried",
          message);
      unless(
          !message.allowedSince(contract).isAfter(now),
          "no attempt runs before its slot but as a probe, in recovery or by hand",
          () -> message + "; " + endpoint);
      timeliness.checkSending(message, now);
      checkOrder(message, now);
    }
  }

  private void checkOrder(MessageModel message, Instant now) {
    EndpointModel endpoint = message.endpoint;
    if (message.row.status() == Status.PENDING) {
      for (MessageModel older : endpoint.pending.headMap(message.id).values()) {
        unless(
            older.unrecorded
                || older.byHand
                || older.cameLate
                // What is written together with an operational event may be handed over after it.
                || message.isOperational
                || older.isOperational
                || hasEnded(older.subscription)
                || !history(older).fits(older)
                || mayHaveStoodOtherwise(older)
                || !older.knownSince.isAfter(endpoint.closedUntil),
            "first attempts to one endpoint start in the order of acceptance",
            () -> message + " before " + older);
      }
      return;
    }
    Instant due = message.row.due();
    boolean slotHasCome = due != null && !due.isAfter(now);
    // What was on its way as a probe, or by hand, when the endpoint recovered goes first.
    if (slotHasCome
        || message.chosen
        || message.wasByHand
        || message.wasLeftAlone()
        // What was being parked in that moment is in hand, and older ones are not.
        || (!message.knownSince.isBefore(endpoint.since)
            && !message.knownSince.equals(startedAt))) {
      return;
    }
    counts.recoveries++;
    boolean inOrder =
        message.row.attempts() > endpoint.recoveredAttempts
            || (message.row.attempts() == endpoint.recoveredAttempts
                && message.id > endpoint.recoveredId);
    unless(
        inOrder,
        "recovery begins with the fewest attempts, then the oldest",
        () ->
            message
                + " after "
                + endpoint.recoveredAttempts
                + " attempts, "
                + endpoint.recoveredId);
    endpoint.recoveredAttempts = message.row.attempts();
    endpoint.recoveredId = message.id;
  }

  /**
   * Whether a message was looked at as it stood before its subscription changed, since one commit
   * may bring both. What was read at a start stands as the subscription does.
   */
  private boolean mayHaveStoodOtherwise(MessageModel message) {
    Instant changedAt = history(message).changedAt;
    return changedAt.isAfter(message.knownSince)
        || (changedAt.equals(message.knownSince) && changedAt.isAfter(startedAt));
  }

  private void sendsProbe(MessageModel message, Instant now) {
    EndpointModel endpoint = message.endpoint;
    unless(endpoint.isProbed(), "nothing is tried while frozen or disabled by hand", endpoint);
    unless(!endpoint.probing, "at most one probe is in flight", endpoint);
    Instant next = endpoint.nextProbeAt;
    unless(next != null && !next.isAfter(now), "a probe comes when its time has come", endpoint);
    Instant alone = message.row.notBefore();
    unless(
        message.unrecorded || alone == null || !alone.isAfter(now),
        "a probe leaves alone what Retry-After protects",
        message);
    unless(
        message.row.status() != Status.PENDING, "a probe tries what is parked or waits", message);
    for (MessageModel other : open.values()) {
      unless(
          other.endpoint != endpoint
              || message.unrecorded
              || !history(other).fits(other)
              || !other.isBetterProbe(message),
          "a probe tries what is parked with the fewest attempts, then the oldest, else what waits",
          () -> message + " though there is " + other);
    }
    message.probe = true;
    endpoint.probing = true;
    counts.probes++;
  }

  /** An attempt has ended, and the engine is told. */
  public void ended(long id, Instant startedAt, Outcome outcome, Instant now) {
    MessageModel message = message(id);
    EndpointModel endpoint = message.endpoint;
    obstacles.sent(message.unproven, size(message), now);
    if (endpoint.inFlight >= endpoint.limit) {
      endpoint.fullAt = now;
    }
    endpoint.inFlight--;
    message.sendingSince = null;
    message.decision =
        switch (outcome) {
          case Outcome.Success _ -> {
            unless(
                !message.taken || message.mayRepeat,
                "no message is delivered twice unless the record of the first time was lost",
                message);
            counts.repeated += message.taken ? 1 : 0;
            message.taken = true;
            yield new Decision.Deliver();
          }
          case Outcome.Failure failure ->
              message
                  .row
                  .afterFailure(contract, startedAt, failure, now)
                  .<Decision>map(Decision.Retry::new)
                  .orElseGet(Decision.Exhaust::new);
        };
    if (message.decision instanceof Decision.Retry retry) {
      message.row = retry.row();
    }
    if (message.probe) {
      endpoint.probing = false;
    }
    State before = endpoint.state;
    endpoint.ended(startedAt, outcome, message.probe, now);
    tell(endpoint, now);
    if (before != endpoint.state) {
      counts.stateChanges++;
    }
    message.probe = false;
  }

  /** The engine tells people that an endpoint's state has changed. */
  public void stateChanged(Endpoint endpoint) {
    unless(
        isUnrecorded(endpoint(endpoint.id()), endpoint.health()),
        "every change of state is right by section 4",
        () -> endpoint + " but " + endpoint(endpoint.id()));
  }

  private static boolean isUnrecorded(EndpointModel endpoint, Health health) {
    return endpoint.unrecorded.stream().anyMatch(change -> change.isTo(health));
  }

  // The store.

  /** The engine hands a batch to the store. */
  public void commits(Batch batch, Instant now) {
    ReplaysModel.Checking progress = replays.new Checking();
    Map<Long, Edition> editions = new HashMap<>();
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> accept.events().forEach(this::checkSubmitted);
        case Write.Deliver deliver -> {
          unless(
              message(deliver.message().id()).decision instanceof Decision.Deliver,
              "what is recorded as delivered was delivered",
              deliver);
          checkVersion(deliver.message(), message(deliver.message().id()));
        }
        case Write.Retry retry -> {
          MessageModel message = message(retry.message().id());
          unless(
              message.decision instanceof Decision.Retry decided
                  && decided.row().equals(Row.of(retry.message())),
              "after a failure a message waits for its next slot",
              () -> retry.message() + " but " + message + ", " + message.decision);
          checkVersion(retry.message(), message);
          checkAttempt(retry.attempt().number(), message);
        }
        case Write.Park park -> checkParked(park.message(), now);
        case Write.Drop drop -> checkDropped(drop, now);
        case Write.ChangeState change -> checkChanged(change);
        case Write.Unsubscribe unsubscribe ->
            unless(
                leaving.containsKey(unsubscribe.subscription().id()),
                "a subscription ends when somebody asks for it",
                unsubscribe);
        case Write.Subscribe subscribe -> Newcomers.checkCame(subscribe);
        case Write.Forget _, Write.Configure _ -> {}
        case Write.Import many ->
            changesOnly(many).forEach(update -> checkUpdated(update, editions, now));
        case Write.Move move -> checkMoved(move.message(), now);
        case Write.Spread spread -> checkMade(spread, now);
        case Write.Progress written -> {
          progress.check(written, subscriptions::containsKey, now);
          written.made().forEach(made -> checkPlace(made.message()));
        }
        case Write.Update update -> checkUpdated(update, editions, now);
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      EndpointModel known = endpoints.get(endpoint.id());
      if (known != null) {
        unless(
            known.health().equals(endpoint.health()),
            "an endpoint's counts and state are right by section 4",
            () -> endpoint.health() + " but " + known);
      }
    }
  }

  /** A change of state is written with the event that tells of it. */
  private void checkChanged(Write.ChangeState write) {
    EndpointModel endpoint = endpoint(write.endpoint().id());
    Health health = write.endpoint().health();
    StateChange change =
        endpoint.unrecorded.stream().filter(one -> one.isTo(health)).findFirst().orElse(null);
    if (change == null) {
      throw new Violation(
          "every change of state is right by section 4", health + " but " + endpoint);
    }
    Wanted wanted = change.wanted;
    if (wanted == null) {
      throw new IllegalStateException("nobody looked who wants to know of " + change);
    }
    String id = Id.text(Id.ENDPOINT, endpoint.id);
    checkAnnounced(write.announced(), typeOf(health.state()), id, wanted, true);
  }

  /**
   * Who wants to know of something is told of it, once.
   *
   * @param exactly whether it is known how each message has to begin
   */
  private static void checkAnnounced(
      Write.@Nullable AcceptedEvent announced,
      String type,
      String subject,
      Wanted wanted,
      boolean exactly) {
    if (announced == null) {
      unless(
          wanted.messages().isEmpty(),
          "who wants to know is told",
          () -> type + " of " + subject + " for " + wanted);
      return;
    }
    Event event = announced.event();
    unless(
        event.type().equals(type)
            && subject.equals(event.subject())
            && new String(event.data(), UTF_8).contains('"' + subject + '"'),
        "an operational event tells of its cause",
        event);
    unless(!wanted.messages().isEmpty(), "nobody is told who does not want it", announced);
    checkAccepted(announced, wanted, exactly);
  }

  private static List<Write.Update> changesOnly(Write.Import many) {
    if (!many.created().isEmpty()) {
      throw new IllegalStateException("nobody imports new subscriptions in these worlds");
    }
    return many.changed();
  }

  /** Who wants a subscription is told that there is one like it. */
  public void alreadyThere(long id, String url, Interest interest, Version version) {
    counts.alreadyThere++;
    Subscription there = storedSubscriptions.get(id);
    unless(
        there != null
            && face(there).url().equals(url)
            && there.interest().equals(interest)
            && there.form().version() == version,
        "who is told of a subscription can have it",
        () -> id + " for " + url + ", " + interest + ", " + version + " but " + there);
  }

  /**
   * A subscription is written as somebody asked for it.
   *
   * @param editions what is written of others before it, in the same batch
   */
  private void checkUpdated(Write.Update update, Map<Long, Edition> editions, Instant now) {
    Subscription after = update.subscription();
    Subscription before = storedSubscriptions.get(after.id());
    if (before == null) {
      throw new Violation("only a stored subscription is changed", update.toString());
    }
    Endpoint made = update.newEndpoint();
    Face wanted = made == null ? face(after) : face(made.url(), after);
    Face face = face(before);
    boolean right = isAskedFor(wanted, face, after.id());
    for (SubscriptionChange change : history(after.id()).asked) {
      face = face.with(change);
      right |= isAskedFor(wanted, face, after.id());
    }
    unless(
        right,
        "a subscription is as somebody asked for it",
        () -> update + " but " + before + " and " + history(after.id()).asked);
    Edition edition = after.form().edition();
    Edition last = editions.getOrDefault(after.id(), before.form().edition());
    editions.put(after.id(), edition);
    unless(
        history(after.id()).mayBe(edition, last, now),
        "a version has changed when it becomes another, and only then",
        () -> edition + " but " + last + ", " + history(after.id()).versions);
  }

  /** Whether a subscription is so but for a version that many are to have, sooner or later. */
  private boolean isAskedFor(Face wanted, Face face, long subscription) {
    return face.equals(wanted)
        || (face.in(wanted.version()).equals(wanted)
            && versionings.values().stream()
                .anyMatch(one -> one.version() == wanted.version() && one.isFor(subscription)));
  }

  /** A message stays in the version that it was made in, whatever becomes of it. */
  private static void checkVersion(Message as, MessageModel message) {
    unless(
        as.version() == message.version,
        "a message keeps its version",
        () -> as + " but " + message);
  }

  /** A message that goes to another endpoint, or is held back no longer, keeps what it has. */
  private void checkMoved(Message moved, Instant now) {
    MessageModel message = message(moved.id());
    SubscriptionModel subscription = history(message);
    checkVersion(moved, message);
    unless(message.isIdle(), "a message is in one place only", message);
    boolean goes = moved.endpoint() != message.endpoint.id;
    unless(
        !goes || subscription.endpoints.contains(moved.endpoint()),
        "a message goes where its subscription does",
        () -> moved + " of " + subscription);
    boolean stays = goes && moved.status() == Status.PAUSED;
    Row row = stays ? message.row : message.row.released(contract);
    unless(
        message.unrecorded || Row.of(moved).equals(row),
        "a message that moves keeps its base, slot and attempts",
        () -> moved + " but " + row);
    unless(
        goes || message.unrecorded || !subscription.unpausedUntil(now).isBefore(message.knownSince),
        "a message is held back while its subscription is paused",
        () -> moved + " of " + subscription);
  }

  private void checkMade(Write.Spread spread, Instant now) {
    steps.check(spread);
    for (Message made : spread.messages()) {
      checkPlace(made);
      Instant base = made.base();
      EndpointModel endpoint = endpoint(made.endpoint());
      Row row = Row.of(made);
      boolean right =
          switch (made.status()) {
            case PENDING -> row.equals(Row.PENDING);
            case PARKED ->
                base != null
                    && row.equals(Row.PENDING.parked(contract, base))
                    && !(endpoint.isEnabled() ? endpoint.closedUntil : now).isBefore(base);
            case PAUSED ->
                base != null
                    && row.equals(Row.PENDING.paused(contract, base))
                    && !history(made.subscription()).pausedUntil(now).isBefore(base);
            case WAITING -> false;
          };
      unless(
          right && (base == null || !base.isAfter(now)),
          "an accepted message is pending, or parked when its endpoint takes none",
          () -> made + "; " + endpoint);
    }
  }

  /** A message that is made later than its event is for an endpoint of its subscription. */
  private void checkPlace(Message made) {
    unless(
        history(made.subscription()).endpoints.contains(made.endpoint()),
        "a message goes where its subscription does",
        () -> made + " of " + history(made.subscription()));
  }

  private static void checkAttempt(int number, MessageModel message) {
    unless(
        message.unrecorded || number == message.row.attempts(),
        "attempts are counted",
        () -> message + ", attempt " + number);
  }

  private void checkSubmitted(Write.AcceptedEvent accepted) {
    Wanted wanted = submitted.get(number(accepted.event()));
    if (wanted == null) {
      throw new Violation("only what was submitted is kept", accepted.event().toString());
    }
    checkAccepted(accepted, wanted, true);
  }

  private static void checkAccepted(Write.AcceptedEvent accepted, Wanted wanted, boolean exactly) {
    Map<Long, Versions> made = new HashMap<>();
    for (Message message : accepted.messages()) {
      made.put(
          message.subscription(), versionsOf(message.subscription(), made).and(message.version()));
      Expected expected = wanted.messages().get(message.subscription());
      unless(
          !exactly
              || expected == null
              || (Row.of(message).equals(expected.row())
                  && message.endpoint() == expected.endpoint()),
          "an accepted message is pending, or parked when its endpoint takes none",
          () -> message + " but " + expected);
    }
    for (FanOut step : accepted.later()) {
      for (FanOut.Target target : step.targets()) {
        made.put(
            target.subscription(), versionsOf(target.subscription(), made).and(target.version()));
      }
    }
    unless(
        made.keySet().equals(wanted.messages().keySet()) && accepted.total() == wanted.total(),
        "an event has a message for each subscription that wants it",
        () -> accepted + " but " + wanted);
    wanted
        .messages()
        .forEach(
            (subscription, expected) ->
                unless(
                    versionsOf(subscription, made).equals(expected.versions()),
                    "an event comes in both versions after a change, once each, else in none",
                    () -> made + " in " + accepted + " but " + wanted));
  }

  private static Versions versionsOf(long subscription, Map<Long, Versions> made) {
    return made.getOrDefault(subscription, Versions.NOTHING);
  }

  private void checkParked(Message parked, Instant now) {
    MessageModel message = message(parked.id());
    EndpointModel endpoint = message.endpoint;
    checkVersion(parked, message);
    unless(message.isIdle(), "a message is in one place only", message);
    if (parked.status() == Status.PAUSED) {
      checkPaused(parked, message, now);
      return;
    }
    unless(
        message.unrecorded
            || (message.row.status() != Status.PARKED && message.row.status() != Status.PAUSED),
        "what is parked is not parked again",
        message);
    Instant at = parked.base() == null ? now : parked.base();
    unless(
        message.unrecorded || Row.of(parked).equals(message.row.parked(contract, at)),
        "a parked message keeps what it has",
        () -> parked + " but " + message);
    Instant due = message.row.due() == null ? message.knownSince : message.row.due();
    Instant closed = endpoint.isEnabled() ? endpoint.closedUntil : now;
    unless(
        message.unrecorded || (!due.isAfter(now) && !closed.isBefore(due)),
        "a message is parked when its slot has come and its endpoint takes none",
        () -> message + "; " + endpoint + " closed until " + closed);
    unless(
        !at.isAfter(now) && (message.row.base() != null || !at.isBefore(message.knownSince)),
        "the base of a message parked before its first attempt is when that happened",
        parked);
  }

  private void checkPaused(Message paused, MessageModel message, Instant now) {
    SubscriptionModel subscription = history(message);
    unless(
        message.unrecorded || message.row.status() != Status.PAUSED,
        "what is parked is not parked again",
        message);
    Instant at = paused.base() == null ? now : paused.base();
    unless(
        message.unrecorded || Row.of(paused).equals(message.row.paused(contract, at)),
        "a parked message keeps what it has",
        () -> paused + " but " + message);
    unless(
        message.unrecorded || !subscription.pausedUntil(now).isBefore(message.knownSince),
        "a message is held back while its subscription is paused",
        () -> message + " of " + subscription);
    unless(
        !at.isAfter(now) && (message.row.base() != null || !at.isBefore(message.knownSince)),
        "the base of a message parked before its first attempt is when that happened",
        paused);
  }

  /** Who wants to know of a message that is given up is told, unless it was their own. */
  private void checkDropTold(Write.Drop drop, MessageModel message) {
    String subject = Id.text(Id.MESSAGE, message.id);
    Subscription own = subscriptions.get(message.subscription);
    boolean isOwn = own != null && own.interest().covers("message.dropped", own.subject());
    Write.AcceptedEvent announced = drop.announced();
    if (subscriptionsChangedAt.isBefore(drop.at())) {
      Wanted wanted =
          isOwn ? new Wanted(drop.at(), Map.of()) : wanted("message.dropped", subject, drop.at());
      checkAnnounced(announced, "message.dropped", subject, wanted, false);
    } else if (announced != null) {
      unless(
          announced.event().type().equals("message.dropped")
              && subject.equals(announced.event().subject()),
          "an operational event tells of its cause",
          announced);
    }
  }

  private void checkDropped(Write.Drop drop, Instant now) {
    MessageModel message = message(drop.message().id());
    checkVersion(drop.message(), message);
    checkDropTold(drop, message);
    unless(message.sendingSince == null, "a message is in one place only", message);
    boolean right =
        switch (drop.reason()) {
          case UNSUBSCRIBED ->
              !subscriptions.containsKey(message.subscription)
                  && !(message.decision instanceof Decision.Deliver);
          case EXHAUSTED -> message.decision instanceof Decision.Exhaust;
          case EXPIRED -> message.decision == null && mayExpire(message, now);
        };
    unless(
        right,
        "a message is dropped for the right reason",
        () -> drop + " but " + message + "; " + message.endpoint + "; " + message.decision);
  }

  private boolean mayExpire(MessageModel message, Instant now) {
    Instant base = message.row.base();
    if (base == null) {
      return false;
    }
    Instant deadline = contract.deadline(base);
    Instant closed = message.endpoint.isEnabled() ? message.endpoint.closedUntil : now;
    Instant heldBack = history(message).pausedUntil(now);
    return message.unrecorded
        || (!deadline.isAfter(now) && !Contract.later(closed, heldBack).isBefore(deadline));
  }

  private boolean hasEnded(long subscription) {
    return leaving.containsKey(subscription) || !subscriptions.containsKey(subscription);
  }

  /** A batch is on disk, whether the engine hears of it or not. */
  public void stored(Batch batch, Written written, Instant now) {
    int accepts = 0;
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> keep(accept, written.accepts().get(accepts++), now);
        case Write.Deliver deliver -> {
          finish(deliver.message().id(), Ending.DELIVERED, deliver.at());
          counts.delivered++;
        }
        case Write.Retry retry -> message(retry.message().id()).store(retry.message(), now);
        case Write.Park park -> park(message(park.message().id()), park.message(), now);
        case Write.Drop drop -> {
          finish(drop.message().id(), Ending.DROPPED, drop.at());
          announce(drop.announced(), now);
          counts.exhausted += drop.reason() == DropReason.EXHAUSTED ? 1 : 0;
          counts.expired += drop.reason() == DropReason.EXPIRED ? 1 : 0;
          counts.unsubscribed += drop.reason() == DropReason.UNSUBSCRIBED ? 1 : 0;
        }
        case Write.Import many -> changesOnly(many).forEach(this::store);
        case Write.Subscribe subscribe -> {
          store(subscribe.newEndpoint());
          storedSubscriptions.put(subscribe.subscription().id(), subscribe.subscription());
          versionings.values().forEach(one -> one.stored(subscribe.subscription()));
          if (subscribe.history() != null) {
            counts.newcomers++;
            replays.came(subscribe.subscription(), subscribe.history());
          }
        }
        case Write.Unsubscribe unsubscribe -> {
          storedSubscriptions.remove(unsubscribe.subscription().id());
          storedEnded.add(unsubscribe.subscription().id());
        }
        case Write.Forget forget -> {
          unless(
              open.values().stream().noneMatch(m -> m.subscription == forget.subscription()),
              "an ended subscription is forgotten when nothing of it is left",
              forget);
          storedEnded.remove(forget.subscription());
          ended.remove(forget.subscription());
        }
        case Write.Configure _ -> {}
        case Write.ChangeState change -> {
          endpoint(change.endpoint().id())
              .unrecorded
              .removeIf(one -> one.isTo(change.endpoint().health()));
          announce(change.announced(), now);
        }
        case Write.Update update -> store(update);
        case Write.Move move -> move(message(move.message().id()), move.message(), now);
        case Write.Spread spread -> {
          steps.made(spread);
          counts.steps++;
          spread.messages().forEach(made -> keep(made, true, now));
        }
        case Write.Progress progress -> {
          replays.store(progress);
          counts.replayed += progress.made().size();
          progress.made().forEach(made -> keep(made.message(), true, now));
        }
      }
    }
    for (Endpoint endpoint : batch.endpoints()) {
      EndpointModel known = endpoint(endpoint.id());
      known.storedRateLimit = endpoint.rateLimit();
      Health before = known.stored;
      known.stored = endpoint.health();
      unless(
          before.since().equals(known.stored.since()) || !isUnrecorded(known, known.stored),
          "each change of state is recorded",
          known);
    }
  }

  private void keep(Write.Accept accept, AcceptResult result, Instant now) {
    if (!(result instanceof AcceptResult.Kept kept)) {
      return;
    }
    for (int i = 0; i < accept.events().size(); i++) {
      Write.AcceptedEvent accepted = accept.events().get(i);
      Receipt receipt = kept.receipts().get(i);
      submitted.remove(number(accepted.event()));
      if (receipt.repeat()) {
        continue;
      }
      counts.accepted++;
      keep(accepted, now);
    }
  }

  private void announce(Write.@Nullable AcceptedEvent announced, Instant now) {
    if (announced != null) {
      counts.announced++;
      keep(announced, now);
    }
  }

  private void keep(Write.AcceptedEvent accepted, Instant now) {
    Long before = events.put(accepted.event().id(), number(accepted.event()));
    unless(before == null, "ids are given once", accepted.event());
    if (replays.remembers) {
      replays.newcomers.accepted(accepted);
    }
    accepted.messages().forEach(made -> keep(made, false, now));
    if (Operational.TYPES.contains(accepted.event().type())) {
      accepted.messages().forEach(made -> message(made.id()).isOperational = true);
    }
    steps.plan(accepted.later());
  }

  private void keep(Message made, boolean late, Instant now) {
    MessageModel message = new MessageModel(made, endpoint(made.endpoint()), now);
    message.cameLate = late;
    counts.inBothVersions += made.version() == null ? 0 : 1;
    unless(open.put(made.id(), message) == null, "ids are given once", made);
    sizes.put(made.id(), made.size());
    if (made.status() == Status.PENDING) {
      message.endpoint.pending.put(message.id, message);
    }
  }

  private void store(Write.Update update) {
    store(update.newEndpoint());
    storedSubscriptions.put(update.subscription().id(), update.subscription());
    versionings.values().forEach(one -> one.stored(update.subscription()));
    replays.newcomers.changed(update.subscription());
  }

  private void store(@Nullable Endpoint made) {
    if (made != null) {
      endpoints.putIfAbsent(made.id(), new EndpointModel(contract, made));
    }
  }

  private void move(MessageModel message, Message moved, Instant now) {
    counts.moves++;
    message.store(moved, now);
    message.row = message.stored;
    message.byHand = false;
    message.landed = false;
    if (moved.endpoint() != message.endpoint.id) {
      message.move(endpoint(moved.endpoint()), now);
    }
  }

  private void park(MessageModel message, Message parked, Instant now) {
    counts.pauses += parked.status() == Status.PAUSED ? 1 : 0;
    message.store(parked, now);
    message.row = message.stored;
    message.endpoint.pending.remove(message.id);
  }

  private void finish(long id, Ending ending, Instant at) {
    MessageModel message = message(id);
    replays.finished(message, ending, at);
    message.endpoint.pending.remove(id);
    open.remove(id);
    sizes.remove(id);
  }

  /** The engine hears that a batch is on disk. */
  public void landed(Batch batch, Instant now) {
    for (Write write : batch.writes()) {
      switch (write) {
        case Write.Accept accept -> {
          accept.events().forEach(accepted -> known(accepted, now));
        }
        case Write.Retry retry -> known(retry.message().id(), now);
        case Write.Park park -> known(park.message().id(), now);
        case Write.Subscribe subscribe -> {
          Subscription made = subscribe.subscription();
          subscriptions.put(made.id(), made);
          histories.put(made.id(), new SubscriptionModel(made, now));
          versionings.values().forEach(one -> wish(history(made.id()), one));
          subscriptionsChangedAt = now;
          replays.goesOn(now);
        }
        case Write.Update update -> known(update, now);
        case Write.Import many -> changesOnly(many).forEach(update -> known(update, now));
        case Write.Unsubscribe unsubscribe -> {
          subscriptionsChangedAt = now;
          subscriptions.remove(unsubscribe.subscription().id());
          leaving.remove(unsubscribe.subscription().id());
          ended.put(unsubscribe.subscription().id(), now);
        }
        case Write.Drop drop -> known(drop.announced(), now);
        case Write.ChangeState change -> known(change.announced(), now);
        case Write.Move move -> known(move.message().id(), now);
        case Write.Spread spread -> {
          spread.messages().forEach(made -> known(made.id(), now));
          steps.goesOn(now);
        }
        case Write.Progress progress -> {
          progress.made().forEach(made -> known(made.message().id(), now));
          replays.goesOn(now);
        }
        case Write.Deliver _, Write.Forget _, Write.Configure _ -> {}
      }
    }
  }

  private void known(Write.Update update, Instant now) {
    subscriptions.put(update.subscription().id(), update.subscription());
    SubscriptionModel history = history(update.subscription().id());
    history.is(update.subscription(), now);
    history.mostUnfinished = Math.max(history.mostUnfinished, unfinishedOf(history));
    subscriptionsChangedAt = now;
  }

  private int unfinishedOf(SubscriptionModel subscription) {
    long id = subscription.known.id();
    return (int) open.values().stream().filter(message -> message.subscription == id).count();
  }

  private void known(Write.@Nullable AcceptedEvent accepted, Instant now) {
    if (accepted != null) {
      accepted.messages().forEach(message -> known(message.id(), now));
      steps.goesOn(now);
    }
  }

  private void known(long id, Instant now) {
    MessageModel message = open.get(id);
    if (message != null) {
      message.landed = true;
      message.decision = null;
      message.unrecorded = false;
      message.knownSince = now;
    }
  }

  /** The engine hears that a batch is not on disk. */
  public void failed(Batch batch, StoreException.Kind kind) {
    List<Write> writes =
        batch.writes().stream().filter(write -> !(write instanceof Write.ChangeState)).toList();
    if (kind != StoreException.Kind.REFUSED || writes.size() != 1) {
      return;
    }
    counts.refusedWrites++;
    switch (writes.getFirst()) {
      case Write.Deliver deliver -> unrecorded(deliver.message());
      case Write.Retry retry -> unrecorded(retry.message());
      case Write.Park park -> unrecorded(park.message());
      case Write.Drop drop -> unrecorded(drop.message());
      case Write.Move move -> unrecorded(move.message());
      case Write.Accept _,
          Write.Subscribe _,
          Write.Import _,
          Write.Unsubscribe _,
          Write.Forget _,
          Write.Configure _,
          Write.ChangeState _,
          Write.Spread _,
          Write.Progress _,
          Write.Update _ -> {}
    }
  }

  private void unrecorded(Message as) {
    MessageModel message = message(as.id());
    message.unrecorded = true;
    message.mayRepeat = true;
    message.decision = null;
    message.row = Row.of(as);
    message.endpoint.pending.remove(message.id);
  }

  // The process.

  /** The process has died, and starts from what is on disk. */
  public void starts(Instant now) {
    startedAt = now;
    submitted.clear();
    leaving.clear();
    versionings.clear();
    subscriptions.clear();
    subscriptions.putAll(storedSubscriptions);
    ended.clear();
    storedEnded.forEach(id -> ended.put(id, now));
    subscriptionsChangedAt = now;
    for (Subscription subscription : storedSubscriptions.values()) {
      histories
          .computeIfAbsent(subscription.id(), _ -> new SubscriptionModel(subscription, now))
          .restart(subscription, now);
    }
    steps.goesOn(now);
    replays.restart(now);
    Set<EndpointModel> recovering = new HashSet<>();
    endpoints.values().forEach(endpoint -> endpoint.pending.clear());
    for (MessageModel message : open.values()) {
      message.forget(now);
      history(message).mostUnfinished++;
      EndpointModel endpoint = message.endpoint;
      switch (message.row.status()) {
        case PENDING -> endpoint.pending.put(message.id, message);
        case PARKED -> recovering.add(endpoint);
        case PAUSED -> {}
        case WAITING -> {
          if (endpoint.stored.reason() != Health.Reason.CREATED) {
            recovering.add(endpoint);
          }
        }
      }
    }
    for (EndpointModel endpoint : endpoints.values()) {
      endpoint.restart(recovering.contains(endpoint));
    }
    obstacles.starts(now);
  }

  /** The process has ended as it was asked to: nothing is left to chance. */
  public void stopped() {
    for (MessageModel message : open.values()) {
      unless(
          message.isIdle() || message.unrecorded,
          "a process that was asked to end lets everything under way end and be recorded",
          message);
    }
    for (EndpointModel endpoint : endpoints.values()) {
      unless(
          endpoint.health().equals(endpoint.stored),
          "a process that was asked to end records every count",
          () -> endpoint + " but " + endpoint.stored);
    }
  }

  /** Looks whether anything should have happened that has not. */
  public void checkNothingIsLate(Instant now) {
    timeliness.check(endpoints.values(), open.values(), this::endedSince, this::history, now);
    timeliness.checkSteps(steps, replays, now);
  }

  /** Since when a message's subscription has ended; {@code MAX} while its end is being recorded. */
  private Optional<Instant> endedSince(MessageModel message) {
    return leaving.containsKey(message.subscription)
        ? Optional.of(Instant.MAX)
        : Optional.ofNullable(ended.get(message.subscription));
  }

  /** Whether the engine counts what there is. */
  public void checkCounts(Unfinished counted) {
    int pending = 0;
    int waiting = 0;
    int parked = 0;
    int paused = 0;
    for (MessageModel message : open.values()) {
      switch (message.stored.status()) {
        case PENDING -> pending++;
        case WAITING -> waiting++;
        case PARKED -> parked++;
        case PAUSED -> paused++;
      }
    }
    Unfinished known = new Unfinished(pending, waiting, parked + paused, 0);
    unless(
        counted.equals(known), "the engine counts what there is", () -> counted + " but " + known);
  }

  public int unfinished() {
    return open.size();
  }

  /**
   * How many messages the engine has to keep, because the store would not take what became of them.
   */
  public int unrecorded() {
    return (int) open.values().stream().filter(message -> message.unrecorded).count();
  }

  /** All ids of unfinished messages. */
  public Collection<Long> unfinishedIds() {
    return open.keySet();
  }

  /** Whether nothing is left to be done. */
  public boolean isAtRest() {
    return open.isEmpty()
        && ended.isEmpty()
        && steps.isEmpty()
        && replays.areAtTheirEnd()
        && storedSubscriptions.values().stream().allMatch(one -> one.unsettled().isEmpty())
        && endpoints.values().stream().allMatch(EndpointModel::isStored);
  }

  /** At the end of time nothing is unfinished. */
  public void checkNothingIsLeft() {
    unless(open.isEmpty(), "every accepted message ends delivered or dropped", open.values());
    unless(ended.isEmpty(), "an ended subscription is forgotten in the end", ended.keySet());
    unless(steps.isEmpty(), "all messages of an accepted event are made", steps);
    unless(replays.areAtTheirEnd(), "every replay comes to its end", replays);
    replays.newcomers.checkComplete();
    for (Subscription subscription : storedSubscriptions.values()) {
      unless(
          subscription.unsettled().isEmpty(),
          "a subscription's messages follow it in the end",
          subscription);
    }
    for (EndpointModel endpoint : endpoints.values()) {
      unless(
          endpoint.isStored(),
          "what is known of an endpoint is on disk in the end",
          () -> endpoint + " but " + endpoint.stored + ", not recorded " + endpoint.unrecorded);
    }
  }

  private MessageModel message(long id) {
    MessageModel message = open.get(id);
    if (message == null) {
      throw new Violation("only an unfinished message is dealt with", "message " + id);
    }
    return message;
  }

  private EndpointModel endpoint(long id) {
    EndpointModel endpoint = endpoints.get(id);
    if (endpoint == null) {
      throw new Violation("only a stored endpoint is dealt with", "endpoint " + id);
    }
    return endpoint;
  }

  private int size(MessageModel message) {
    return sizes.getOrDefault(message.id, 0);
  }

  /** The number that the simulation put into an event's data; its id for an operational one. */
  private static long number(Event event) {
    if (Operational.TYPES.contains(event.type())) {
      return event.id();
    }
    return Long.parseLong(new String(event.data(), UTF_8).strip());
  }
}
