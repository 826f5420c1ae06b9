package dev.holdfast.core.path;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Answer.Imported.Result;
import dev.holdfast.core.path.Request.Imported;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Write;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes in many subscriptions at once, all or none, such as those of another environment.
 *
 * <p>A subscription that is there already is told by its URL, types and subject. So the same import
 * once more changes nothing, and one with other filters changes them in place, without losing or
 * doubling an event.
 */
final class Imports {
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Commit commit;
  private final Align align;
  private final Subscriptions subscriptions;

  /** What is answered when a write has landed. */
  private final IdentityHashMap<Write.Import, List<Item>> underWay = new IdentityHashMap<>();

  Imports(
      IdSource ids,
      Match match,
      Lanes lanes,
      Commit commit,
      Align align,
      Subscriptions subscriptions) {
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.commit = commit;
    this.align = align;
    this.subscriptions = subscriptions;
  }

  /** What tells a subscription from others, whatever else changes about it. */
  private record Identity(String url, List<TypePattern> types, @Nullable String subject) {}

  void take(Request.Import request, Consumer<Answer> replyTo, Turn turn) {
    List<@Nullable Subscription> present = present(request);
    List<Item> items = new ArrayList<>();
    List<Write.Subscribe> created = new ArrayList<>();
    List<Write.Update> changed = new ArrayList<>();
    for (int i = 0; i < present.size(); i++) {
      Imported imported = request.subscriptions().get(i);
      Subscription before = present.get(i);
      if (request.dryRun()) {
        items.add(planned(request.tenant(), imported, before, turn));
      } else if (before == null) {
        items.add(create(request.tenant(), imported.wish(), created, turn));
      } else {
        items.add(change(imported, before, changed, turn));
      }
    }
    if (created.isEmpty() && changed.isEmpty()) {
      turn.reply(replyTo, new Answer.Imported(items));
      return;
    }
    Write.Import write = new Write.Import(created, changed);
    underWay.put(write, items);
    int weight = created.size() + changed.size();
    commit.add(new Commit.Entry(write, null, null, replyTo, weight, 0));
  }

  /** For each wish the subscription that is there already: first those that are all the same. */
  private List<@Nullable Subscription> present(Request.Import request) {
    Map<Identity, Deque<Subscription>> known = new HashMap<>();
    for (long id : match.subscriptionsOf(request.tenant()).keySet()) {
      Subscription subscription = match.latest(id);
      if (subscription != null) {
        String url = lanes.of(subscription.endpoint()).endpoint.url();
        known
            .computeIfAbsent(
                new Identity(url, subscription.types(), subscription.subject()),
                _ -> new ArrayDeque<>())
            .add(subscription);
      }
    }
    List<@Nullable Subscription> present = new ArrayList<>();
    for (Imported imported : request.subscriptions()) {
      Deque<Subscription> alike = known.get(identity(imported.wish()));
      Subscription same = null;
      if (alike != null) {
        same =
            alike.stream()
                .filter(candidate -> isSame(imported, candidate))
                .findFirst()
                .orElse(null);
        alike.remove(same);
      }
      present.add(same);
    }
    for (int i = 0; i < present.size(); i++) {
      Deque<Subscription> alike = known.get(identity(request.subscriptions().get(i).wish()));
      if (present.get(i) == null && alike != null) {
        present.set(i, alike.poll());
      }
    }
    return present;
  }

  private static Identity identity(Wish wish) {
    return new Identity(wish.url(), wish.interest().types(), wish.interest().subject());
  }

  private boolean isSame(Imported imported, Subscription before) {
    Wish wish = imported.wish();
    Form form = before.form();
    boolean sameSecret =
        imported.keepsSecrets()
            || newest(wish.form()).map(Secret::text).equals(newest(form).map(Secret::text));
    boolean sameRate =
        wish.rateLimit() == null
            || wish.rateLimit().equals(lanes.of(before.endpoint()).endpoint.rateLimit());
    return sameSecret
        && sameRate
        && wish.interest().equals(before.interest())
        && wish.form().format() == form.format()
        && wish.form().base64() == form.base64()
        && Objects.equals(wish.form().authToken(), form.authToken())
        && wish.form().headers().equals(form.headers());
  }

  private static Optional<Secret> newest(Form form) {
    return form.secrets().stream().findFirst();
  }

  private Item planned(String tenant, Imported imported, @Nullable Subscription before, Turn turn) {
    if (before != null) {
      return new Item(
          isSame(imported, before) ? Result.UNCHANGED : Result.CHANGED,
          before,
          lanes.of(before.endpoint()).endpoint);
    }
    Wish wish = imported.wish();
    Lane lane = lanes.withUrl(tenant, wish.url());
    Endpoint endpoint =
        lane != null
            ? lane.endpoint
            : new Endpoint(0, tenant, wish.url(), Health.created(turn.now()));
    return new Item(
        Result.CREATED,
        new Subscription(0, tenant, endpoint.id(), wish.interest(), wish.form(), turn.now()),
        endpoint);
  }

  private Item create(String tenant, Wish wish, List<Write.Subscribe> created, Turn turn) {
    Lane lane = subscriptions.lane(tenant, wish.url(), turn);
    if (wish.rateLimit() != null) {
      subscriptions.limitRate(lane, wish.rateLimit());
    }
    Subscription subscription =
        new Subscription(
            ids.next(turn.now()),
            tenant,
            lane.endpoint.id(),
            wish.interest(),
            wish.form(),
            turn.now());
    created.add(new Write.Subscribe(subscription, lane.stored ? null : lane.endpoint));
    return new Item(Result.CREATED, subscription, lane.endpoint);
  }

  private Item change(
      Imported imported, Subscription before, List<Write.Update> changed, Turn turn) {
    Wish wish = imported.wish();
    Lane lane = lanes.of(before.endpoint());
    if (isSame(imported, before)) {
      return new Item(Result.UNCHANGED, before, lane.endpoint);
    }
    if (wish.rateLimit() != null) {
      subscriptions.limitRate(lane, wish.rateLimit());
    }
    Subscription after =
        new Subscription(
            before.id(),
            before.tenant(),
            before.endpoint(),
            wish.interest(),
            form(imported, before.form(), turn),
            before.createdAt(),
            before.paused(),
            before.unsettled());
    match.changing(after);
    changed.add(new Write.Update(after, lane.stored ? null : lane.endpoint));
    return new Item(Result.CHANGED, after, lane.endpoint);
  }

  private static Form form(Imported imported, Form before, Turn turn) {
    Form wanted = imported.wish().form();
    Form kept =
        new Form(
            wanted.format(),
            wanted.base64(),
            wanted.authToken(),
            wanted.headers(),
            before.secrets());
    Secret given = newest(wanted).orElse(null);
    if (imported.keepsSecrets()
        || given == null
        || newest(before).map(Secret::text).filter(given.text()::equals).isPresent()) {
      return kept;
    }
    NewSecret newSecret = new NewSecret(given.text(), Form.OLD_SECRETS_VALID);
    return new Form.Change(null, null, null, null, newSecret).applyTo(kept, turn.now());
  }

  void written(Write.Import write, Consumer<Answer> replyTo, Turn turn) {
    for (Write.Subscribe created : write.created()) {
      lanes.of(created.subscription().endpoint()).stored = true;
      match.add(created.subscription());
    }
    for (Write.Update changed : write.changed()) {
      match.changed(changed.subscription());
      match.replace(changed.subscription());
      align.changed(changed.subscription(), turn);
    }
    turn.reply(replyTo, new Answer.Imported(Objects.requireNonNull(underWay.remove(write))));
  }

  void notWritten(Write.Import write) {
    underWay.remove(write);
    Set<Lane> unwritten = new HashSet<>();
    for (Write.Subscribe created : write.created()) {
      Lane lane = lanes.get(created.subscription().endpoint());
      if (lane != null && !lane.stored) {
        unwritten.add(lane);
      }
    }
    unwritten.forEach(lanes::remove);
    for (Write.Update changed : write.changed()) {
      match.changed(changed.subscription());
      subscriptions.goOn(changed.subscription());
    }
  }
}
