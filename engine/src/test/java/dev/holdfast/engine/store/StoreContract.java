package dev.holdfast.engine.store;

import static dev.holdfast.engine.store.Sample.NOW;
import static dev.holdfast.engine.store.Sample.TENANT;
import static dev.holdfast.engine.store.Sample.accept;
import static dev.holdfast.engine.store.Sample.after;
import static dev.holdfast.engine.store.Sample.batch;
import static dev.holdfast.engine.store.Sample.bytes;
import static dev.holdfast.engine.store.Sample.deliver;
import static dev.holdfast.engine.store.Sample.failure;
import static dev.holdfast.engine.store.Sample.parked;
import static dev.holdfast.engine.store.Sample.retry;
import static dev.holdfast.engine.store.Sample.success;
import static dev.holdfast.engine.store.Sample.waiting;
import static dev.holdfast.engine.store.Sample.with;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Batch;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.MessageDetail;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.Snapshot;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.port.Store.Backlog;
import dev.holdfast.core.port.Store.BacklogCursor;
import dev.holdfast.core.port.Store.DueCursor;
import dev.holdfast.core.port.Store.Which;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.port.Written;
import dev.holdfast.core.port.Written.AcceptResult;
import dev.holdfast.core.port.Written.Receipt;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every store keeps to. */
abstract class StoreContract {
  private static final long E1 = 1_000_001;
  private static final long E2 = 2_000_001;
  private static final Instant LATER = after(100_000);

  private final Sample sample = new Sample();

  @SuppressWarnings("NullAway.Init")
  private Store store;

  @SuppressWarnings("NullAway.Init")
  private History history;

  /** Opens the store that holds what was written before in this test. */
  abstract Opened open() throws Exception;

  /** A character that nobody can send, but that the store can keep. */
  String odd() {
    return "\u0000";
  }

  /** A store and its history, which may be the same object. */
  record Opened(Store store, History history) {}

  @BeforeEach
  void openStore() throws Exception {
    Opened opened = open();
    store = opened.store();
    history = opened.history();
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  private void reopen() throws Exception {
    closeStore();
    openStore();
  }

  private Written write(Write... writes) throws StoreException {
    return store.write(batch(writes));
  }

  private Message accepted(long endpoint) throws StoreException {
    AcceptedEvent event = sample.pending(endpoint);
    write(accept(event));
    return event.messages().getFirst();
  }

  private Message acceptedThenWaiting(long endpoint, int attempts, Instant due)
      throws StoreException {
    Message message = accepted(endpoint);
    write(retry(message, attempts, due));
    return waiting(message, attempts, due);
  }

  private Message acceptedThenParked(long endpoint, int attempts) throws StoreException {
    Message parked = parked(accepted(endpoint), attempts, LATER);
    write(new Write.Park(parked));
    return parked;
  }

  private void subscribe(Endpoint endpoint) throws StoreException {
    write(new Write.Subscribe(sample.subscription(endpoint, "order.*"), endpoint));
  }

  // What is kept

  @Test
  void a_new_store_is_empty() throws Exception {
    assertThat(store.snapshot()).isEqualTo(Snapshot.EMPTY);
    assertThat(store.due(DueCursor.START, Instant.MAX, 10)).isEmpty();
    assertThat(store.pending(E1, 10)).isEmpty();
    assertThat(store.probe(E1, NOW)).isEmpty();
    assertThat(history.messages(all(10)).items()).isEmpty();
  }

  @Test
  void an_accepted_event_and_its_messages_are_there_after_reopening() throws Exception {
    AcceptedEvent event = sample.pending(E1, E2);
    assertThat(write(accept(event)).accepts())
        .containsExactly(
            new AcceptResult.Kept(
                List.of(
                    new Receipt(
                        event.event().id(), Id.text(Id.EVENT, event.event().id()), 2, false))));
    reopen();
    assertThat(store.events(List.of(event.event().id())))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(event.event());
    assertThat(store.pending(E1, 10)).containsExactly(event.messages().get(0));
    assertThat(store.pending(E2, 10)).containsExactly(event.messages().get(1));
  }

  @Test
  void every_field_of_an_event_comes_back_as_it_was() throws Exception {
    byte[] data = new byte[300_000];
    for (int i = 0; i < data.length; i++) {
      data[i] = (byte) (i * 31);
    }
    Event full =
        new Event(
            sample.id(),
            "ténant " + odd() + " \uD83D\uDE00",
            "tÿpe",
            "sub" + odd() + "ject\n",
            Instant.parse("2026-01-02T03:04:05.123456789Z"),
            data,
            bytes("[1.000,2E+10]"),
            "caller's \"id\"",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    Event bare = new Event(sample.id(), "t", "", null, null, new byte[0], null, null, null);
    Event empty =
        new Event(sample.id(), "t", "", "", Instant.MIN, new byte[0], new byte[0], "", "");
    write(
        accept(
            new AcceptedEvent(full, List.of()),
            new AcceptedEvent(bare, List.of()),
            new AcceptedEvent(empty, List.of())));
    reopen();
    assertThat(store.events(List.of(full.id(), bare.id(), empty.id())))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(full, bare, empty);
  }

  @Test
  void events_are_read_in_the_order_of_the_ids_and_unknown_ones_are_left_out() throws Exception {
    AcceptedEvent one = sample.pending(E1);
    AcceptedEvent two = sample.pending(E1);
    write(accept(one, two));
    assertThat(store.events(List.of(two.event().id(), 99L, one.event().id())))
        .extracting(Event::id)
        .containsExactly(two.event().id(), one.event().id());
  }

  @Test
  void an_event_that_nobody_wants_is_kept() throws Exception {
    AcceptedEvent event = sample.pending();
    write(accept(event));
    assertThat(history.event(TENANT, own(event)).orElseThrow().messages()).isEmpty();
  }

  @Test
  void a_message_may_be_parked_as_it_is_accepted() throws Exception {
    AcceptedEvent event = sample.parked(E1, LATER);
    write(accept(event));
    reopen();
    assertThat(store.unfinished(event.messages().getFirst().id()))
        .contains(event.messages().getFirst());
  }

  @Test
  void times_are_kept_to_the_microsecond_and_finer_parts_cut_off() throws Exception {
    Message message = accepted(E1);
    Instant odd = Instant.parse("2026-03-01T12:00:00.123456999Z");
    write(new Write.Park(with(message, Status.PARKED, 1, odd, odd)));
    Message kept = store.unfinished(message.id()).orElseThrow();
    assertThat(kept.due()).isEqualTo(Instant.parse("2026-03-01T12:00:00.123456Z"));
    assertThat(kept.notBefore()).isEqualTo(kept.due());
  }

  @Test
  void a_delivered_message_is_finished() throws Exception {
    Message message = accepted(E1);
    write(deliver(message));
    reopen();
    assertThat(store.unfinished(message.id())).isEmpty();
    assertThat(store.pending(E1, 10)).isEmpty();
    assertThat(store.snapshot().unfinished()).isEmpty();
    assertThat(detail(message).message().status()).isEqualTo(History.Status.DELIVERED);
  }

  @Test
  void a_failed_message_waits_as_it_was_told_to() throws Exception {
    Message message = accepted(E1);
    Message waiting = with(message, Status.WAITING, 1, after(84), after(60));
    write(new Write.Retry(waiting, failure(message, 1)));
    reopen();
    assertThat(store.unfinished(message.id())).contains(waiting);
  }

  @Test
  void every_attempt_of_a_message_is_kept_whole() throws Exception {
    Message message = accepted(E1);
    List<Attempt> attempts = new ArrayList<>();
    for (Outcome.Failure.Kind kind : Outcome.Failure.Kind.values()) {
      int number = attempts.size() + 1;
      Attempt attempt =
          Sample.attempt(
              message,
              number,
              kind == Outcome.Failure.Kind.STATUS
                  ? new Outcome.Failure(kind, 500, new byte[4096], "soon")
                  : Outcome.Failure.of(kind));
      attempts.add(attempt);
      write(new Write.Retry(waiting(message, number, after(number)), attempt));
    }
    Attempt last = success(message, attempts.size() + 1);
    attempts.add(last);
    write(new Write.Deliver(waiting(message, attempts.size() - 1, LATER), last, LATER));
    reopen();
    MessageDetail detail = detail(message);
    assertThat(detail.message().attempts()).isEqualTo(attempts.size());
    assertThat(detail.attempts())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactlyElementsOf(attempts);
  }

  @Test
  void an_unfinished_message_shows_its_attempts_so_far() throws Exception {
    Message message = accepted(E1);
    write(retry(message, 1, after(84)));
    assertThat(detail(message).attempts())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(failure(message, 1));
    assertThat(detail(message).message().unfinished()).isEqualTo(waiting(message, 1, after(84)));
  }

  @Test
  void a_message_dropped_after_its_last_attempt_keeps_that_attempt() throws Exception {
    Message message = accepted(E1);
    write(retry(message, 1, after(84)));
    write(
        new Write.Drop(
            waiting(message, 1, after(84)), DropReason.EXHAUSTED, failure(message, 2), LATER));
    reopen();
    MessageDetail detail = detail(message);
    assertThat(detail.message().status()).isEqualTo(History.Status.DROPPED);
    assertThat(detail.message().reason()).isEqualTo(DropReason.EXHAUSTED);
    assertThat(detail.message().attempts()).isEqualTo(2);
    assertThat(detail.attempts())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(failure(message, 1), failure(message, 2));
  }

  @Test
  void a_message_dropped_without_an_attempt_keeps_those_it_had() throws Exception {
    Message message = accepted(E1);
    write(retry(message, 1, after(84)));
    write(new Write.Drop(parked(message, 1, LATER), DropReason.EXPIRED, null, LATER));
    MessageDetail detail = detail(message);
    assertThat(detail.message().reason()).isEqualTo(DropReason.EXPIRED);
    assertThat(detail.message().attempts()).isEqualTo(1);
    assertThat(detail.attempts()).hasSize(1);
  }

  @Test
  void one_batch_may_change_a_message_and_finish_it() throws Exception {
    Message message = accepted(E1);
    write(
        retry(message, 1, after(84)),
        new Write.Park(parked(message, 1, LATER)),
        deliver(parked(message, 1, LATER)));
    assertThat(store.unfinished(message.id())).isEmpty();
    assertThat(detail(message).attempts()).hasSize(2);
  }

  @Test
  void one_batch_may_accept_a_message_and_change_it() throws Exception {
    AcceptedEvent event = sample.pending(E1);
    Message message = event.messages().getFirst();
    write(accept(event), new Write.Park(parked(message, 0, LATER)));
    assertThat(store.unfinished(message.id())).contains(parked(message, 0, LATER));
  }

  @Test
  void a_message_keeps_its_version_whatever_becomes_of_it() throws Exception {
    AcceptedEvent event = sample.versions(E1, Version.V1, Version.V2, null);
    AcceptedEvent parkedOnes = sample.versions(E2, Version.V2, Version.V1, null);
    List<Message> parked =
        parkedOnes.messages().stream().map(message -> parked(message, 0, LATER)).toList();
    write(accept(event), accept(new AcceptedEvent(parkedOnes.event(), parked)));
    reopen();
    assertThat(store.pending(E1, 10)).isEqualTo(event.messages());
    assertThat(versions(event)).containsExactly(Version.V1, Version.V2, null);
    for (Message message : parked) {
      assertThat(store.unfinished(message.id())).contains(message);
    }
    for (Message message : event.messages()) {
      write(retry(message, 1, LATER));
    }
    reopen();
    assertThat(store.due(DueCursor.START, LATER, 10))
        .contains(waiting(event.messages().getFirst(), 1, LATER))
        .hasSize(6);
    assertThat(versions(event)).containsExactly(Version.V1, Version.V2, null);
    for (Message message : event.messages()) {
      write(deliver(waiting(message, 1, LATER)));
    }
    write(
        new Write.Drop(parked.get(0), DropReason.EXPIRED, null, NOW),
        new Write.Drop(parked.get(1), DropReason.EXHAUSTED, failure(parked.get(1), 1), NOW),
        new Write.Drop(parked.get(2), DropReason.EXPIRED, null, NOW));
    reopen();
    assertThat(versions(event)).containsExactly(Version.V1, Version.V2, null);
    assertThat(versions(parkedOnes)).containsExactly(Version.V2, Version.V1, null);
    assertThat(history.messages(all(10)).items())
        .extracting(MessageSummary::version)
        .containsExactly(null, Version.V1, Version.V2, null, Version.V2, Version.V1);
    Message first = event.messages().getFirst();
    assertThat(detail(first).message().status()).isEqualTo(History.Status.DELIVERED);
    assertThat(detail(first).message().version()).isEqualTo(Version.V1);
    assertThat(detail(first).attempts())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(failure(first, 1), success(first, 2));
    assertThat(detail(parked.get(1)).message().reason()).isEqualTo(DropReason.EXHAUSTED);
  }

  private List<@Nullable Version> versions(AcceptedEvent event) throws StoreException {
    List<@Nullable Version> versions = new ArrayList<>();
    for (MessageSummary message : history.event(TENANT, own(event)).orElseThrow().messages()) {
      versions.add(message.version());
    }
    return versions;
  }

  @Test
  void an_empty_batch_is_kept() throws Exception {
    assertThat(write().accepts()).isEmpty();
  }

  // What is refused

  @Test
  void a_batch_with_something_that_cannot_be_kept_is_refused_whole() throws Exception {
    Message known = accepted(E1);
    AcceptedEvent fresh = sample.pending(E1);
    assertRefused(batch(accept(fresh), deliver(known), deliver(known)));
    reopen();
    assertThat(store.unfinished(known.id())).contains(known);
    assertThat(store.events(List.of(fresh.event().id()))).isEmpty();
    assertThat(write(accept(fresh), deliver(known)).accepts()).hasSize(1);
  }

  @Test
  void a_finished_message_cannot_be_changed() throws Exception {
    Message message = accepted(E1);
    write(deliver(message));
    assertRefused(batch(retry(message, 1, after(84))));
    assertRefused(batch(new Write.Park(parked(message, 0, LATER))));
    assertRefused(batch(deliver(message)));
    assertThat(detail(message).attempts()).hasSize(1);
  }

  @Test
  void an_event_is_not_accepted_twice() throws Exception {
    AcceptedEvent event = sample.pending(E1);
    write(accept(event));
    assertRefused(batch(accept(event)));
  }

  @Test
  void messages_whose_ids_do_not_follow_their_event_are_refused() {
    AcceptedEvent one = sample.pending(E1);
    AcceptedEvent two = sample.pending(E1);
    assertRefused(batch(accept(new AcceptedEvent(one.event(), two.messages()))));
  }

  @Test
  void a_url_of_a_tenant_is_one_endpoint() throws Exception {
    subscribe(sample.endpoint("https://one.example/"));
    Endpoint again = sample.endpoint("https://one.example/");
    assertRefused(batch(new Write.Subscribe(sample.subscription(again, "a"), again)));
    assertThat(store.snapshot().subscriptions()).hasSize(1);
  }

  private void assertRefused(Batch batch) {
    assertThatThrownBy(() -> store.write(batch))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.REFUSED));
  }

  // The ids that callers give

  @Test
  void the_same_id_and_content_again_is_a_repeat_of_the_first() throws Exception {
    AcceptedEvent first = sample.pending(sample.event(TENANT, "id-1", "{}"), E1, E2);
    write(accept(first));
    reopen();
    AcceptedEvent again = sample.pending(sample.event(TENANT, "id-1", "{}"), E1);
    assertThat(write(accept(again)).accepts())
        .containsExactly(
            new AcceptResult.Kept(List.of(new Receipt(first.event().id(), "id-1", 2, true))));
    assertThat(store.pending(E1, 10)).hasSize(1);
    assertThat(store.events(List.of(again.event().id()))).isEmpty();
  }

  @Test
  void the_same_id_with_other_content_refuses_the_request_and_nothing_else() throws Exception {
    write(accept(sample.pending(sample.event(TENANT, "id-1", "{}"), E1)));
    AcceptedEvent beside = sample.pending(sample.event(TENANT, "id-2", "{}"), E2);
    AcceptedEvent other = sample.pending(sample.event(TENANT, "id-1", "{ }"), E2);
    AcceptedEvent independent = sample.pending(E2);
    assertThat(write(accept(beside, other), accept(independent)).accepts())
        .containsExactly(
            new AcceptResult.Conflict(1),
            new AcceptResult.Kept(
                List.of(
                    new Receipt(
                        independent.event().id(), independent.event().publicId(), 1, false))));
    assertThat(store.pending(E2, 10)).isEqualTo(independent.messages());
    assertThat(history.event(TENANT, new EventKey.Callers("id-2"))).isEmpty();
    AcceptedEvent free = sample.pending(sample.event(TENANT, "id-2", "other"), E2);
    assertThat(write(accept(free)).accepts().getFirst()).isInstanceOf(AcceptResult.Kept.class);
  }

  @Test
  void every_field_that_the_caller_gives_counts_as_content() throws Exception {
    Instant time = Instant.parse("2026-01-02T03:04:05.000000001Z");
    write(accept(new AcceptedEvent(content("a", "b", time, "c", "d"), List.of())));
    List<Event> others =
        List.of(
            content("x", "b", time, "c", "d"),
            content("a", "x", time, "c", "d"),
            content("a", null, time, "c", "d"),
            content("a", "b", time.plusNanos(1), "c", "d"),
            content("a", "b", null, "c", "d"),
            content("a", "b", time, "x", "d"),
            content("a", "b", time, "c", "x"),
            content("a", "b", time, "c", null),
            content("ab", "", time, "c", "d"),
            content("a", "b", time, "cd", ""));
    for (Event other : others) {
      assertThat(write(accept(new AcceptedEvent(other, List.of()))).accepts())
          .containsExactly(new AcceptResult.Conflict(0));
    }
    Event same = content("a", "b", time, "c", "d");
    assertThat(write(accept(new AcceptedEvent(same, List.of()))).accepts().getFirst())
        .isInstanceOf(AcceptResult.Kept.class);
  }

  private Event content(
      String type,
      @Nullable String subject,
      @Nullable Instant occurredAt,
      String data,
      @Nullable String previous) {
    return new Event(
        sample.id(),
        TENANT,
        type,
        subject,
        occurredAt,
        bytes(data),
        previous == null ? null : bytes(previous),
        "key",
        "trace-" + sample.id());
  }

  @Test
  void a_repeat_inside_one_request_returns_its_first_result() throws Exception {
    AcceptedEvent first = sample.pending(sample.event(TENANT, "id-1", "{}"), E1, E2);
    AcceptedEvent again = sample.pending(sample.event(TENANT, "id-1", "{}"));
    assertThat(write(accept(first, again)).accepts())
        .containsExactly(
            new AcceptResult.Kept(
                List.of(
                    new Receipt(first.event().id(), "id-1", 2, false),
                    new Receipt(first.event().id(), "id-1", 2, true))));
  }

  @Test
  void a_conflict_inside_one_request_refuses_it() throws Exception {
    AcceptedEvent first = sample.pending(sample.event(TENANT, "id-1", "{}"), E1);
    AcceptedEvent other = sample.pending(sample.event(TENANT, "id-1", "[]"), E1);
    assertThat(write(accept(first, other)).accepts()).containsExactly(new AcceptResult.Conflict(1));
    assertThat(store.pending(E1, 10)).isEmpty();
  }

  @Test
  void repeats_and_conflicts_inside_one_batch_are_found() throws Exception {
    AcceptedEvent refused = sample.pending(sample.event(TENANT, "id-1", "refused"), E1);
    AcceptedEvent clash = sample.pending(sample.event(TENANT, "id-1", "clash"), E1);
    AcceptedEvent first = sample.pending(sample.event(TENANT, "id-1", "{}"), E1);
    AcceptedEvent again = sample.pending(sample.event(TENANT, "id-1", "{}"), E1);
    AcceptedEvent other = sample.pending(sample.event(TENANT, "id-1", "[]"), E1);
    assertThat(write(accept(refused, clash), accept(first), accept(again), accept(other)).accepts())
        .containsExactly(
            new AcceptResult.Conflict(1),
            new AcceptResult.Kept(List.of(new Receipt(first.event().id(), "id-1", 1, false))),
            new AcceptResult.Kept(List.of(new Receipt(first.event().id(), "id-1", 1, true))),
            new AcceptResult.Conflict(0));
    assertThat(store.pending(E1, 10)).isEqualTo(first.messages());
  }

  @Test
  void the_ids_of_one_tenant_are_free_for_another() throws Exception {
    write(accept(sample.pending(sample.event("one", "id-1", "{}"), E1)));
    AcceptedEvent other = sample.pending(sample.event("two", "id-1", "[]"), E1);
    assertThat(write(accept(other)).accepts().getFirst()).isInstanceOf(AcceptResult.Kept.class);
    assertThat(history.event("two", new EventKey.Callers("id-1")).orElseThrow().event().id())
        .isEqualTo(other.event().id());
  }

  // Subscriptions and endpoints

  @Test
  void a_subscription_and_its_endpoint_are_there_after_reopening() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription subscription =
        new Subscription(
            sample.id(),
            TENANT,
            endpoint.id(),
            List.of(new TypePattern("order.*"), new TypePattern("*")),
            "order-1",
            NOW);
    write(new Write.Subscribe(subscription, endpoint));
    Subscription second = sample.subscription(endpoint, "a");
    write(new Write.Subscribe(second, null));
    reopen();
    Snapshot snapshot = store.snapshot();
    assertThat(snapshot.endpoints()).containsExactly(endpoint);
    assertThat(snapshot.subscriptions()).containsExactlyInAnyOrder(subscription, second);
    assertThat(snapshot.ended()).isEmpty();
    assertThat(snapshot.highestId()).isEqualTo(second.id());
  }

  @Test
  void a_subscription_keeps_its_version_and_when_it_was_changed() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription created =
        new Subscription(
            sample.id(),
            TENANT,
            endpoint.id(),
            new Interest(List.of(new TypePattern("TASK.UPDATE")), null, Filters.NONE),
            form(new Edition(Version.V1, null)),
            NOW);
    write(new Write.Subscribe(created, endpoint));
    reopen();
    assertThat(store.snapshot().subscriptions()).containsExactly(created);
    Subscription changed =
        created.with(created.interest(), form(new Edition(Version.V2, after(60))), after(60));
    write(new Write.Update(changed, null));
    reopen();
    assertThat(store.snapshot().subscriptions()).containsExactly(changed);
    Subscription changedBack =
        changed.with(changed.interest(), form(new Edition(Version.V1, after(70))), after(80));
    write(new Write.Import(List.of(), List.of(new Write.Update(changedBack, null))));
    write(new Write.Unsubscribe(changedBack, after(90)));
    reopen();
    assertThat(store.snapshot().ended()).containsExactly(changedBack);
  }

  private static Form form(Edition edition) {
    return new Form(Format.WORKFRONT, edition, false, "token", new TreeMap<>(), List.of());
  }

  @Test
  void a_change_within_the_same_microsecond_is_kept_as_no_change() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription created =
        new Subscription(
            sample.id(),
            TENANT,
            endpoint.id(),
            List.of(new TypePattern("a")),
            null,
            NOW.plusNanos(1));
    Subscription changed = created.with(created.interest(), created.form(), NOW.plusNanos(999));
    write(new Write.Subscribe(changed, endpoint));
    reopen();
    Subscription kept = store.snapshot().subscriptions().getFirst();
    assertThat(kept.createdAt()).isEqualTo(NOW);
    assertThat(kept.changedAt()).isEqualTo(NOW);
  }

  @Test
  void an_ended_subscription_stays_until_it_is_forgotten() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription subscription = sample.subscription(endpoint, "a");
    write(new Write.Subscribe(subscription, endpoint));
    write(new Write.Unsubscribe(subscription, after(1)));
    reopen();
    assertThat(store.snapshot().subscriptions()).isEmpty();
    assertThat(store.snapshot().ended()).containsExactly(subscription);
    write(new Write.Forget(subscription.id()));
    reopen();
    assertThat(store.snapshot().ended()).isEmpty();
    assertThat(store.snapshot().endpoints()).containsExactly(endpoint);
  }

  @Test
  void a_subscription_may_come_and_go_within_a_batch() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    Subscription subscription = sample.subscription(endpoint, "a");
    write(
        new Write.Subscribe(subscription, endpoint),
        new Write.Unsubscribe(subscription, after(1)),
        new Write.Forget(subscription.id()));
    assertThat(store.snapshot().subscriptions()).isEmpty();
    assertThat(store.snapshot().ended()).isEmpty();
  }

  @Test
  void the_health_that_comes_with_a_batch_is_kept_whole() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    subscribe(endpoint);
    Endpoint changed =
        endpoint.with(
            new Health(
                Health.State.DISABLED,
                after(10),
                Health.Reason.FAILURE_RATE,
                endpoint.health().createdAt(),
                1L << 40,
                1L << 41,
                new Bucket(500, 400),
                new Bucket(20, 19),
                1_999,
                after(5),
                after(600)));
    store.write(new Batch(List.of(), List.of(changed)));
    reopen();
    assertThat(store.snapshot().endpoints()).containsExactly(changed);
  }

  @Test
  void what_was_set_of_an_endpoint_and_that_it_is_gone_is_kept() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    subscribe(endpoint);
    Endpoint changed =
        endpoint
            .withRateLimit(new RateLimit(0.3))
            .withTls(new EndpointTls("certificate", "key", null))
            .withGoneAt(after(7));
    store.write(new Batch(List.of(new Write.Configure(endpoint.id())), List.of(changed)));
    Endpoint made =
        sample
            .endpoint("https://two.example/")
            .withRateLimit(new RateLimit(10_000))
            .withTls(new EndpointTls(null, null, "roots"));
    subscribe(made);
    reopen();
    assertThat(store.snapshot().endpoints()).containsExactlyInAnyOrder(changed, made);
    store.write(new Batch(List.of(new Write.Configure(endpoint.id())), List.of(endpoint)));
    assertThat(store.snapshot().endpoints()).containsExactlyInAnyOrder(endpoint, made);
  }

  @Test
  void what_is_kept_of_each_tenants_events_is_counted_without_repeats() throws Exception {
    AcceptedEvent first = sample.pending(E1);
    AcceptedEvent second = sample.pending(E1);
    write(new Write.Accept(List.of(first)), new Write.Accept(List.of(second)));
    reopen();
    Stored both = new Stored(2, first.event().size() + second.event().size());
    assertThat(store.snapshot().stored()).isEqualTo(Map.of(TENANT, both));
  }

  @Test
  void changes_of_state_are_kept_and_read_newest_first() throws Exception {
    Endpoint endpoint = sample.endpoint("https://one.example/");
    subscribe(endpoint);
    subscribe(sample.endpoint("https://two.example/"));
    List<Endpoint> states = new ArrayList<>();
    for (Health.State state : Health.State.values()) {
      for (Health.Reason reason : Health.Reason.values()) {
        Endpoint changed =
            endpoint.with(
                new Health(
                    state,
                    after(states.size()),
                    reason,
                    NOW,
                    0,
                    0,
                    Bucket.EMPTY,
                    Bucket.EMPTY,
                    0,
                    null,
                    null));
        states.add(changed);
        write(new Write.ChangeState(changed));
      }
    }
    reopen();
    assertThat(history.changes(endpoint.id(), 3))
        .containsExactlyElementsOf(
            states.reversed().subList(0, 3).stream()
                .map(Endpoint::health)
                .map(health -> new History.Change(health.since(), health.state(), health.reason()))
                .toList());
    assertThat(history.changes(endpoint.id(), 100)).hasSize(states.size());
    assertThat(store.snapshot().endpoints()).contains(states.getLast());
  }

  @Test
  void the_snapshot_counts_the_unfinished_messages_of_each_endpoint() throws Exception {
    accepted(E1);
    accepted(E1);
    acceptedThenWaiting(E1, 1, LATER);
    acceptedThenParked(E1, 0);
    acceptedThenParked(E2, 0);
    write(deliver(accepted(E2)));
    reopen();
    assertThat(store.snapshot().unfinished())
        .containsOnlyKeys(E1, E2)
        .containsEntry(E1, new Snapshot.Unfinished(2, 1, 1, 0))
        .containsEntry(E2, new Snapshot.Unfinished(0, 0, 1, 0));
  }

  @Test
  void the_highest_id_is_known_wherever_it_was_used() throws Exception {
    AcceptedEvent event = sample.pending(E1, E2);
    write(accept(event));
    assertThat(store.snapshot().highestId()).isEqualTo(event.messages().getLast().id());
    write(deliver(event.messages().getLast()));
    assertThat(store.snapshot().highestId()).isEqualTo(event.messages().getLast().id());
    AcceptedEvent lonely = sample.pending();
    write(accept(lonely));
    assertThat(store.snapshot().highestId()).isEqualTo(lonely.event().id());
  }

  // What the path reads

  @Test
  void due_messages_come_in_the_order_of_due_and_id() throws Exception {
    Message late = acceptedThenWaiting(E1, 1, after(30));
    Message first = acceptedThenWaiting(E2, 2, after(10));
    Message second = acceptedThenWaiting(E1, 1, after(10));
    Message parked = acceptedThenParked(E1, 0);
    accepted(E1);
    assertThat(store.due(DueCursor.START, LATER, 10)).containsExactly(first, second, late, parked);
    assertThat(store.due(DueCursor.START, after(10), 10)).containsExactly(first, second);
    assertThat(store.due(DueCursor.START, after(9), 10)).isEmpty();
    assertThat(store.due(DueCursor.START, LATER, 1)).containsExactly(first);
  }

  @Test
  void due_messages_are_read_on_from_a_cursor_even_among_equal_times() throws Exception {
    List<Message> all = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      all.add(acceptedThenWaiting(E1, 1, after(10)));
    }
    all.add(acceptedThenWaiting(E1, 1, after(11)));
    List<Message> read = new ArrayList<>();
    DueCursor cursor = DueCursor.START;
    while (true) {
      List<Message> page = store.due(cursor, LATER, 2);
      if (page.isEmpty()) {
        break;
      }
      read.addAll(page);
      Message last = page.getLast();
      cursor = new DueCursor(after(last.id() == all.getLast().id() ? 11 : 10), last.id());
    }
    assertThat(read).isEqualTo(all);
    assertThat(store.due(new DueCursor(after(10), all.get(6).id()), after(10), 10)).isEmpty();
  }

  @Test
  void pending_messages_come_in_the_order_of_acceptance() throws Exception {
    Message one = accepted(E1);
    accepted(E2);
    Message two = accepted(E1);
    acceptedThenWaiting(E1, 1, NOW);
    Message three = accepted(E1);
    assertThat(store.pending(E1, 10)).containsExactly(one, two, three);
    assertThat(store.pending(E1, 2)).containsExactly(one, two);
  }

  @Test
  void a_backlog_has_parked_and_eligible_waiting_messages_by_attempts_and_age() throws Exception {
    Message parkedTwice = acceptedThenParked(E1, 2);
    Message slotHasCome = acceptedThenWaiting(E1, 1, NOW);
    Message slotAhead = acceptedThenWaiting(E1, 1, after(1));
    Message parkedNever = acceptedThenParked(E1, 0);
    Message parkedOnce = acceptedThenParked(E1, 1);
    accepted(E1);
    acceptedThenParked(E2, 0);
    assertThat(backlog(Instant.EPOCH, BacklogCursor.START))
        .containsExactly(parkedNever, slotHasCome, parkedOnce, parkedTwice);
    assertThat(backlog(NOW.plusMillis(2), BacklogCursor.START))
        .containsExactly(parkedNever, slotHasCome, slotAhead, parkedOnce, parkedTwice);
    assertThat(backlog(NOW.plusMillis(1), BacklogCursor.START)).doesNotContain(slotAhead);
    assertThat(backlog(NOW.plusMillis(2), new BacklogCursor(1, slotHasCome.id())))
        .containsExactly(slotAhead, parkedOnce, parkedTwice);
    Backlog part = store.backlog(E1, Instant.EPOCH, BacklogCursor.START, NOW, 2);
    assertThat(part.messages()).containsExactly(parkedNever, slotHasCome);
    assertThat(part.next()).isNotNull();
    Backlog rest = store.backlog(E1, Instant.EPOCH, requireNonNull(part.next()), NOW, 3);
    assertThat(rest.messages()).containsExactly(parkedOnce, parkedTwice);
    assertThat(rest.next()).isNull();
  }

  @Test
  void a_backlog_leaves_waiting_messages_alone_whose_endpoint_asked_for_it() throws Exception {
    Message message = accepted(E1);
    Message waiting = with(message, Status.WAITING, 1, NOW, after(60));
    write(new Write.Retry(waiting, failure(message, 1)));
    assertThat(backlog(LATER, BacklogCursor.START)).isEmpty();
    assertThat(store.backlog(E1, LATER, BacklogCursor.START, after(60), 10).messages())
        .containsExactly(waiting);
  }

  private List<Message> backlog(Instant triedBefore, BacklogCursor cursor) throws StoreException {
    return store.backlog(E1, triedBefore, cursor, NOW, 10).messages();
  }

  @Test
  void the_probe_is_the_parked_message_with_the_fewest_attempts_then_the_oldest() throws Exception {
    acceptedThenWaiting(E1, 1, LATER);
    accepted(E1);
    acceptedThenParked(E1, 2);
    Message chosen = acceptedThenParked(E1, 1);
    acceptedThenParked(E1, 1);
    assertThat(store.probe(E1, NOW)).contains(chosen);
  }

  @Test
  void without_parked_ones_the_probe_is_the_waiting_message_with_the_fewest_attempts()
      throws Exception {
    accepted(E1);
    acceptedThenWaiting(E1, 2, NOW);
    Message chosen = acceptedThenWaiting(E1, 1, LATER);
    acceptedThenWaiting(E1, 1, NOW);
    assertThat(store.probe(E1, NOW)).contains(chosen);
  }

  @Test
  void a_message_whose_endpoint_asked_to_be_left_alone_is_no_probe() throws Exception {
    Message message = accepted(E1);
    Message parked = with(message, Status.PARKED, 1, LATER, after(60));
    write(new Write.Park(parked));
    assertThat(store.probe(E1, after(59))).isEmpty();
    assertThat(store.probe(E1, after(60))).contains(parked);
  }

  @Test
  void the_unfinished_messages_of_a_subscription_are_found() throws Exception {
    Message pending = accepted(E1);
    Message waiting = acceptedThenWaiting(E1, 1, NOW);
    Message parked = acceptedThenParked(E1, 1);
    accepted(E2);
    write(deliver(accepted(E1)));
    long subscription = pending.subscription();
    assertThat(store.ofSubscription(E1, subscription, Which.ALL, 10))
        .containsExactlyInAnyOrder(pending, waiting, parked);
    assertThat(store.ofSubscription(E1, subscription, Which.ALL, 2)).hasSize(2);
    assertThat(store.ofSubscription(E1, subscription + 1, Which.ALL, 10)).isEmpty();
  }

  // What people read

  private static Query all(int limit) {
    return query(TENANT, Set.of(), null, null, null, null, null, Long.MAX_VALUE, limit);
  }

  private static Query query(
      String tenant,
      Set<History.Status> statuses,
      @Nullable Long endpoint,
      @Nullable Long subscription,
      @Nullable EventKey event,
      @Nullable Instant since,
      @Nullable Instant until,
      long before,
      int limit) {
    return new Query(tenant, statuses, endpoint, subscription, event, since, until, before, limit);
  }

  private static EventKey own(AcceptedEvent event) {
    return new EventKey.Own(event.event().id());
  }

  private MessageDetail detail(Message message) throws StoreException {
    return history.message(TENANT, message.id()).orElseThrow();
  }

  private List<Long> found(Query query) throws StoreException {
    return history.messages(query).items().stream().map(MessageSummary::id).toList();
  }

  @Test
  void messages_are_listed_newest_first_whatever_became_of_them() throws Exception {
    Message delivered = accepted(E1);
    Message waiting = acceptedThenWaiting(E1, 1, LATER);
    Message dropped = accepted(E1);
    Message pending = accepted(E1);
    Message parked = acceptedThenParked(E1, 0);
    write(deliver(delivered), new Write.Drop(dropped, DropReason.UNSUBSCRIBED, null, NOW));
    List<MessageSummary> items = history.messages(all(10)).items();
    assertThat(items)
        .extracting(MessageSummary::id)
        .containsExactly(parked.id(), pending.id(), dropped.id(), waiting.id(), delivered.id());
    assertThat(items)
        .extracting(MessageSummary::status)
        .containsExactly(
            History.Status.PARKED,
            History.Status.PENDING,
            History.Status.DROPPED,
            History.Status.WAITING,
            History.Status.DELIVERED);
    assertThat(items.get(3))
        .isEqualTo(
            new MessageSummary(
                waiting.id(),
                Id.text(Id.EVENT, waiting.event()),
                waiting.subscription(),
                E1,
                "order.paid",
                "order-1",
                History.Status.WAITING,
                null,
                1,
                waiting,
                null));
  }

  @Test
  void a_list_is_read_page_by_page() throws Exception {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Message message = accepted(E1);
      ids.addFirst(message.id());
      if (i % 2 == 0) {
        write(deliver(message));
      }
    }
    List<Long> read = new ArrayList<>();
    Long before = Long.MAX_VALUE;
    while (before != null) {
      History.Page page =
          history.messages(query(TENANT, Set.of(), null, null, null, null, null, before, 2));
      page.items().forEach(item -> read.add(item.id()));
      before = page.next();
    }
    assertThat(read).isEqualTo(ids);
    assertThat(history.messages(all(5)).next()).isNull();
  }

  @Test
  void a_list_can_be_narrowed() throws Exception {
    AcceptedEvent event = sample.pending(sample.event(TENANT, "id-1", "{}"), E1, E2);
    write(accept(event));
    Message first = event.messages().get(0);
    Message second = event.messages().get(1);
    Message other = accepted(E2);
    write(deliver(second));
    assertThat(found(query(TENANT, Set.of(), E2, null, null, null, null, Long.MAX_VALUE, 9)))
        .containsExactly(other.id(), second.id());
    assertThat(
            found(
                query(
                    TENANT,
                    Set.of(),
                    null,
                    first.subscription(),
                    null,
                    null,
                    null,
                    Long.MAX_VALUE,
                    9)))
        .containsExactly(first.id());
    for (EventKey key : List.of(own(event), new EventKey.Callers("id-1"))) {
      assertThat(found(query(TENANT, Set.of(), null, null, key, null, null, Long.MAX_VALUE, 9)))
          .containsExactly(second.id(), first.id());
    }
    assertThat(
            found(
                query(
                    TENANT,
                    Set.of(History.Status.DELIVERED, History.Status.WAITING),
                    null,
                    null,
                    null,
                    null,
                    null,
                    Long.MAX_VALUE,
                    9)))
        .containsExactly(second.id());
    assertThat(
            found(
                query(
                    TENANT,
                    Set.of(),
                    null,
                    null,
                    new EventKey.Own(5),
                    null,
                    null,
                    Long.MAX_VALUE,
                    9)))
        .isEmpty();
  }

  @Test
  void since_is_inclusive_and_until_exclusive() throws Exception {
    Message message = accepted(E1);
    Instant createdAt = message.createdAt();
    assertThat(between(createdAt, createdAt.plusMillis(1))).containsExactly(message.id());
    assertThat(between(createdAt.plusNanos(1), createdAt.plusSeconds(9))).isEmpty();
    assertThat(between(createdAt.minusSeconds(9), createdAt)).isEmpty();
    assertThat(between(createdAt.minusSeconds(9), createdAt.plusNanos(1)))
        .containsExactly(message.id());
  }

  private List<Long> between(Instant since, Instant until) throws StoreException {
    return found(query(TENANT, Set.of(), null, null, null, since, until, Long.MAX_VALUE, 9));
  }

  @Test
  void an_event_is_found_by_either_id_with_its_messages() throws Exception {
    AcceptedEvent event = sample.pending(sample.event(TENANT, "id-1", "{}"), E1, E2, E1);
    write(accept(event));
    write(deliver(event.messages().get(1)));
    for (EventKey key : List.of(own(event), new EventKey.Callers("id-1"))) {
      History.EventDetail detail = history.event(TENANT, key).orElseThrow();
      assertThat(detail.event()).usingRecursiveComparison().isEqualTo(event.event());
      assertThat(detail.messages())
          .extracting(MessageSummary::id)
          .containsExactlyElementsOf(event.messages().stream().map(Message::id).toList());
      assertThat(detail.messages()).extracting(MessageSummary::event).containsOnly("id-1");
      assertThat(detail.messages())
          .extracting(MessageSummary::status)
          .containsExactly(
              History.Status.PENDING, History.Status.DELIVERED, History.Status.PENDING);
    }
  }

  @Test
  void nothing_crosses_tenants() throws Exception {
    AcceptedEvent event = sample.pending(sample.event("one", "id-1", "{}"), E1, E1);
    write(accept(event));
    write(deliver(event.messages().getFirst()));
    assertThat(found(query("two", Set.of(), null, null, null, null, null, Long.MAX_VALUE, 9)))
        .isEmpty();
    assertThat(found(query("two", Set.of(), E1, null, own(event), null, null, Long.MAX_VALUE, 9)))
        .isEmpty();
    for (Message message : event.messages()) {
      assertThat(history.message("two", message.id())).isEmpty();
      assertThat(history.message("one", message.id())).isPresent();
    }
    assertThat(history.event("two", own(event))).isEmpty();
    assertThat(history.event("two", new EventKey.Callers("id-1"))).isEmpty();
  }

  @Test
  void what_is_unknown_is_not_found() throws Exception {
    assertThat(store.unfinished(5)).isEmpty();
    assertThat(history.message(TENANT, 5)).isEmpty();
    assertThat(history.event(TENANT, new EventKey.Own(5))).isEmpty();
    assertThat(history.event(TENANT, new EventKey.Callers("no"))).isEmpty();
    assertThat(history.changes(5, 9)).isEmpty();
  }
}
