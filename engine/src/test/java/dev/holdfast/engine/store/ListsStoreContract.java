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
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.DropReason;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.History.About;
import dev.holdfast.core.port.History.AttemptMark;
import dev.holdfast.core.port.History.AttemptPage;
import dev.holdfast.core.port.History.AttemptPosition;
import dev.holdfast.core.port.History.AttemptQuery;
import dev.holdfast.core.port.History.EventKey;
import dev.holdfast.core.port.History.EventPage;
import dev.holdfast.core.port.History.EventQuery;
import dev.holdfast.core.port.History.EventSummary;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Page;
import dev.holdfast.core.port.History.Query;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.port.Write;
import dev.holdfast.core.port.Write.AcceptedEvent;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What lists of events and of attempts need of every store. */
abstract class ListsStoreContract {
  private static final long E1 = 1_000_001;
  private static final long E2 = 2_000_001;

  private static final Instant HOUR_BEFORE = NOW.minusSeconds(3_600);

  private final Sample sample = new Sample();

  private @Nullable Database opened;

  /** Opens the store that holds what was written before in this test. */
  abstract Database openStore(StoreLimits limits) throws Exception;

  /** What is damaged in the store, which is closed. */
  abstract List<String> problems() throws Exception;

  private Database store() throws Exception {
    return store(1_000);
  }

  /** The store, a read of which looks at so many rows. */
  private Database store(int rows) throws Exception {
    close();
    Database store =
        openStore(
            new StoreLimits(
                20, Duration.ofSeconds(5), 1, rows, Duration.ofMillis(5), 1 << 20, 1 << 30));
    opened = store;
    return store;
  }

  private void close() {
    if (opened != null) {
      opened.close();
      opened = null;
    }
  }

  @AfterEach
  void nothingIsDamaged() throws Exception {
    close();
    assertThat(problems()).isEmpty();
  }

  private Event event(String tenant, String type, @Nullable String subject) {
    return new Event(
        sample.id(),
        tenant,
        type,
        subject,
        NOW.minusSeconds(5),
        bytes("{}"),
        bytes("[1]"),
        null,
        null);
  }

  private static EventQuery events(About about, long before, int limit) {
    return new EventQuery(TENANT, about, null, null, before, limit);
  }

  private static About type(String pattern) {
    return new About(new TypePattern(pattern), null);
  }

  private static List<Long> allEvents(Database store, About about, int limit) throws Exception {
    List<Long> found = new ArrayList<>();
    Long before = Long.MAX_VALUE;
    for (int pages = 0; before != null; pages++) {
      assertThat(pages).as("it never ends: " + found).isLessThan(200);
      EventPage page = store.events(events(about, before, limit));
      assertThat(page.items()).hasSizeLessThanOrEqualTo(limit);
      page.items().forEach(item -> found.add(item.id()));
      before = page.next();
    }
    return found;
  }

  @Test
  void a_store_without_events_lists_none() throws Exception {
    assertThat(store().events(events(About.ANYTHING, Long.MAX_VALUE, 10)))
        .isEqualTo(new EventPage(List.of(), null));
  }

  @Test
  void an_event_is_listed_with_what_became_of_its_messages() throws Exception {
    Database store = store();
    Event event =
        new Event(
            sample.id(),
            TENANT,
            "order.paid",
            "s",
            NOW,
            bytes("{\"n\":1}"),
            bytes("[]"),
            "mine",
            null);
    AcceptedEvent accepted = sample.pending(event, E1, E1, E1, E1, E2, E2);
    List<Message> messages = accepted.messages();
    store.write(batch(accept(accepted)));
    store.write(
        batch(
            deliver(messages.get(1)),
            retry(messages.get(2), 1, after(60)),
            new Write.Park(parked(messages.get(3), 0, after(60))),
            new Write.Drop(messages.get(4), DropReason.EXPIRED, null, NOW),
            deliver(messages.get(5))));
    EventSummary expected =
        new EventSummary(
            event.id(),
            "mine",
            "order.paid",
            "s",
            NOW,
            9,
            Map.of(
                Status.PENDING, 1,
                Status.WAITING, 1,
                Status.PARKED, 1,
                Status.DELIVERED, 2,
                Status.DROPPED, 1));
    assertThat(store.events(events(About.ANYTHING, Long.MAX_VALUE, 10)).items())
        .containsExactly(expected);
  }

  @Test
  void messages_that_replays_have_made_are_counted() throws Exception {
    Database store = store();
    AcceptedEvent accepted = sample.pending(E1);
    Message original = accepted.messages().getFirst();
    store.write(batch(accept(accepted), deliver(original)));
    Replay replay =
        Replay.of(
                sample.id(),
                TENANT,
                new Selection(E1, null, Set.of(Replay.Ending.DELIVERED), null, null, false))
            .counted(2);
    RetrySchedule schedule = new RetrySchedule(Duration.ofSeconds(1), 3);
    List<Write.Remade> made = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Message message = Message.pending(sample.id(), original.event(), E1 + 1, E1, original.size());
      made.add(new Write.Remade(schedule.replayed(message, NOW), original.id()));
    }
    store.write(batch(new Write.Progress(null, replay.after(2, 0, original.id()), made)));
    store.write(batch(deliver(made.getFirst().message())));
    assertThat(store.events(events(About.ANYTHING, Long.MAX_VALUE, 10)).items())
        .extracting(EventSummary::messages)
        .containsExactly(Map.of(Status.DELIVERED, 2, Status.WAITING, 1));
  }

  @Test
  void events_are_listed_newest_first_whatever_the_pages_and_the_rows_looked_at() throws Exception {
    Database store = store();
    List<Long> all = new ArrayList<>();
    List<Long> paid = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      Event event =
          event(i % 3 == 0 ? "other" : TENANT, i % 4 == 0 ? "order.paid" : "order.sent", null);
      store.write(
          batch(accept(i % 5 == 0 ? sample.pending(event, E1, E2) : sample.pending(event))));
      if (i % 3 != 0) {
        all.addFirst(event.id());
        if (i % 4 == 0) {
          paid.addFirst(event.id());
        }
      }
    }
    for (int rows : List.of(1_000, 7)) {
      Database limited = store(rows);
      for (int limit : List.of(1, 3, 100)) {
        assertThat(allEvents(limited, About.ANYTHING, limit)).isEqualTo(all);
        assertThat(allEvents(limited, type("order.paid"), limit)).isEqualTo(paid);
        assertThat(allEvents(limited, type("*.paid"), limit)).isEqualTo(paid);
      }
    }
  }

  @Test
  void an_event_with_more_messages_than_a_read_looks_at_is_listed_alone() throws Exception {
    Database store = store();
    AcceptedEvent small = sample.pending(E1);
    AcceptedEvent large =
        sample.pending(sample.event(), E1, E1, E1, E1, E1, E1, E1, E1, E1, E1, E1, E1);
    AcceptedEvent newest = sample.pending(E1);
    store.write(batch(accept(small), accept(large), accept(newest)));
    Database limited = store(10);
    assertThat(allEvents(limited, About.ANYTHING, 10))
        .containsExactly(newest.event().id(), large.event().id(), small.event().id());
    EventPage second = limited.events(events(About.ANYTHING, newest.event().id(), 10));
    assertThat(second.items()).hasSize(1);
    assertThat(second.items().getFirst().messages().get(Status.PENDING)).isBetween(9, 10);
  }

  @Test
  void the_messages_of_an_event_are_all_counted_whatever_was_looked_at_before() throws Exception {
    Database store = store();
    AcceptedEvent wanted = sample.pending(sample.event(), E1, E1, E1, E1, E1, E1);
    Message first = wanted.messages().getFirst();
    store.write(batch(accept(wanted), deliver(first)));
    Replay replay =
        Replay.of(
                sample.id(),
                TENANT,
                new Selection(E1, null, Set.of(Replay.Ending.DELIVERED), null, null, false))
            .counted(2);
    Message again = Message.pending(sample.id(), first.event(), E1 + 1, E1, first.size());
    Write.Remade remade =
        new Write.Remade(
            new RetrySchedule(Duration.ofSeconds(1), 3).replayed(again, NOW), first.id());
    store.write(batch(new Write.Progress(null, replay.after(1, 0, first.id()), List.of(remade))));
    for (int newer = 0; newer < 12; newer++) {
      Database limited = store(10);
      List<EventSummary> found = new ArrayList<>();
      Long before = Long.MAX_VALUE;
      while (before != null) {
        EventPage page = limited.events(events(About.ANYTHING, before, 10));
        found.addAll(page.items());
        before = page.next();
      }
      assertThat(found).hasSize(1 + newer / 2);
      assertThat(found.getLast().messages())
          .as("after " + newer)
          .isEqualTo(Map.of(Status.PENDING, 5, Status.DELIVERED, 1, Status.WAITING, 1));
      limited.write(
          batch(
              accept(
                  new AcceptedEvent(
                      event(newer % 2 == 0 ? "other" : TENANT, "t", null), List.of()))));
    }
  }

  @Test
  void events_are_found_by_type_pattern_subject_and_time() throws Exception {
    Database store = store();
    Event paid = event(TENANT, "order.paid", "o-1");
    Event sent = event(TENANT, "order_sent", "o-2");
    Event odd = event(TENANT, "100%\\x", null);
    Event operational = event(TENANT, "endpoint.disabled", null);
    for (Event event : List.of(paid, sent, odd, operational)) {
      store.write(batch(accept(new AcceptedEvent(event, List.of()))));
    }
    assertThat(allEvents(store, type("order*"), 10)).containsExactly(sent.id(), paid.id());
    assertThat(allEvents(store, type("order_*"), 10)).containsExactly(sent.id());
    assertThat(allEvents(store, type("order.paid"), 10)).containsExactly(paid.id());
    assertThat(allEvents(store, type("100%\\*"), 10)).containsExactly(odd.id());
    assertThat(allEvents(store, type("1%*"), 10)).isEmpty();
    assertThat(allEvents(store, type("*"), 10)).containsExactly(odd.id(), sent.id(), paid.id());
    assertThat(allEvents(store, type("endpoint.*"), 10)).containsExactly(operational.id());
    assertThat(allEvents(store, new About(null, "o-2"), 10)).containsExactly(sent.id());
    assertThat(allEvents(store, new About(new TypePattern("order*"), "o-1"), 10))
        .containsExactly(paid.id());
    assertThat(allEvents(store, new About(null, "a\u0000b"), 10)).isEmpty();
    assertThat(allEvents(store, type("a\u0000*"), 10)).isEmpty();
    Instant at = paid.acceptedAt();
    assertThat(
            store
                .events(
                    new EventQuery(
                        TENANT, About.ANYTHING, at, at.plusMillis(1), Long.MAX_VALUE, 10))
                .items())
        .isNotEmpty();
    assertThat(
            store
                .events(
                    new EventQuery(
                        TENANT, About.ANYTHING, at.plusSeconds(1), null, Long.MAX_VALUE, 10))
                .items())
        .isEmpty();
    assertThat(
            store
                .events(new EventQuery(TENANT, About.ANYTHING, null, at, Long.MAX_VALUE, 10))
                .items())
        .isEmpty();
  }

  @Test
  void an_event_is_read_without_its_messages() throws Exception {
    Database store = store();
    Event mine = sample.event(TENANT, "mine", "{\"a\":1}");
    store.write(batch(accept(sample.pending(mine, E1))));
    for (EventKey key : List.of(new EventKey.Own(mine.id()), new EventKey.Callers("mine"))) {
      assertThat(store.eventAlone(TENANT, key).orElseThrow())
          .usingRecursiveComparison()
          .isEqualTo(mine);
      assertThat(store.eventAlone("other", key)).isEmpty();
    }
  }

  @Test
  void messages_are_found_by_what_their_events_are_about() throws Exception {
    Database store = store();
    List<Long> paid = new ArrayList<>();
    List<Long> second = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      AcceptedEvent event =
          sample.pending(
              event(
                  i % 6 == 1 ? "other" : TENANT,
                  i % 2 == 0 ? "order.paid" : "order.sent",
                  "s" + i % 4),
              i % 3 == 0 ? E2 : E1);
      Message message = event.messages().getFirst();
      store.write(batch(accept(event)));
      if (i % 8 == 0) {
        store.write(batch(retry(message, 1, after(60))));
      } else if (i % 3 != 1) {
        store.write(batch(deliver(message)));
      }
      if (i % 6 != 1 && i % 2 == 0) {
        paid.addFirst(message.id());
        if (i % 4 == 2) {
          second.addFirst(message.id());
        }
      }
    }
    for (int rows : List.of(1_000, 8)) {
      Database limited = store(rows);
      for (int limit : List.of(1, 5, 100)) {
        assertThat(allMessages(limited, type("order.paid"), null, limit)).isEqualTo(paid);
        assertThat(allMessages(limited, type("*paid"), null, limit)).isEqualTo(paid);
        assertThat(allMessages(limited, new About(new TypePattern("order.*"), "s2"), null, limit))
            .isEqualTo(second);
        assertThat(allMessages(limited, type("order.paid"), E1, limit)).isSubsetOf(paid).hasSize(8);
        assertThat(allMessages(limited, type("nothing"), null, limit)).isEmpty();
      }
    }
  }

  private static List<Long> allMessages(
      Database store, About about, @Nullable Long endpoint, int limit) throws Exception {
    List<Long> found = new ArrayList<>();
    Long before = Long.MAX_VALUE;
    for (int pages = 0; before != null; pages++) {
      assertThat(pages).as("it never ends: " + found).isLessThan(200);
      Page page =
          store.messages(
              new Query(TENANT, Set.of(), endpoint, null, null, null, null, before, limit, about));
      page.items().stream().map(MessageSummary::id).forEach(found::add);
      before = page.next();
    }
    return found;
  }

  private static AttemptQuery attempts(AttemptPosition before, int limit) {
    return new AttemptQuery(TENANT, E1, null, null, null, before, limit);
  }

  private static List<Attempt> allAttempts(Database store, int limit) throws Exception {
    List<Attempt> found = new ArrayList<>();
    AttemptPosition before = AttemptPosition.START;
    for (int pages = 0; before != null; pages++) {
      assertThat(pages).as("it never ends: " + found).isLessThan(300);
      AttemptPage page = store.attempts(attempts(before, limit));
      assertThat(page.items()).hasSizeLessThanOrEqualTo(limit);
      assertThat(page.items()).isSortedAccordingTo(Comparator.comparing(Attempt::at).reversed());
      found.addAll(page.items());
      before = page.next();
    }
    return found;
  }

  /** Messages that were tried, of which some are finished; gives the attempts to the first one. */
  private List<Attempt> tried(Database store) throws Exception {
    List<Attempt> expected = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      long endpoint = i % 3 == 0 ? E2 : E1;
      Message message = sample.pending(endpoint).messages().getFirst();
      AcceptedEvent event =
          new AcceptedEvent(
              new Event(message.event(), TENANT, "t", null, null, bytes("{}"), null, null, null),
              List.of(message));
      store.write(batch(accept(event)));
      List<Attempt> made = new ArrayList<>();
      for (int number = 1; number <= i % 5; number++) {
        made.add(failure(message, number));
        store.write(batch(retry(message, number, after(60))));
      }
      Message now = made.isEmpty() ? message : waiting(message, made.size(), after(60));
      switch (i % 4) {
        case 0 -> {
          made.add(success(message, made.size() + 1));
          store.write(batch(new Write.Deliver(now, made.getLast(), NOW)));
        }
        case 1 -> store.write(batch(new Write.Drop(now, DropReason.EXPIRED, null, NOW)));
        case 2 -> store.write(batch(new Write.Park(parked(now, made.size(), after(60)))));
        default -> {}
      }
      if (endpoint == E1) {
        expected.addAll(made);
      }
    }
    return expected;
  }

  @Test
  void attempts_of_an_endpoint_are_all_listed_once_whatever_the_pages() throws Exception {
    List<Attempt> expected = tried(store());
    for (int rows : List.of(1_000, 60, 12)) {
      Database limited = store(rows);
      for (int limit : List.of(1, 2, 7, 100)) {
        assertThat(allAttempts(limited, limit))
            .usingRecursiveFieldByFieldElementComparator()
            .containsExactlyInAnyOrderElementsOf(expected);
      }
    }
  }

  @Test
  void a_page_of_attempts_has_the_newest_first_and_times_narrow_it() throws Exception {
    Database store = store();
    Message first = message(store);
    Message second = message(store);
    store.write(batch(retry(first, 1, after(60))));
    store.write(batch(deliver(second)));
    store.write(batch(new Write.Deliver(waiting(first, 1, after(60)), success(first, 2), NOW)));
    assertThat(store.attempts(attempts(AttemptPosition.START, 10)).items())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(success(first, 2), success(second, 1), failure(first, 1));
    Instant middle = NOW.plusMillis(2);
    assertThat(narrowed(store, middle, null)).containsExactly(2);
    assertThat(narrowed(store, null, middle)).containsExactly(1, 1);
    assertThat(narrowed(store, after(60), null)).isEmpty();
    AttemptQuery made =
        new AttemptQuery(TENANT, E1, null, null, after(3600), AttemptPosition.START, 10);
    assertThat(store.attempts(made)).isEqualTo(new AttemptPage(List.of(), null));
  }

  private List<Integer> narrowed(Database store, @Nullable Instant since, @Nullable Instant until)
      throws Exception {
    return store
        .attempts(new AttemptQuery(TENANT, E1, since, until, null, AttemptPosition.START, 10))
        .items()
        .stream()
        .map(Attempt::number)
        .toList();
  }

  private Message message(Database store) throws Exception {
    AcceptedEvent event = sample.pending(E1);
    store.write(batch(accept(event)));
    return event.messages().getFirst();
  }

  @Test
  void an_endpoint_without_messages_has_no_attempts() throws Exception {
    Database store = store();
    message(store);
    assertThat(store.attempts(attempts(AttemptPosition.START, 10)))
        .isEqualTo(new AttemptPage(List.of(), null));
    assertThat(store.latestAttempts(TENANT, List.of(E1, E2), NOW, 10)).isEmpty();
    assertThat(store.latestAttempts(TENANT, List.of(), NOW, 10)).isEmpty();
  }

  @Test
  void the_latest_attempts_of_endpoints_come_oldest_first() throws Exception {
    Database store = store();
    List<Attempt> expected = tried(store);
    Map<Long, List<AttemptMark>> latest =
        store.latestAttempts(TENANT, List.of(E1, E2, 7L), HOUR_BEFORE, 100);
    assertThat(latest).containsOnlyKeys(E1, E2);
    assertThat(latest.get(E1))
        .containsExactlyInAnyOrderElementsOf(
            expected.stream().map(ListsStoreContract::mark).toList())
        .isSortedAccordingTo(Comparator.comparing(AttemptMark::at));
    assertThat(store.latestAttempts(TENANT, List.of(E1), HOUR_BEFORE, 3).get(E1)).hasSize(3);
    assertThat(store.latestAttempts(TENANT, List.of(E1), HOUR_BEFORE, 100))
        .isEqualTo(Map.of(E1, latest.get(E1)));
  }

  private static AttemptMark mark(Attempt attempt) {
    return new AttemptMark(
        attempt.at(), attempt.durationMillis(), attempt.outcome() instanceof Outcome.Success);
  }

  @Test
  void the_latest_attempts_are_those_since_a_time() throws Exception {
    Database store = store();
    Message old = message(store);
    store.write(batch(retry(old, 1, after(60))));
    Message finished = message(store);
    store.write(batch(retry(finished, 1, after(60))));
    store.write(
        batch(new Write.Deliver(waiting(finished, 1, after(60)), success(finished, 2), NOW)));
    assertThat(store.latestAttempts(TENANT, List.of(E1), HOUR_BEFORE, 100).get(E1))
        .containsExactlyInAnyOrder(
            mark(failure(old, 1)), mark(failure(finished, 1)), mark(success(finished, 2)));
    assertThat(store.latestAttempts(TENANT, List.of(E1), NOW.plusMillis(2), 100))
        .as("an attempt since then of a message that was made before and has finished")
        .isEmpty();
    assertThat(store.latestAttempts(TENANT, List.of(E1), NOW.plusMillis(1), 100).get(E1))
        .as("of one that is unfinished")
        .contains(mark(failure(old, 1)));
  }

  @Test
  void the_latest_attempts_of_many_endpoints_are_found_with_few_rows() throws Exception {
    Database store = store(40);
    List<Long> endpoints = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      long endpoint = E1 + i;
      endpoints.add(endpoint);
      for (int j = 0; j < 4; j++) {
        AcceptedEvent event = sample.pending(endpoint);
        Message message = event.messages().getFirst();
        store.write(batch(accept(event)));
        store.write(batch(retry(message, 1, after(60))));
        if (j % 2 == 0) {
          store.write(
              batch(new Write.Deliver(waiting(message, 1, after(60)), success(message, 2), NOW)));
        }
      }
    }
    Map<Long, List<AttemptMark>> latest = store.latestAttempts(TENANT, endpoints, HOUR_BEFORE, 30);
    assertThat(latest).containsOnlyKeys(endpoints);
    assertThat(latest.values()).allSatisfy(marks -> assertThat(marks).hasSizeBetween(1, 2));
  }

  @Test
  void the_attempts_of_another_tenants_endpoint_are_not_shown() throws Exception {
    Database store = store();
    var endpoint = sample.endpoint("https://one.example/");
    store.write(batch(new Write.Subscribe(sample.subscription(endpoint, "*"), endpoint)));
    AcceptedEvent event = sample.pending(sample.event(), endpoint.id());
    store.write(batch(accept(event)));
    store.write(batch(deliver(event.messages().getFirst())));
    AttemptQuery own =
        new AttemptQuery(TENANT, endpoint.id(), null, null, null, AttemptPosition.START, 10);
    AttemptQuery others =
        new AttemptQuery("other", endpoint.id(), null, null, null, AttemptPosition.START, 10);
    assertThat(store.attempts(own).items()).hasSize(1);
    assertThat(store.attempts(others)).isEqualTo(new AttemptPage(List.of(), null));
    assertThat(store.latestAttempts("other", List.of(endpoint.id()), NOW, 10)).isEmpty();
    assertThat(
            store
                .events(new EventQuery("other", About.ANYTHING, null, null, Long.MAX_VALUE, 10))
                .items())
        .isEmpty();
  }
}
