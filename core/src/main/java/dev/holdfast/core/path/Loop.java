package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Commit.Entry;
import dev.holdfast.core.path.Held.Place;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Load;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.rules.Arrival;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides everything, does nothing: inputs and the time go in, effects come out.
 *
 * <p>It owns every lane, timer and circuit and is called by one thread at a time. It has no clock,
 * no randomness and no locks, so the same inputs always give the same effects. Where nodes share a
 * store, each has a loop, which works on the lanes in its shards only.
 */
public final class Loop implements View {
  /** Given as the time of the next step: at once, after what has come in meanwhile. */
  public static final Instant AT_ONCE = Instant.MIN;

  private final Limits limits;
  private final RetrySchedule schedule;
  private final EndpointHealth health;
  private final Recovery recovery;
  private final Loads loads;
  private final Activities activities = new Activities();
  private final Lanes lanes;
  private final Match match;
  private final Commit commit;
  private final BodyCache bodies;
  private final Wait wait;
  private final Park park;
  private final Refill refill;
  private final Dispatch dispatch;
  private final Probe probe;
  private final Circuit circuit;
  private final Answers answers;
  private final Accept accept;
  private final Settle settle;
  private final Subscriptions subscriptions;
  private final Imports imports;
  private final Later later = new Later();
  private final Align align;
  private final Spread spread;
  private final HandOver handOver;
  private final Replays replays;
  private final RetryByHand byHand;
  private final Reserve reserve;
  private final Admission admission;
  private final News news;
  private final Look look;
  private final Inbox inbox;
  private final Custody custody;
  private final boolean shared;
  private boolean stopping;
  private boolean abandoned;

  /** A loop without quotas and reserve. */
  public Loop(
      RetrySchedule schedule,
      EndpointHealth health,
      Recovery recovery,
      Limits limits,
      int node,
      Snapshot snapshot) {
    this(schedule, health, recovery, limits, Overload.NONE, node, snapshot);
  }

  /** A loop that decides for everything. */
  public Loop(
      RetrySchedule schedule,
      EndpointHealth health,
      Recovery recovery,
      Limits limits,
      Overload overload,
      int node,
      Snapshot snapshot) {
    this(schedule, health, recovery, limits, overload, node, snapshot, Shards.ALL);
  }

  /**
   * A loop that decides for some shards only, since it shares its store with others. No attempt
   * starts before it is told until when it may.
   *
   * @param ours the shards that it decides for at first; with all of them it shares nothing
   */
  public Loop(
      RetrySchedule schedule,
      EndpointHealth health,
      Recovery recovery,
      Limits limits,
      Overload overload,
      int node,
      Snapshot snapshot,
      Shards ours) {
    shared = !ours.equals(Shards.ALL);
    this.limits = limits;
    this.schedule = schedule;
    this.health = health;
    this.recovery = recovery;
    IdSource ids = new IdSource(node, snapshot.highestId());
    loads = new Loads(limits.loads(), limits.retryStoreAfter(), node);
    bodies = new BodyCache(limits.bodyBytes());
    lanes = new Lanes(limits.laneInFlight(), loads, bodies, activities, ours);
    match = new Match(shared);
    reserve = new Reserve(overload.reserveBytes());
    commit = new Commit(limits, reserve, ours, shared ? snapshot.version() : Long.MAX_VALUE);
    admission = new Admission(limits, overload, reserve, commit, snapshot.stored());
    wait = new Wait(lanes, loads, new RetryTimer(limits.timers(), limits.horizon(), loads, ours));
    Make make = new Make(limits, schedule, ids, match, lanes);
    spread = new Spread(limits, match, make, commit, loads, lanes);
    Announce announce = new Announce(limits, match, make, spread, loads);
    park = new Park(schedule, commit, wait, bodies, match, announce);
    refill = new Refill(limits, recovery, lanes, loads);
    Instant leasedUntil = shared ? Instant.MIN : Instant.MAX;
    dispatch = new Dispatch(limits, lanes, match, loads, commit, bodies, park, refill, leasedUntil);
    probe = new Probe(limits, lanes, loads, wait, dispatch);
    circuit = new Circuit(limits, commit, dispatch, park, probe, refill, announce);
    handOver =
        new HandOver(lanes, bodies, dispatch, refill, probe, wait, spread, match, park, activities);
    answers = new Answers(limits);
    accept = new Accept(limits, make, commit, loads, spread, handOver, admission, answers);
    settle =
        new Settle(
            schedule, health, recovery, lanes, match, commit, dispatch, circuit, wait, refill,
            probe, handOver, announce, park);
    align = new Align(limits, ids, match, lanes, loads, spread, commit, wait, park, shared);
    replays =
        new Replays(limits, schedule, ids, match, lanes, loads, spread, commit, handOver, shared);
    subscriptions =
        new Subscriptions(ids, match, lanes, commit, align, dispatch, replays, later, handOver);
    imports = new Imports(ids, match, lanes, commit, align, subscriptions, later);
    byHand = new RetryByHand(lanes, loads, wait, dispatch, commit);
    news = new News(lanes, match, align, subscriptions, commit, snapshot.version());
    look = new Look(lanes, loads, wait, handOver, schedule.unit());
    inbox = new Inbox(limits, lanes, loads, handOver, spread, replays, look);
    custody =
        new Custody(
            lanes, loads, commit, dispatch, wait, circuit, align, spread, replays, byHand, inbox,
            look);
    resume(snapshot);
  }

  private void resume(Snapshot snapshot) {
    for (Endpoint endpoint : snapshot.endpoints()) {
      lanes.add(endpoint, true, snapshot.unfinished().get(endpoint.id()));
    }
    snapshot.subscriptions().forEach(match::add);
    snapshot.subscriptions().forEach(align::resume);
    snapshot.ended().forEach(align::resumeEnded);
    spread.add(snapshot.fanOuts());
    snapshot.replays().forEach(replays::resume);
    lanes.all().forEach(circuit::resume);
  }

  /** Takes in what has happened, decides, and gives out what is to be done. */
  public void step(Iterable<Input> inputs, Instant now, Consumer<Effect> effects) {
    Turn turn = new Turn(now, effects);
    for (Input input : inputs) {
      if (abandoned) {
        refuse(input, turn);
      } else {
        take(input, turn);
      }
    }
    if (abandoned) {
      return;
    }
    if (news.isOverdue(turn)) {
      refuse(later.take(), turn);
    }
    loads.retryFailed(turn);
    if (!stopping) {
      wait.load(turn);
      for (Held held = wait.next(turn); held != null; held = wait.next(turn)) {
        arrive(held, turn);
      }
      probe.run(turn);
      align.run(turn);
      spread.run(turn);
      replays.run(turn);
      inbox.run(turn);
      look.run(turn);
      refill.run(turn);
    }
    dispatch.run(turn);
    custody.run(turn);
    commit.start(turn);
    answers.run(turn);
  }

  private void take(Input input, Turn turn) {
    switch (input) {
      case Input.Asked asked -> answer(asked, turn);
      case Input.AttemptEnded ended ->
          settle.attemptEnded(ended.delivery(), ended.outcome(), ended.durationMillis(), turn);
      case Input.Committed committed -> {
        landed(committed.batch(), committed.written(), turn);
        inbox.goOn(turn);
        askAgain(turn);
      }
      case Input.CommitFailed failed -> {
        commitFailed(failed.kind(), failed.tenants(), turn);
        askAgain(turn);
      }
      case Input.Loaded loaded -> loaded(loaded.load(), loaded.messages(), turn);
      case Input.BacklogLoaded loaded -> {
        if (!loads.isDisowned(loaded.load())) {
          backlogLoaded(loaded.load(), loaded.backlog(), turn);
        }
        loads.forget(loaded.load());
      }
      case Input.OriginalsLoaded loaded -> {
        boolean isHeard = !loads.isDisowned(loaded.load());
        loads.forget(loaded.load());
        if (isHeard) {
          replays.loaded(loaded.load(), loaded.found(), turn);
        }
      }
      case Input.EventsLoaded loaded -> {
        loads.forget(loaded.load());
        dispatch.eventsLoaded(loaded.load(), loaded.events(), turn);
      }
      case Input.LoadFailed failed -> loadFailed(failed.load(), turn);
      case Input.SpaceLeft space -> reserve.left(space.bytes(), turn);
      case Input.Removed removed -> admission.removed(removed.events());
      case Input.Woken _ -> inbox.wake();
      case Input.ArrivalsLoaded loaded -> inbox.loaded(loaded.load(), loaded.arrivals(), turn);
      case Input.Learned learned -> {
        if (news.take(learned.since(), learned.changes(), turn)) {
          dispatch.heard(turn).forEach(handOver::goOn);
        }
        inbox.goOn(turn);
        askAgain(turn);
      }
      case Input.StoredByAll stored -> admission.storedByAll(stored.events());
      case Input.Gained gained -> {
        custody.gained(gained.shards(), gained.holdings());
        inbox.goOn(turn);
      }
      case Input.Release release -> custody.release(release.shards());
      case Input.Leased leased -> dispatch.leased(leased.until());
      case Input.Abandoned _ -> abandon(turn);
      case Input.StopRequested _ -> {
        stopping = true;
        dispatch.stop();
      }
    }
  }

  private void loadFailed(Load load, Turn turn) {
    if (load instanceof Load.OfReplay ofReplay && !loads.isDisowned(load)) {
      loads.forget(ofReplay);
      replays.notRead(ofReplay, turn);
    } else if (load instanceof Load.Arrivals arrivals) {
      inbox.notRead(arrivals, turn);
    } else {
      loads.failed(load, turn);
    }
  }

  /** Others decide for everything now: whoever waits is refused, and nothing is done any more. */
  private void abandon(Turn turn) {
    abandoned = true;
    answers.runAll(turn);
    List<Consumer<Answer>> waiting = new ArrayList<>(commit.waiting());
    waiting.addAll(later.take());
    waiting.addAll(byHand.waiting());
    waiting.addAll(replays.waiting());
    refuse(waiting, turn);
  }

  private static void refuse(Input input, Turn turn) {
    if (input instanceof Input.Asked asked) {
      turn.reply(asked, new Refused(Refused.Why.STORE_AWAY));
    }
  }

  private static void refuse(List<? extends Consumer<Answer>> waiting, Turn turn) {
    waiting.forEach(one -> turn.reply(one, new Refused(Refused.Why.STORE_AWAY)));
  }

  private void askAgain(Turn turn) {
    for (Input.Asked asked : later.take()) {
      if (waitsForNews(asked.request())) {
        later.ask(asked);
      } else {
        answer(asked, turn);
      }
    }
  }

  private void answer(Input.Asked asked, Turn turn) {
    Actor by = asked.by();
    Consumer<Answer> replyTo = asked;
    Refused.Why refusing = stopping ? Refused.Why.STOPPING : commit.refusing();
    if (refusing != null) {
      turn.reply(replyTo, new Refused(refusing));
      return;
    }
    if (waitsForNews(asked.request())) {
      waitForNews(asked, turn);
      return;
    }
    switch (asked.request()) {
      case Request.Submit submit -> accept.submit(submit, replyTo, turn);
      case Request.Subscribe subscribe -> subscriptions.subscribe(subscribe, by, replyTo, turn);
      case Request.Import wanted -> imports.take(wanted, by, replyTo, turn);
      case Request.ChangeVersion change -> imports.changeVersion(change, by, replyTo, turn);
      case Request.Update update -> subscriptions.update(update, by, replyTo, turn);
      case Request.Unsubscribe unsubscribe ->
          subscriptions.unsubscribe(unsubscribe, by, replyTo, turn);
      case Request.Operate operate -> operate(operate, by, replyTo, turn);
      case Request.Configure configure -> subscriptions.configure(configure, by, replyTo, turn);
      case Request.RetryNow retry -> byHand.retry(retry, by, replyTo, turn);
      case Request.Replay replay -> replays.start(replay, by, replyTo, turn);
      case Request.CancelReplay cancel -> replays.cancel(cancel, by, replyTo, turn);
    }
  }

  private boolean waitsForNews(Request request) {
    return news.isMissing(request.tenant()) && dependsOnNews(request);
  }

  /** Whether what other nodes have changed may make the answer another. */
  private static boolean dependsOnNews(Request request) {
    return switch (request) {
      case Request.Submit _,
          Request.Subscribe _,
          Request.Import _,
          Request.ChangeVersion _,
          Request.Update _,
          Request.Unsubscribe _,
          Request.Configure _,
          Request.Replay _ ->
          true;
      case Request.Operate _, Request.RetryNow _, Request.CancelReplay _ -> false;
    };
  }

  /** Lets a request wait until what other nodes have changed is known. */
  private void waitForNews(Input.Asked asked, Turn turn) {
    if (news.isOverdue(turn)) {
      turn.reply(asked, new Refused(Refused.Why.STORE_AWAY));
    } else if (later.size() >= limits.unwritten() || later.bytes() >= limits.acceptingBytes()) {
      turn.reply(asked, new Refused(Refused.Why.OVERLOADED));
    } else {
      later.ask(asked);
    }
  }

  private void operate(Request.Operate request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    Lane lane = lanes.get(request.endpoint());
    if (lane == null || !lane.endpoint.tenant().equals(request.tenant())) {
      turn.reply(replyTo, new Answer.NotFound());
      return;
    }
    if (!lane.ours) {
      turn.reply(replyTo, new Answer.NotOurs(Shards.of(request.endpoint())));
      return;
    }
    Endpoint endpoint = lane.endpoint;
    Health before = endpoint.health();
    Health after =
        switch (request.operation()) {
          case ENABLE -> health.enable(before, turn.now());
          case DISABLE -> health.disable(before, turn.now());
          case FREEZE -> health.freeze(before, turn.now());
        };
    if (after.equals(before)) {
      turn.reply(replyTo, new Answer.EndpointIs(lane.endpoint, lane.tally.unfinished()));
    } else {
      circuit.set(lane, after, replyTo, turn);
      commit.add(
          new Deed(by, turn.now(), request.tenant(), new Deed.Operated(endpoint, lane.endpoint)),
          lane);
    }
  }

  /** The slot of a waiting message has come, or the deadline of a parked one. */
  private void arrive(Held held, Turn turn) {
    Lane lane = held.lane;
    Match.Standing standing = match.standing(held.message);
    // What nothing is known of goes on until it would be sent; whether it is paused is known then.
    boolean goesOn =
        standing == Match.Standing.FITS
            || (standing == Match.Standing.UNHEARD && held.message.status() != Status.PAUSED);
    if (!goesOn || match.isHeldBackInVain(held.message)) {
      park.align(held, standing, turn);
    } else if (!(schedule.whenDue(held.message, lane.health(), turn.now())
        instanceof Arrival.Try)) {
      park.park(held, turn);
    } else {
      dispatch.offerRetry(held);
    }
  }

  /** A batch is on disk: answers who waited for it, and lets each message go on. */
  private void landed(Batch batch, Written written, Turn turn) {
    handOver.landing(batch.ours());
    subscriptions.landing(news.isKnown(written.version()));
    if (written.version() != 0) {
      batch.endpoints().forEach(endpoint -> news.made(endpoint, written.version()));
    }
    Iterator<Written.AcceptResult> results = written.accepts().iterator();
    for (Entry entry : commit.landed(written.version())) {
      if (written.version() != 0) {
        news.made(entry.write(), written.version());
      }
      switch (entry.write()) {
        case Write.Accept write -> accept.committed(write, results.next(), asker(entry), turn);
        case Write.Deliver write -> {
          held(entry).lane.tenant.delivered(write.message(), write.attempt());
          settle.finished(held(entry), true);
        }
        case Write.Drop write -> {
          dropped(held(entry).lane.tenant, write);
          settle.finished(held(entry), false);
          announced(write.announced(), turn);
        }
        case Write.Retry _ -> {
          held(entry).lane.tenant.failed();
          settle.unfinished(held(entry), turn);
        }
        case Write.Park _ -> settle.unfinished(held(entry), turn);
        case Write.Move _ -> settle.moved(held(entry), turn);
        case Write.Spread write -> {
          spread.made(write.step());
          handOver.made(write.messages(), turn);
        }
        case Write.Progress write -> {
          replays.written(write, entry.replyTo(), turn);
          for (Write.Remade remade : write.made()) {
            handOver.made(List.of(remade.message()), turn);
          }
        }
        case Write.Subscribe write ->
            subscriptions.subscribed(write, lane(entry), asker(entry), turn);
        case Write.Import write -> imports.written(write, asker(entry), turn);
        case Write.Update write ->
            subscriptions.updated(write.subscription(), lane(entry), entry.replyTo(), turn);
        case Write.Unsubscribe write ->
            subscriptions.unsubscribed(write.subscription(), asker(entry), turn);
        case Write.ChangeState write -> {
          announced(write.announced(), turn);
          changed(entry, turn);
        }
        case Write.Configure _ -> changed(entry, turn);
        case Write.Forget write -> align.forgot(write.subscription());
      }
    }
  }

  private static void dropped(TenantCounts tenant, Write.Drop write) {
    tenant.dropped();
    if (write.attempt() != null) {
      tenant.failed();
    }
  }

  private static void changed(Entry entry, Turn turn) {
    if (entry.replyTo() != null) {
      Lane lane = lane(entry);
      turn.reply(entry.replyTo(), new Answer.EndpointIs(lane.endpoint, lane.tally.unfinished()));
    }
  }

  private void announced(Write.@Nullable AcceptedEvent event, Turn turn) {
    if (event != null) {
      loads.accepted(event.event().id());
      handOver.accepted(event, turn);
    }
  }

  private void notAnnounced(Write.@Nullable AcceptedEvent event) {
    if (event != null) {
      loads.accepted(event.event().id());
    }
  }

  /** A batch is not on disk: refuses who waited, and keeps every message of it in hand. */
  private void commitFailed(StoreException.Kind kind, Set<String> tenants, Turn turn) {
    if (kind == StoreException.Kind.FENCED) {
      abandon(turn);
      return;
    }
    boolean isStale = kind == StoreException.Kind.STALE;
    if (isStale) {
      news.missing(tenants, turn);
    }
    Refused refused = new Refused(why(kind));
    for (Entry entry : commit.failed(kind, tenants, turn)) {
      if (isStale && entry.replyTo() instanceof Input.Asked asked) {
        decideAnew(asked, turn);
      } else if (entry.replyTo() != null) {
        turn.reply(entry.replyTo(), refused);
      }
      switch (entry.write()) {
        case Write.Subscribe subscribe ->
            subscriptions.notSubscribed(subscribe.subscription(), lane(entry));
        case Write.Import write -> imports.notWritten(write, turn);
        case Write.Update write -> subscriptions.notUpdated(write.subscription(), lane(entry));
        case Write.Unsubscribe write -> subscriptions.notUnsubscribed(write.subscription());
        case Write.Deliver _, Write.Retry _, Write.Park _ -> keepForLater(held(entry), turn);
        case Write.Drop write -> {
          notAnnounced(write.announced());
          if (isStale) {
            keepUnheard(held(entry), turn);
          } else {
            keepForLater(held(entry), turn);
          }
        }
        case Write.Move _ -> {
          Held held = held(entry);
          held.message = held.message.at(held.lane.endpoint.id());
          keepForLater(held, turn);
        }
        case Write.Spread write -> spread.notMade(write.step(), turn);
        case Write.Progress write -> replays.notWritten(write, entry.replyTo(), turn);
        case Write.Accept write -> accept.notCommitted(write);
        case Write.ChangeState write -> {
          // Else only who asked is refused: the change stays to be written.
          if (kind == StoreException.Kind.REFUSED) {
            notAnnounced(write.announced());
          }
        }
        case Write.Forget write -> align.notForgotten(write.subscription());
        case Write.Configure _ -> {}
      }
    }
    if (isStale) {
      subscriptions.forgetSettings(tenants);
    }
  }

  /** Asks once more when the news are here, unless that has gone on for too long. */
  private void decideAnew(Input.Asked asked, Turn turn) {
    Stale stale = Stale.of(asked.replyTo(), turn);
    if (stale.isTooLong(turn)) {
      turn.reply(stale, new Refused(Refused.Why.STORE_AWAY));
    } else {
      later.ask(new Input.Asked(asked.request(), asked.by(), stale));
    }
  }

  private static Refused.Why why(StoreException.Kind kind) {
    return switch (kind) {
      case FULL -> Refused.Why.STORE_FULL;
      case AWAY, FENCED -> Refused.Why.STORE_AWAY;
      case REFUSED, STALE, BROKEN -> Refused.Why.NOT_STORABLE;
    };
  }

  /**
   * What could not be written about a message is tried again. Where others write too, one of them
   * may have finished the message: so it is looked at before.
   */
  private void keepForLater(Held held, Turn turn) {
    if (shared) {
      look.at(held);
    } else {
      wait.keepUntil(held, turn.now().plus(schedule.unit()));
    }
  }

  /** There may be a subscription that this node had not heard of: the message waits for news. */
  private void keepUnheard(Held held, Turn turn) {
    if (!held.lane.ours) {
      lanes.letGo(held);
    } else if (held.message.status() == Status.PAUSED) {
      wait.keepUntil(held, turn.now().plus(schedule.unit()));
    } else {
      dispatch.keepUnheard(held);
    }
  }

  private void loaded(Load load, List<Message> messages, Turn turn) {
    if (loads.isDisowned(load)) {
      loads.forget(load);
      return;
    }
    long number = loads.number(load);
    switch (load) {
      case Load.Due due -> wait.loaded(due, messages, number);
      case Load.Pending pending -> pendingLoaded(pending, messages, number, turn);
      case Load.Probe chosen -> probe.loaded(chosen, messages, number, turn);
      case Load.OfSubscription of -> align.loaded(of, messages, number, turn);
      case Load.Unfinished one -> {
        if (look.has(one)) {
          look.loaded(one, messages, number, turn);
        } else {
          byHand.loaded(one, messages, number, turn);
        }
      }
      case Load.Backlog _, Load.Events _, Load.OfReplay _, Load.Arrivals _ ->
          throw new IllegalStateException("such a load has an answer of its own: " + load);
    }
    loads.forget(load);
  }

  private void pendingLoaded(Load.Pending load, List<Message> messages, long number, Turn turn) {
    Lane lane = lanes.of(load.endpoint());
    lane.loadingPending = false;
    // Of what the lane held when it asked, it may have let go of much since, and all that is read.
    int room = refill.window();
    for (Message message : messages) {
      if (room > 0
          && lanes.held(message.id()) == null
          && !loads.isOutOfTime(message.id(), number)) {
        dispatch.addFirst(lane, message, null, turn);
        room--;
      }
    }
    refill.want(lane);
  }

  private void backlogLoaded(Load.Backlog load, Store.Backlog backlog, Turn turn) {
    long number = loads.number(load);
    Lane lane = lanes.of(load.endpoint());
    lane.loadingBacklog = false;
    if (!lane.isOpen()) {
      return;
    }
    // What was asked for before the lane closed and opened again is found anew, in its order.
    boolean isOld = !load.triedBefore().equals(recovery.triedBefore(lane.health()));
    for (Message message : isOld ? List.<Message>of() : backlog.messages()) {
      Held held = lanes.held(message.id());
      if (held == null && !loads.isOutOfTime(message.id(), number)) {
        dispatch.addRetry(lanes.hold(lane, message, Place.RETRY));
      } else if (held != null
          && held.place == Place.TIMER
          && recovery.isDue(held.message, lane.health(), turn.now())) {
        wait.take(held);
        dispatch.addRetry(held);
      }
    }
    refill.backlogLoaded(lane, backlog.next());
  }

  /** Whether, after a stop was requested, everything has ended and is on disk. */
  public boolean isStopped() {
    return abandoned
        || (stopping && dispatch.inFlight() == 0 && commit.isIdle() && answers.isEmpty());
  }

  /**
   * When {@link #step} must be called again even if nothing happens; {@link #AT_ONCE} when it has
   * more to do, and is to hear first what has come in meanwhile.
   */
  public Optional<Instant> nextWake() {
    if (abandoned) {
      return Optional.empty();
    }
    Instant next = null;
    for (Instant at :
        stopping
            ? new @Nullable Instant[] {answers.nextWake(), commit.nextWake(), loads.nextWake()}
            : new @Nullable Instant[] {
              wait.nextWake(),
              probe.nextWake(),
              dispatch.nextWake(),
              answers.nextWake(),
              commit.nextWake(),
              loads.nextWake(),
              align.nextWake(),
              spread.nextWake(),
              replays.nextWake(),
              inbox.nextWake(),
              later.size() == 0 ? null : news.nextWake()
            }) {
      if (at != null && (next == null || at.isBefore(next))) {
        next = at;
      }
    }
    return Optional.ofNullable(next);
  }

  /** The shards that this node works on. */
  Shards worksOn() {
    return lanes.ours();
  }

  @Override
  public Optional<Subscription> subscription(String tenant, long id) {
    return Optional.ofNullable(match.get(id))
        .filter(subscription -> subscription.tenant().equals(tenant));
  }

  @Override
  public List<Subscription> subscriptions(String tenant, long before, int limit) {
    List<Subscription> found = new ArrayList<>();
    for (Subscription subscription : newest(match.subscriptionsOf(tenant), before)) {
      if (found.size() == limit) {
        break;
      }
      found.add(subscription);
    }
    return found;
  }

  @Override
  public Numbered objectSubscriptions(String tenant, long skipped, int limit) {
    List<Subscription> all = match.ofObjects(tenant);
    int from = (int) Math.min(skipped, all.size());
    int to = Math.min(all.size() - from, limit) + from;
    return new Numbered(all.size(), List.copyOf(all.subList(from, to)));
  }

  @Override
  public Optional<EndpointNow> endpoint(String tenant, long id) {
    return Optional.ofNullable(lanes.get(id))
        .filter(lane -> lane.stored && lane.endpoint.tenant().equals(tenant))
        .map(Loop::now);
  }

  @Override
  public List<EndpointNow> endpoints(String tenant, long before, int limit) {
    List<EndpointNow> found = new ArrayList<>();
    for (Lane lane : newest(lanes.lanesOf(tenant), before)) {
      if (found.size() == limit) {
        break;
      }
      if (lane.stored) {
        found.add(now(lane));
      }
    }
    return found;
  }

  /** To be gone through one by one: a stream of them would first count them all. */
  private static <T> Iterable<T> newest(NavigableMap<Long, T> all, long before) {
    return all.headMap(before, false).descendingMap().values();
  }

  @Override
  public TenantNow tenant(String tenant) {
    return activities.now(tenant);
  }

  /** What has happened of each tenant's since the last call, as far as it is on disk. */
  public List<Activity> takeActivity() {
    return activities.take();
  }

  private static EndpointNow now(Lane lane) {
    return new EndpointNow(lane.endpoint, lane.tally.unfinished());
  }

  @Override
  public Gauges gauges() {
    int enabled = 0;
    int disabled = 0;
    int frozen = 0;
    int gone = 0;
    for (Lane lane : lanes.all()) {
      if (!lane.ours) {
        continue;
      }
      gone += lane.endpoint.goneAt() == null ? 0 : 1;
      switch (lane.health().state()) {
        case ENABLED -> enabled++;
        case DISABLED -> disabled++;
        case FROZEN -> frozen++;
      }
    }
    return new Gauges(
        lanes.tally().pending(),
        lanes.tally().waiting(),
        lanes.tally().parked() + lanes.tally().paused(),
        dispatch.inFlight(),
        lanes.heldCount(),
        wait.size(),
        bodies.bytes(),
        dispatch.sendingBytes(),
        commit.acceptingBytes(),
        commit.unwritten(),
        enabled,
        disabled,
        frozen,
        lanes.ours().equals(Shards.ALL) ? match.size() : match.count(lanes::isOurs),
        handOver.events,
        handOver.messages,
        settle.delivered,
        settle.dropped,
        settle.succeeded,
        settle.failed,
        admission.refused,
        admission.refusedByQuota,
        gone);
  }

  private static Held held(Entry entry) {
    if (entry.held() == null) {
      throw new IllegalStateException("the write is about a message: " + entry.write());
    }
    return entry.held();
  }

  private static Lane lane(Entry entry) {
    if (entry.lane() == null) {
      throw new IllegalStateException("the write is about an endpoint: " + entry.write());
    }
    return entry.lane();
  }

  private static Consumer<Answer> asker(Entry entry) {
    if (entry.replyTo() == null) {
      throw new IllegalStateException("somebody asked for the write: " + entry.write());
    }
    return entry.replyTo();
  }
}
