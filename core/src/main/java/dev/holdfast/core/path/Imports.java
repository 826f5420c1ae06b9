package dev.holdfast.core.path;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Imported.Item;
import dev.holdfast.core.path.Answer.Imported.Result;
import dev.holdfast.core.path.Request.Imported;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.core.port.Deed;
import dev.holdfast.core.port.Write;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes in many subscriptions at once, all or none, such as those of another environment, and sends
 * many at once another version.
 *
 * <p>A subscription that is there already is told by its URL, types and subject. So the same import
 * once more changes nothing, and one with other filters changes them in place, without losing or
 * doubling an event. Imports of one tenant go one after the other, so that the second finds what
 * the first has made.
 */
final class Imports {
  private final IdSource ids;
  private final Match match;
  private final Lanes lanes;
  private final Commit commit;
  private final Align align;
  private final Subscriptions subscriptions;

  /** What is being written, by tenant. */
  private final Map<String, UnderWay> underWay = new HashMap<>();

  /** Where others of the same tenant wait for that. */
  private final Later later;

  Imports(
      IdSource ids,
      Match match,
      Lanes lanes,
      Commit commit,
      Align align,
      Subscriptions subscriptions,
      Later later) {
    this.ids = ids;
    this.match = match;
    this.lanes = lanes;
    this.commit = commit;
    this.align = align;
    this.subscriptions = subscriptions;
    this.later = later;
  }

  /**
   * An import that is being written.
   *
   * @param items what is answered when it has landed
   * @param configured what it has set about endpoints, in case it does not land
   */
  private record UnderWay(List<Item> items, Map<Lane, List<Deed>> configured) {}

  /** What is to be written, as it gathers. */
  private record Draft(
      String tenant,
      Actor by,
      List<Item> items,
      List<Write.Subscribe> created,
      List<Write.Update> changed,
      List<Deed> deeds) {
    Draft(String tenant, Actor by) {
      this(tenant, by, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  /** What tells a subscription from others, whatever else changes about it. */
  private record Identity(String url, List<TypePattern> types, @Nullable String subject) {
    static Identity of(String url, Interest interest) {
      return new Identity(url, interest.types(), interest.subject());
    }
  }

  /** All of a subscription but its secrets. */
  private record Content(
      String url,
      Interest interest,
      Format format,
      Version version,
      boolean base64,
      @Nullable String authToken,
      Map<String, String> headers) {
    static Content of(String url, Interest interest, Form form) {
      return new Content(
          url,
          interest,
          form.format(),
          form.version(),
          form.base64(),
          form.authToken(),
          form.headers());
    }
  }

  /**
   * What is to be done about one wish.
   *
   * @param before the subscription that is there already
   * @param same whether nothing is to be changed about it
   */
  private record Plan(Imported imported, @Nullable Subscription before, boolean same) {
    Wish wish() {
      return imported.wish();
    }
  }

  void take(Request.Import request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    if (underWay.containsKey(request.tenant()) && !request.dryRun()) {
      later.ask(request, by, replyTo);
      return;
    }
    List<Plan> plans = plans(request);
    Answer objection = objection(plans, turn);
    if (objection != null) {
      turn.reply(replyTo, objection);
    } else if (request.dryRun()) {
      List<Item> items = new ArrayList<>();
      plans.forEach(plan -> items.add(foreseen(request.tenant(), plan, turn)));
      turn.reply(replyTo, new Answer.Imported(items));
    } else {
      carryOut(new Draft(request.tenant(), by), plans, replyTo, turn);
    }
  }

  /** Sends many subscriptions another version. */
  void changeVersion(Request.ChangeVersion request, Actor by, Consumer<Answer> replyTo, Turn turn) {
    if (underWay.containsKey(request.tenant())) {
      later.ask(request, by, replyTo);
      return;
    }
    List<Long> named = request.subscriptions();
    List<Subscription> all = match.ofObjects(request.tenant());
    int count = named == null ? all.size() : named.size();
    if (count > Limits.VERSION_CHANGES) {
      turn.reply(
          replyTo,
          new Answer.Unfit(
              named == null ? "allCustomerSubscriptions" : "subscriptionIds",
              "The version of %d subscriptions can be changed at once, and these are %d. Give the ids of some of them."
                  .formatted(Limits.VERSION_CHANGES, count)));
      return;
    }
    Map<Long, Subscription> known = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      Subscription latest = match.latest(named == null ? all.get(i).id() : named.get(i));
      if (latest != null
          && latest.tenant().equals(request.tenant())
          && ObjectEvent.of(latest).isPresent()) {
        known.put(latest.id(), latest);
      } else if (named != null) {
        turn.reply(
            replyTo,
            new Answer.Unfit(
                "subscriptionIds[" + i + "]",
                "There is no such subscription, and nothing was changed. Leave it out."));
        return;
      }
    }
    Form.Change change = Form.Change.to(request.version());
    Draft draft = new Draft(request.tenant(), by);
    for (Subscription before : known.values()) {
      Form form = change.applyTo(before.form(), turn.now());
      if (form.equals(before.form())) {
        stay(before, draft);
      } else {
        change(before, before.with(before.interest(), form, turn.now()), draft, turn);
      }
    }
    write(draft, Map.of(), replyTo, turn);
  }

  /** Pairs each wish with what is there: first those that are the same in everything. */
  private List<Plan> plans(Request.Import request) {
    Set<Long> endpoints = new HashSet<>();
    for (Imported imported : request.subscriptions()) {
      Lane lane = lanes.withUrl(request.tenant(), imported.wish().url());
      if (lane != null) {
        endpoints.add(lane.endpoint.id());
      }
    }
    Map<Identity, Map<Long, Subscription>> alike = new HashMap<>();
    Map<Content, List<Subscription>> equal = new HashMap<>();
    for (long id : match.subscriptionsOf(request.tenant()).keySet()) {
      Subscription known = match.latest(id);
      if (known != null && endpoints.contains(known.endpoint())) {
        String url = lanes.of(known.endpoint()).endpoint.url();
        alike
            .computeIfAbsent(Identity.of(url, known.interest()), _ -> new LinkedHashMap<>())
            .put(id, known);
        equal
            .computeIfAbsent(
                Content.of(url, known.interest(), known.form()), _ -> new ArrayList<>(1))
            .add(known);
      }
    }
    List<Plan> plans = new ArrayList<>();
    for (Imported imported : request.subscriptions()) {
      Wish wish = imported.wish();
      Map<Long, Subscription> left = alike.get(Identity.of(wish.url(), wish.interest()));
      Subscription same = null;
      for (Subscription candidate :
          equal.getOrDefault(Content.of(wish.url(), wish.interest(), wish.form()), List.of())) {
        if (same == null
            && left != null
            && left.containsKey(candidate.id())
            && isSameBeside(imported, candidate)) {
          same = candidate;
          left.remove(candidate.id());
        }
      }
      plans.add(new Plan(imported, same, same != null));
    }
    plans.replaceAll(
        plan -> {
          Identity identity = Identity.of(plan.wish().url(), plan.wish().interest());
          Map<Long, Subscription> left = alike.getOrDefault(identity, Map.of());
          if (plan.same() || left.isEmpty()) {
            return plan;
          }
          long first = left.keySet().iterator().next();
          return new Plan(plan.imported(), left.remove(first), false);
        });
    return plans;
  }

  /** Whether what is not {@link Content} is the same too: the secret, and the endpoint's. */
  private boolean isSameBeside(Imported imported, Subscription before) {
    Wish wish = imported.wish();
    boolean sameSecret =
        imported.keepsSecrets()
            || newest(wish.form())
                .map(Secret::text)
                .equals(newest(before.form()).map(Secret::text));
    Endpoint endpoint = lanes.of(before.endpoint()).endpoint;
    return sameSecret
        && (wish.rateLimit() == null || wish.rateLimit().equals(endpoint.rateLimit()))
        && (wish.tls() == null || wish.tls().equals(endpoint.tls()));
  }

  private static Optional<Secret> newest(Form form) {
    return form.secrets().stream().findFirst();
  }

  private static @Nullable Answer objection(List<Plan> plans, Turn turn) {
    for (int i = 0; i < plans.size(); i++) {
      Plan plan = plans.get(i);
      if (plan.before() != null
          && !plan.same()
          && form(plan.imported(), plan.before().form(), turn).secretsAt(turn.now()).size()
              > Limits.VALID_SECRETS) {
        return new Answer.Unfit(
            "subscriptions[" + i + "].secret",
            "The subscription has %d valid secrets already. Leave the secret out, or wait until one"
                    .formatted(Limits.VALID_SECRETS)
                + " of them ends.");
      }
    }
    return null;
  }

  private Item foreseen(String tenant, Plan plan, Turn turn) {
    if (plan.before() != null) {
      return new Item(
          plan.same() ? Result.UNCHANGED : Result.CHANGED,
          plan.before(),
          lanes.of(plan.before().endpoint()).endpoint);
    }
    Wish wish = plan.wish();
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

  private void carryOut(Draft draft, List<Plan> plans, Consumer<Answer> replyTo, Turn turn) {
    Map<Lane, List<Deed>> configured = configure(draft, plans, turn);
    for (Plan plan : plans) {
      Subscription before = plan.before();
      if (before == null) {
        create(plan.wish(), draft, turn);
      } else if (plan.same()) {
        stay(before, draft);
      } else {
        Form form = form(plan.imported(), before.form(), turn);
        change(before, before.with(plan.wish().interest(), form, turn.now()), draft, turn);
      }
    }
    write(draft, configured, replyTo, turn);
  }

  private void write(
      Draft draft, Map<Lane, List<Deed>> configured, Consumer<Answer> replyTo, Turn turn) {
    if (draft.created().isEmpty() && draft.changed().isEmpty()) {
      turn.reply(replyTo, new Answer.Imported(draft.items()));
      return;
    }
    underWay.put(draft.tenant(), new UnderWay(draft.items(), configured));
    int weight = draft.created().size() + draft.changed().size();
    commit.add(
        new Commit.Entry(
            new Write.Import(draft.created(), draft.changed()),
            null,
            null,
            replyTo,
            weight,
            0,
            draft.deeds()));
  }

  /** Sets what is wanted about endpoints before the subscriptions are written. */
  private Map<Lane, List<Deed>> configure(Draft draft, List<Plan> plans, Turn turn) {
    Map<Lane, List<Deed>> configured = new HashMap<>();
    for (Plan plan : plans) {
      Wish wish = plan.wish();
      if ((wish.rateLimit() != null || wish.tls() != null) && !plan.same()) {
        Lane lane = subscriptions.lane(draft.tenant(), wish.url(), turn);
        subscriptions
            .configure(lane, wish, draft.by(), turn)
            .ifPresent(deed -> configured.computeIfAbsent(lane, _ -> new ArrayList<>()).add(deed));
      }
    }
    return configured;
  }

  private void create(Wish wish, Draft draft, Turn turn) {
    Lane lane = subscriptions.lane(draft.tenant(), wish.url(), turn);
    Subscription subscription = Subscriptions.subscription(ids.next(turn.now()), lane, wish, turn);
    match.coming(subscription);
    draft.created().add(new Write.Subscribe(subscription, lane.stored ? null : lane.endpoint));
    draft
        .deeds()
        .add(
            new Deed(
                draft.by(),
                turn.now(),
                draft.tenant(),
                new Deed.Subscribed(subscription, lane.endpoint, null)));
    draft.items().add(new Item(Result.CREATED, subscription, lane.endpoint));
  }

  /**
   * One that stays as it is. While that is still being written it is written once more: what is
   * answered is on disk.
   */
  private void stay(Subscription latest, Draft draft) {
    if (match.isChanging(latest.id())) {
      write(latest, draft);
    }
    Endpoint endpoint = lanes.of(latest.endpoint()).endpoint;
    draft.items().add(new Item(Result.UNCHANGED, latest, endpoint));
  }

  private void change(Subscription before, Subscription after, Draft draft, Turn turn) {
    write(after, draft);
    Endpoint endpoint = lanes.of(after.endpoint()).endpoint;
    if (!after.interest().equals(before.interest()) || !after.form().equals(before.form())) {
      Deed deed = Subscriptions.updated(draft.by(), before, endpoint, after, endpoint, turn);
      draft.deeds().add(deed);
    }
    draft.items().add(new Item(Result.CHANGED, after, endpoint));
  }

  private void write(Subscription subscription, Draft draft) {
    Lane lane = lanes.of(subscription.endpoint());
    match.changing(subscription);
    draft.changed().add(new Write.Update(subscription, lane.stored ? null : lane.endpoint));
  }

  private static Form form(Imported imported, Form before, Turn turn) {
    Form wanted = imported.wish().form();
    Form.Change toEdition =
        new Form.Change(wanted.format(), wanted.version(), null, null, null, null);
    Form kept =
        new Form(
            wanted.format(),
            toEdition.applyTo(before, turn.now()).edition(),
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
    return Form.Change.to(newSecret).applyTo(kept, turn.now());
  }

  void written(Write.Import write, Consumer<Answer> replyTo, Turn turn) {
    for (Write.Subscribe created : write.created()) {
      lanes.of(created.subscription().endpoint()).nowStored();
      subscriptions.added(created.subscription());
    }
    for (Write.Update changed : write.changed()) {
      subscriptions.replaced(changed.subscription());
      align.changed(changed.subscription(), turn);
    }
    turn.reply(replyTo, new Answer.Imported(ended(write).items()));
  }

  /** Nothing of it is on disk. */
  void notWritten(Write.Import write, Turn turn) {
    UnderWay ended = ended(write);
    for (Write.Subscribe created : write.created()) {
      match.notComing(created.subscription());
      Lane lane = lanes.get(created.subscription().endpoint());
      if (lane != null) {
        subscriptions.removeUnlessStored(lane);
      }
    }
    ended
        .configured()
        .forEach(
            (lane, deeds) -> {
              if (lane.stored) {
                subscriptions.restore(lane, deeds, turn);
              }
            });
    for (Write.Update changed : write.changed()) {
      match.changed(changed.subscription());
      subscriptions.goOn(changed.subscription());
    }
  }

  private UnderWay ended(Write.Import write) {
    return Objects.requireNonNull(underWay.remove(tenant(write)));
  }

  private static String tenant(Write.Import write) {
    return write.created().isEmpty()
        ? write.changed().getFirst().subscription().tenant()
        : write.created().getFirst().subscription().tenant();
  }
}
