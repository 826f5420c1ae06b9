package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.Write;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Off the path: takes in what other nodes have changed of what everyone knows, subscriptions and
 * the settings of endpoints. What this node has changed itself comes back here too, and may come
 * back late: from before a change that it has made since.
 */
final class News {
  private final Lanes lanes;
  private final Match match;
  private final Align align;
  private final Subscriptions subscriptions;
  private final Commit commit;

  /** All changes up to this one are known. */
  private long version;

  /** Subscriptions and endpoints that this node has changed, with the version that this made. */
  private final Map<Long, Long> own = new HashMap<>();

  /** Whose requests wait for news; everybody's if nobody is named. */
  private final Set<String> missingOf = new HashSet<>();

  /** Until when requests wait for news; absent while none are missing. */
  private @Nullable Instant missingUntil;

  News(
      Lanes lanes,
      Match match,
      Align align,
      Subscriptions subscriptions,
      Commit commit,
      long version) {
    this.lanes = lanes;
    this.match = match;
    this.align = align;
    this.subscriptions = subscriptions;
    this.commit = commit;
    this.version = version;
  }

  /**
   * Something was decided by what is no longer so.
   *
   * @param tenants whose; nobody if it may be everybody's
   */
  void missing(Set<String> tenants, Turn turn) {
    if (missingUntil == null) {
      missingUntil = turn.now().plus(Limits.NEWS_WITHIN);
      missingOf.addAll(tenants);
    } else if (tenants.isEmpty()) {
      missingOf.clear();
    } else if (!missingOf.isEmpty()) {
      missingOf.addAll(tenants);
    }
  }

  /** Whether a tenant's requests have to wait for news. */
  boolean isMissing(String tenant) {
    return missingUntil != null && (missingOf.isEmpty() || missingOf.contains(tenant));
  }

  /** Whether news have not come for so long that nobody should wait for them. */
  boolean isOverdue(Turn turn) {
    return missingUntil != null && !turn.now().isBefore(missingUntil);
  }

  /** When whoever waits for news has waited long enough. */
  @Nullable Instant nextWake() {
    return missingUntil;
  }

  /** Whether all changes up to this one are known already. */
  boolean isKnown(long change) {
    return change != 0 && change <= version;
  }

  /** This node has made a change of what everyone knows. */
  void made(Write write, long change) {
    if (change <= version) {
      return;
    }
    switch (write) {
      case Write.Subscribe subscribe -> own.put(subscribe.subscription().id(), change);
      case Write.Update update -> own.put(update.subscription().id(), change);
      case Write.Unsubscribe unsubscribe -> own.put(unsubscribe.subscription().id(), change);
      case Write.Configure configure -> own.put(configure.endpoint(), change);
      case Write.Import all -> {
        all.created().forEach(one -> made(one, change));
        all.changed().forEach(one -> made(one, change));
      }
      // The others change nothing that everyone knows, or only take away what has ended.
      case Write.Accept _,
          Write.Spread _,
          Write.Deliver _,
          Write.Retry _,
          Write.Park _,
          Write.Move _,
          Write.Drop _,
          Write.Forget _,
          Write.ChangeState _,
          Write.Progress _ -> {}
    }
  }

  /** This node has set something about an endpoint. */
  void made(Endpoint endpoint, long change) {
    if (change > version) {
      own.put(endpoint.id(), change);
    }
  }

  /**
   * Takes in what has changed after a version; returns whether it could. What leaves out changes
   * that this node does not know either would hide them for good.
   */
  boolean take(long since, Known known, Turn turn) {
    if (since > version) {
      return false;
    }
    missingUntil = null;
    missingOf.clear();
    if (known.version() > version) {
      take(known, turn);
    }
    return true;
  }

  private void take(Known known, Turn turn) {
    for (Endpoint endpoint : known.endpoints()) {
      if (isNews(endpoint.id(), known)) {
        take(endpoint);
      }
    }
    for (Subscription subscription : known.subscriptions()) {
      if (isNews(subscription.id(), known)) {
        take(subscription, turn);
      }
    }
    for (Subscription subscription : known.ended()) {
      if (isNews(subscription.id(), known) && !match.hasEnded(subscription.id())) {
        match.remove(subscription);
        align.ended(subscription, turn);
      }
    }
    known.forgotten().forEach(this::forget);
    version = known.version();
    own.values().removeIf(change -> change <= version);
    commit.learned(version);
  }

  /** Whether it is not from before what this node has made of it. */
  private boolean isNews(long id, Known known) {
    return own.getOrDefault(id, 0L) <= known.version();
  }

  private void take(Endpoint endpoint) {
    Lane lane = lanes.get(endpoint.id());
    if (lane == null) {
      lanes.add(endpoint, true, null);
      return;
    }
    lane.stored = true;
    subscriptions.learned(lane, endpoint);
    if (!commit.ours().has(endpoint.id())) {
      lane.endpoint = lane.endpoint.with(endpoint.health()).withGoneAt(endpoint.goneAt());
    }
    lane.recount();
  }

  private void take(Subscription subscription, Turn turn) {
    if (match.hasEnded(subscription.id())) {
      return;
    }
    Subscription before = match.get(subscription.id());
    if (before == null) {
      match.add(subscription);
    } else if (!before.equals(subscription)) {
      match.replace(subscription);
    } else {
      return;
    }
    align.changed(subscription, turn);
  }

  private void forget(long id) {
    Subscription before = match.get(id);
    if (before != null) {
      match.remove(before);
    }
    align.forgotten(id);
  }
}
