package dev.holdfast.core.path;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Seeds;
import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Nodes.Kind;
import dev.holdfast.core.path.Nodes.Node;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ClusterPathTest {
  private static final String TENANT = "default";
  private static final String URL = "http://one.example/";

  private static Request.Submit event(String type) {
    return Crank.submit(TENANT, type, 1);
  }

  /** A URL whose endpoint, made by that node, is decided for by another. */
  private static Subscription elsewhere(Nodes nodes, Node here) {
    for (int i = 0; ; i++) {
      Subscription made = here.subscribe("http://e" + i + ".example/", "t" + i);
      if (nodes.ownerOf(made.endpoint()).slot != here.slot) {
        return made;
      }
    }
  }

  private static String type(Subscription subscription) {
    return subscription.types().getFirst().text();
  }

  private static Shards shardOf(long id) {
    return Shards.of(List.of(Shards.of(id)));
  }

  @Test
  void what_one_node_accepts_the_node_of_its_endpoint_delivers() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    assertThat(here.ask(event(type(subscription)))).isInstanceOf(Answer.Accepted.class);
    assertThat(there.sentMessages()).hasSize(1);
    assertThat(here.sent).isEmpty();
    assertThat(nodes.store.rows.finished.values()).containsExactly("delivered");
    assertThat(there.loop.gauges().pending()).isZero();
    assertThat(here.loop.gauges().pending()).isZero();
  }

  @Test
  void a_message_that_a_read_has_brought_before_it_arrives_is_delivered_and_counted_once() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    there.held.add(Kind.WAKE);
    here.ask(event(type(subscription)));
    assertThat(there.sent).isEmpty();
    // Its own message makes it look into the store, where it finds both.
    nodes.receiver = _ -> null;
    there.held.add(Kind.ATTEMPT);
    there.ask(Crank.submit(TENANT, type(subscription), 1));
    there.let(Kind.WAKE);
    nodes.receiver = _ -> Crank.OK;
    there.let(Kind.ATTEMPT);
    nodes.poll();
    assertThat(nodes.taken.values()).containsExactly(1, 1);
    assertThat(there.loop.gauges().pending()).isZero();
    assertThat(there.loop.gauges().held()).isZero();
  }

  @Test
  void without_a_signal_a_message_is_found_when_the_node_looks() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    there.held.add(Kind.WAKE);
    here.ask(event(type(subscription)));
    assertThat(there.sent).isEmpty();
    nodes.poll();
    assertThat(there.sent).hasSize(1);
  }

  @Test
  void shards_go_to_another_node_and_come_back_with_all_that_waits() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    nodes.receiver = _ -> Crank.DOWN;
    here.ask(Crank.submit(TENANT, type(subscription), 5));
    Shards shard = shardOf(subscription.endpoint());
    there.release(shard);
    nodes.turn();
    assertThat(there.letGo).containsExactly(shard);
    assertThat(there.loop.gauges().held()).isZero();
    assertThat(there.loop.gauges().waiting()).isZero();
    here.ask(event(type(subscription)));
    here.gain(shard);
    nodes.turn();
    assertThat(here.loop.gauges().waiting()).isEqualTo(6);
    here.release(shard);
    nodes.turn();
    nodes.receiver = _ -> Crank.OK;
    there.gain(shard);
    nodes.pass(Duration.ofMinutes(5));
    assertThat(nodes.taken).hasSize(6).allSatisfy((_, times) -> assertThat(times).isEqualTo(1));
    assertThat(nodes.store.rows.open).isEmpty();
  }

  @Test
  void a_shard_is_let_go_when_its_attempts_have_ended_and_are_on_disk() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    there.held.add(Kind.ATTEMPT);
    here.ask(event(type(subscription)));
    there.release(shardOf(subscription.endpoint()));
    nodes.turn();
    assertThat(there.letGo).isEmpty();
    there.held.add(Kind.WRITE);
    there.let(Kind.ATTEMPT);
    assertThat(there.letGo).isEmpty();
    there.let(Kind.WRITE);
    assertThat(there.letGo).hasSize(1);
    assertThat(nodes.store.rows.finished.values()).containsExactly("delivered");
    Message health = there.sentMessages().getFirst();
    assertThat(
            requireNonNull(nodes.store.rows.endpoints.get(health.endpoint())).health().successes())
        .isOne();
  }

  @Test
  void a_shard_is_let_go_after_the_batch_that_leaves_no_word_of_what_it_brings_to_it() {
    Nodes nodes = new Nodes(2);
    Node node = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, nodes.all.getLast());
    nodes.receiver = _ -> Crank.OK;
    node.held.add(Kind.WRITE);
    node.askLater(event(type(subscription)));
    nodes.turn();
    node.release(shardOf(subscription.endpoint()));
    nodes.turn();
    assertThat(node.letGo).isEmpty();
    node.let(Kind.WRITE);
    assertThat(node.letGo).hasSize(1);
    assertThat(node.sent).isEmpty();
    nodes.all.getLast().gain(shardOf(subscription.endpoint()));
    nodes.turn();
    assertThat(nodes.all.getLast().sent).hasSize(1);
  }

  @Test
  void what_was_read_before_a_shard_was_let_go_is_not_believed_when_it_is_back() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    Shards shard = shardOf(subscription.endpoint());
    nodes.receiver = _ -> Crank.DOWN;
    here.ask(event(type(subscription)));
    there.release(shard);
    nodes.turn();
    there.gain(shard);
    there.held.add(Kind.HAVE_READ);
    nodes.turn();
    there.release(shard);
    nodes.turn();
    // What is left for a node is read before it lets go; other reads are heard no more.
    there.jobs.stream().filter(job -> job.kind() == Kind.HAVE_READ).toList().reversed().stream()
        .findFirst()
        .ifPresent(
            job -> {
              there.jobs.remove(job);
              job.what().run();
            });
    nodes.turn();
    if (there.letGo.size() < 2) {
      there.let(Kind.HAVE_READ);
    }
    here.gain(shard);
    nodes.receiver = _ -> Crank.OK;
    nodes.pass(Duration.ofMinutes(3));
    assertThat(nodes.store.rows.finished).hasSize(1);
    here.release(shard);
    nodes.turn();
    there.gain(shard);
    there.let(Kind.HAVE_READ);
    nodes.pass(Duration.ofMinutes(30));
    assertThat(nodes.taken.values()).containsExactly(1);
  }

  @Test
  void an_event_is_matched_anew_if_a_subscription_has_come_meanwhile() {
    Nodes nodes = new Nodes(2);
    Node one = nodes.all.getFirst();
    Node two = nodes.all.getLast();
    one.held.addAll(Set.of(Kind.LEARN));
    two.subscribe(URL, "t");
    List<Answer> answers = one.askLater(event("t"));
    nodes.turn();
    assertThat(answers).as("waits for the news").isEmpty();
    one.let(Kind.LEARN);
    assertThat(answers).hasSize(1);
    assertThat(((Answer.Accepted) answers.getFirst()).receipts().getFirst().messages()).isOne();
    assertThat(nodes.taken).hasSize(1);
  }

  @Test
  void who_waits_for_news_that_do_not_come_is_refused() {
    Nodes nodes = new Nodes(2);
    Node one = nodes.all.getFirst();
    one.held.addAll(Set.of(Kind.LEARN));
    nodes.all.getLast().subscribe(URL, "t");
    List<Answer> answers = one.askLater(event("t"));
    nodes.turn();
    nodes.pass(Limits.NEWS_WITHIN.plusSeconds(1));
    assertThat(answers).containsExactly(new Refused(Refused.Why.STORE_AWAY));
    assertThat(one.ask(event("t"))).isEqualTo(new Refused(Refused.Why.STORE_AWAY));
    one.let(Kind.LEARN);
    assertThat(one.ask(event("t"))).isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void outcomes_are_written_at_once_when_what_is_with_them_has_to_be_decided_anew() {
    Nodes nodes = new Nodes(2);
    Node two = nodes.all.getLast();
    Subscription subscription = elsewhere(nodes, nodes.all.getFirst());
    two.held.addAll(Set.of(Kind.WRITE, Kind.LEARN));
    two.askLater(event(type(subscription)));
    nodes.turn();
    two.let(Kind.WRITE);
    nodes.all.getFirst().subscribe(URL, "u");
    two.held.add(Kind.WRITE);
    List<Answer> answers = two.askLater(event("u"));
    nodes.turn();
    two.let(Kind.WRITE);
    assertThat(nodes.store.rows.finished).hasSize(1);
    assertThat(answers).isEmpty();
    two.let(Kind.LEARN);
    assertThat(answers).hasSize(1);
    assertThat(nodes.store.rows.finished).hasSize(2);
  }

  @Test
  void two_nodes_change_the_same_subscription_and_neither_change_is_lost() {
    Nodes nodes = new Nodes(2);
    Node one = nodes.all.getFirst();
    Node two = nodes.all.getLast();
    Subscription subscription = one.subscribe(URL, "t");
    one.held.add(Kind.WRITE);
    List<Answer> answers =
        one.askLater(
            new Request.Update(
                TENANT, subscription.id(), Request.Patch.toTypes(List.of(new TypePattern("u")))));
    nodes.turn();
    two.ask(new Request.Update(TENANT, subscription.id(), Request.Patch.toPaused(true)));
    one.let(Kind.WRITE);
    assertThat(answers).hasSize(1);
    Subscription stored = requireNonNull(nodes.store.rows.subscriptions.get(subscription.id()));
    assertThat(stored.paused()).isTrue();
    assertThat(stored.types()).containsExactly(new TypePattern("u"));
    for (Node node : nodes.all) {
      assertThat(node.loop.subscription(TENANT, subscription.id())).contains(stored);
    }
  }

  @Test
  void two_nodes_that_make_the_same_endpoint_make_one() {
    Nodes nodes = new Nodes(2);
    Node one = nodes.all.getFirst();
    one.held.add(Kind.WRITE);
    List<Answer> answers =
        one.askLater(new Request.Subscribe(TENANT, URL, List.of(new TypePattern("t")), null));
    nodes.turn();
    Subscription other = nodes.all.getLast().subscribe(URL, "u");
    one.let(Kind.WRITE);
    Subscription made = ((Answer.Subscribed) answers.getFirst()).subscription();
    assertThat(made.endpoint()).isEqualTo(other.endpoint());
    assertThat(nodes.store.rows.endpoints).hasSize(1);
  }

  @Test
  void news_from_before_a_change_of_the_node_itself_do_not_undo_it() {
    Nodes nodes = new Nodes(2);
    Node one = nodes.all.getFirst();
    Subscription subscription = one.subscribe(URL, "t");
    one.held.add(Kind.LEARNED);
    nodes
        .all
        .getLast()
        .ask(new Request.Update(TENANT, subscription.id(), Request.Patch.toPaused(true)));
    one.held.remove(Kind.LEARN);
    nodes.turn();
    one.let(Kind.LEARNED);
    one.held.add(Kind.LEARNED);
    nodes.poll();
    one.ask(new Request.Update(TENANT, subscription.id(), Request.Patch.toPaused(false)));
    one.let(Kind.LEARNED);
    assertThat(one.loop.subscription(TENANT, subscription.id()).orElseThrow().paused()).isFalse();
  }

  @Test
  void messages_follow_their_subscription_to_an_endpoint_of_another_node() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    nodes.receiver = _ -> Crank.DOWN;
    here.ask(Crank.submit(TENANT, type(subscription), 3));
    String url = "http://other.example/";
    for (int i = 0; nodes.ownerOf(endpointWith(here, url)).slot == there.slot; i++) {
      url = "http://other" + i + ".example/";
    }
    nodes.receiver = _ -> Crank.OK;
    there.ask(new Request.Update(TENANT, subscription.id(), Request.Patch.toUrl(url)));
    nodes.pass(Duration.ofMinutes(5));
    assertThat(nodes.taken).hasSize(3);
    assertThat(here.sent).hasSize(3);
    assertThat(requireNonNull(nodes.store.rows.subscriptions.get(subscription.id())).unsettled())
        .isEmpty();
    assertThat(there.loop.gauges().waiting()).isZero();
  }

  private static long endpointWith(Node node, String url) {
    return node.subscribe(url, "unused").endpoint();
  }

  @Test
  void an_ended_subscription_is_forgotten_when_no_node_has_messages_of_it() {
    Nodes nodes = new Nodes(3);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    nodes.receiver = _ -> Crank.DOWN;
    here.ask(Crank.submit(TENANT, type(subscription), 3));
    String url = "http://other.example/";
    for (int i = 0; nodes.ownerOf(endpointWith(here, url)).slot == there.slot; i++) {
      url = "http://other" + i + ".example/";
    }
    there.held.add(Kind.READ);
    here.ask(new Request.Update(TENANT, subscription.id(), Request.Patch.toUrl(url)));
    here.ask(Crank.submit(TENANT, type(subscription), 2));
    here.ask(new Request.Unsubscribe(TENANT, subscription.id()));
    nodes.pass(Duration.ofSeconds(30));
    assertThat(nodes.store.rows.ended).as("messages are left elsewhere").hasSize(1);
    there.let(Kind.READ);
    nodes.pass(Duration.ofSeconds(30));
    assertThat(nodes.store.rows.open).isEmpty();
    assertThat(nodes.store.rows.finished).hasSize(5).containsValue("unsubscribed");
    assertThat(nodes.store.rows.ended).isEmpty();
  }

  @Test
  void no_attempt_starts_when_the_lease_is_over() {
    Nodes nodes = new Nodes(1);
    Node node = nodes.all.getFirst();
    node.subscribe(URL, "t");
    node.inputs.add(new Input.Leased(nodes.now));
    node.ask(event("t"));
    assertThat(node.sent).isEmpty();
    node.inputs.add(new Input.Leased(nodes.now.plusSeconds(10)));
    nodes.turn();
    assertThat(node.sent).hasSize(1);
  }

  @Test
  void an_attempt_whose_event_comes_too_late_waits_for_the_lease() {
    Nodes nodes = new Nodes(1, Limits.forHeap(512L << 20, 32));
    Node node = nodes.all.getFirst();
    node.subscribe(URL, "t");
    nodes.receiver = _ -> Crank.DOWN;
    node.ask(event("t"));
    nodes.receiver = _ -> Crank.OK;
    node.held.add(Kind.HAVE_READ);
    Instant until = nodes.now.plus(Duration.ofSeconds(86));
    node.inputs.add(new Input.Leased(until));
    nodes.pass(Duration.ofSeconds(85));
    nodes.now = until;
    node.let(Kind.HAVE_READ);
    assertThat(node.sent).hasSize(1);
    node.inputs.add(new Input.Leased(until.plusSeconds(10)));
    nodes.turn();
    assertThat(nodes.taken).hasSize(1);
  }

  @Test
  void whoever_waits_is_answered_when_others_have_taken_over() {
    Nodes nodes = new Nodes(2);
    Node node = nodes.all.getFirst();
    Subscription subscription = node.subscribe(URL, "t");
    node.held.addAll(Set.of(Kind.WRITE, Kind.READ));
    List<List<Answer>> answers =
        List.of(
            node.askLater(event("t")),
            node.askLater(new Request.Unsubscribe(TENANT, subscription.id())),
            node.askLater(new Request.RetryNow(TENANT, 7)));
    nodes.turn();
    List<Answer> queued = node.askLater(event("t"));
    nodes.turn();
    nodes.lose(node);
    node.inputs.add(new Input.Abandoned());
    List<Answer> late = node.askLater(event("t"));
    node.step();
    Refused away = new Refused(Refused.Why.STORE_AWAY);
    assertThat(answers).allSatisfy(one -> assertThat(one).containsExactly(away));
    assertThat(queued).containsExactly(away);
    assertThat(late).containsExactly(away);
  }

  @Test
  void a_node_that_finds_that_others_have_taken_over_answers_everybody() {
    Nodes nodes = new Nodes(2);
    Node node = nodes.all.getFirst();
    node.subscribe(URL, "t");
    node.failNextWrite = StoreException.Kind.FENCED;
    assertThat(node.ask(event("t"))).isEqualTo(new Refused(Refused.Why.STORE_AWAY));
    assertThat(node.ask(event("t"))).isEqualTo(new Refused(Refused.Why.STORE_AWAY));
  }

  @Test
  void while_the_store_is_away_nothing_is_accepted_and_outcomes_are_kept() {
    Nodes nodes = new Nodes(1);
    Node node = nodes.all.getFirst();
    node.subscribe(URL, "t");
    node.held.add(Kind.ATTEMPT);
    node.ask(event("t"));
    node.failNextWrite = StoreException.Kind.AWAY;
    node.let(Kind.ATTEMPT);
    assertThat(node.ask(event("t"))).isEqualTo(new Refused(Refused.Why.STORE_AWAY));
    nodes.pass(Duration.ofSeconds(3));
    assertThat(nodes.store.rows.finished).hasSize(1);
    assertThat(node.ask(event("t"))).isInstanceOf(Answer.Accepted.class);
    assertThat(nodes.taken).hasSize(2).allSatisfy((_, times) -> assertThat(times).isEqualTo(1));
  }

  @Test
  void what_is_another_nodes_to_decide_is_answered_with_its_shard() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    Request disable = new Request.Operate(TENANT, subscription.endpoint(), Operation.DISABLE);
    Answer notOurs = new Answer.NotOurs(Shards.of(subscription.endpoint()));
    assertThat(here.ask(disable)).isEqualTo(notOurs);
    assertThat(there.ask(disable)).isInstanceOf(Answer.EndpointIs.class);
    here.ask(event(type(subscription)));
    Message parked = nodes.store.rows.open.values().iterator().next();
    assertThat(parked.status()).isEqualTo(Status.PARKED);
    Request retry = new Request.RetryNow(TENANT, parked.id());
    assertThat(here.ask(retry)).isEqualTo(notOurs);
    assertThat(there.ask(retry)).isEqualTo(new Answer.RetryStarted());
    assertThat(there.sent).hasSize(1);
  }

  @Test
  void a_rate_limit_that_one_node_is_told_holds_at_the_node_of_the_endpoint() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    Node there = nodes.ownerOf(subscription.endpoint());
    there.held.add(Kind.ATTEMPT);
    RateLimit limit = new RateLimit(1);
    here.ask(Request.Configure.limitRate(TENANT, subscription.endpoint(), limit));
    there.let(Kind.ATTEMPT);
    here.ask(Crank.submit(TENANT, type(subscription), 3));
    assertThat(there.sent).hasSize(1);
    assertThat(requireNonNull(nodes.store.rows.endpoints.get(subscription.endpoint())).rateLimit())
        .isEqualTo(limit);
    nodes.pass(Duration.ofSeconds(5));
    assertThat(there.sent).hasSize(3);
    assertThat(requireNonNull(nodes.store.rows.endpoints.get(subscription.endpoint())).rateLimit())
        .isEqualTo(limit);
  }

  @Test
  void a_replay_is_made_by_the_node_of_its_shard() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = elsewhere(nodes, here);
    here.ask(Crank.submit(TENANT, type(subscription), 4));
    nodes.pass(Duration.ofSeconds(1));
    for (Node node : nodes.all) {
      Replay.Selection selection =
          new Replay.Selection(
              null, subscription.id(), Set.of(Replay.Ending.DELIVERED), null, null, true);
      Replay replay = ((Answer.ReplayIs) node.ask(new Request.Replay(TENANT, selection))).replay();
      nodes.pass(Duration.ofSeconds(5));
      assertThat(requireNonNull(nodes.store.rows.replays.get(replay.id())).state())
          .isEqualTo(Replay.State.DONE);
    }
    assertThat(nodes.taken).hasSize(4 + 4 + 8);
  }

  @Test
  void a_newcomer_gets_what_was_before_it_once_all_nodes_have_written_it() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    for (Node node : nodes.all) {
      node.ask(event("t"));
    }
    nodes.pass(Duration.ofSeconds(1));
    Request.Subscribe request =
        new Request.Subscribe(TENANT, URL, List.of(new TypePattern("t")), null);
    here.ask(new Request.Subscribe(TENANT, request.wish(), Crank.START));
    nodes.all.getLast().ask(event("t"));
    assertThat(nodes.taken).hasSize(1);
    nodes.pass(Limits.OTHERS_CATCH_UP.plusSeconds(5));
    assertThat(nodes.taken).hasSize(3);
  }

  private static Subscription at(Nodes nodes, Node here) {
    for (int i = 0; ; i++) {
      Subscription made = here.subscribe("http://h" + i + ".example/", "h" + i);
      if (nodes.ownerOf(made.endpoint()).slot == here.slot) {
        return made;
      }
    }
  }

  @Test
  void messages_that_move_to_a_shard_that_comes_meanwhile_are_sent_whatever_is_known_first() {
    Seeds.each(60, ClusterPathTest::moveToShardThatComes);
  }

  private static void moveToShardThatComes(SplittableRandom random) {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription moving = at(nodes, here);
    long to = elsewhere(nodes, here).endpoint();
    Shards shard = shardOf(to);
    nodes.receiver = _ -> Crank.DOWN;
    here.ask(Crank.submit(TENANT, type(moving), 3));
    here.held.add(Kind.READ);
    String url = requireNonNull(nodes.store.rows.endpoints.get(to)).url();
    here.ask(new Request.Update(TENANT, moving.id(), Request.Patch.toUrl(url)));
    here.held.add(Kind.WRITE);
    here.let(Kind.READ);
    nodes.ownerOf(to).release(shard);
    nodes.turn();
    here.held.addAll(EnumSet.allOf(Kind.class));
    here.gain(shard);
    for (int i = 0; i < 40; i++) {
      if (!here.jobs.isEmpty()) {
        here.jobs.remove(random.nextInt(here.jobs.size())).what().run();
      }
      here.step();
    }
    here.held.clear();
    nodes.receiver = _ -> Crank.OK;
    nodes.pass(Duration.ofMinutes(30));
    assertThat(nodes.store.rows.open).isEmpty();
    assertThat(nodes.taken.values()).containsExactly(1, 1, 1);
    assertThat(here.loop.gauges().waiting()).isZero();
    assertThat(here.loop.gauges().held()).isZero();
  }

  @Test
  void a_message_of_an_endpoint_that_is_not_known_yet_is_another_nodes_to_retry() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Node there = nodes.all.getLast();
    here.held.add(Kind.LEARN);
    nodes.receiver = _ -> Crank.DOWN;
    Subscription made = at(nodes, there);
    there.ask(event(type(made)));
    long message = there.sentMessages().getFirst().id();
    assertThat(here.ask(new Request.RetryNow(TENANT, message)))
        .isEqualTo(new Answer.NotOurs(Shards.of(made.endpoint())));
  }

  @Test
  void a_message_that_another_has_finished_is_let_go() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = at(nodes, here);
    here.held.add(Kind.ATTEMPT);
    here.ask(event(type(subscription)));
    nodes.store.rows.open.clear();
    here.failNextWrite = StoreException.Kind.REFUSED;
    here.let(Kind.ATTEMPT);
    nodes.pass(Duration.ofHours(1));
    assertThat(here.sent).hasSize(1);
    assertThat(here.loop.gauges().held()).isZero();
    assertThat(here.loop.gauges().pending()).isZero();
  }

  @Test
  void a_message_whose_outcome_is_refused_is_sent_again_if_it_is_still_there() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = at(nodes, here);
    here.held.add(Kind.ATTEMPT);
    here.ask(event(type(subscription)));
    here.failNextWrite = StoreException.Kind.REFUSED;
    here.let(Kind.ATTEMPT);
    assertThat(here.sent).hasSize(1);
    nodes.pass(Duration.ofHours(1));
    assertThat(here.sent).hasSize(2);
    assertThat(nodes.store.rows.open).isEmpty();
    assertThat(here.loop.gauges().held()).isZero();
  }

  private static void change(Node node, String tenant, int number) {
    node.ask(
        new Request.Subscribe(
            tenant,
            "http://" + tenant + number + ".example/",
            List.of(new TypePattern("t")),
            null));
  }

  @Test
  void a_tenants_changes_make_only_its_own_events_wait() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    here.subscribe(URL, "t");
    here.held.addAll(Set.of(Kind.LEARN, Kind.WRITE));
    change(nodes.all.getLast(), "busy", 1);
    List<Answer> busy = here.askLater(Crank.submit("busy", "t", 1));
    List<Answer> quiet = here.askLater(event("t"));
    nodes.turn();
    List<Answer> queued = here.askLater(event("t"));
    here.let(Kind.WRITE);
    assertThat(busy).isEmpty();
    assertThat(quiet).hasSize(1).first().isInstanceOf(Answer.Accepted.class);
    assertThat(queued).hasSize(1).first().isInstanceOf(Answer.Accepted.class);
    assertThat(here.ask(event("t"))).isInstanceOf(Answer.Accepted.class);
    here.let(Kind.LEARN);
    assertThat(busy).hasSize(1).first().isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void a_subscription_that_another_node_has_ended_stays_so_whatever_is_asked_of_it_here() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription made = here.subscribe(URL, "t");
    here.held.addAll(Set.of(Kind.LEARN, Kind.WRITE));
    Request move =
        new Request.Update(TENANT, made.id(), Request.Patch.toUrl("http://elsewhere.example/"));
    List<Answer> moved = here.askLater(move);
    nodes.turn();
    nodes.all.getLast().ask(new Request.Unsubscribe(TENANT, made.id()));
    here.let(Kind.LEARN);
    List<Answer> ended = here.askLater(new Request.Unsubscribe(TENANT, made.id()));
    nodes.turn();
    here.let(Kind.WRITE);
    assertThat(moved).containsExactly(new Answer.NotFound());
    assertThat(ended).containsExactly(new Answer.NotFound());
    Answer answer = here.ask(event("t"));
    assertThat(((Answer.Accepted) answer).receipts().getFirst().messages()).isZero();
  }

  @Test
  void
      an_event_that_comes_while_a_subscription_is_being_answered_belongs_to_its_history_or_to_it() {
    Nodes nodes = new Nodes(3);
    Node here = nodes.all.getFirst();
    here.held.add(Kind.WRITTEN);
    List<Answer> made =
        here.askLater(
            new Request.Subscribe(
                TENANT,
                new Request.Subscribe(TENANT, URL, List.of(new TypePattern("t")), null).wish(),
                Crank.START));
    nodes.turn();
    nodes.poll();
    nodes.now = nodes.now.plusSeconds(7);
    List<Answer> accepted = here.askLater(event("t"));
    nodes.turn();
    here.let(Kind.WRITTEN);
    nodes.pass(Duration.ofMinutes(1));
    assertThat(made).hasSize(1).first().isInstanceOf(Answer.Subscribed.class);
    assertThat(accepted).hasSize(1).first().isInstanceOf(Answer.Accepted.class);
    assertThat(nodes.taken.values()).containsExactly(1);
  }

  @Test
  void settings_of_two_tenants_do_not_make_each_other_be_decided_anew_for_ever() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Node there = nodes.all.getLast();
    Subscription made = here.subscribe(URL, "t");
    change(here, "busy", 0);
    here.held.addAll(Set.of(Kind.LEARN, Kind.WRITE));
    change(there, "busy", 1);
    List<Answer> quiet =
        here.askLater(Request.Configure.limitRate(TENANT, made.endpoint(), new RateLimit(3)));
    List<Answer> busy = here.askLater(Crank.submit("busy", "t", 1));
    nodes.turn();
    here.let(Kind.LEARN);
    here.held.add(Kind.LEARN);
    change(there, "busy", 2);
    here.let(Kind.WRITE);
    here.let(Kind.LEARN);
    assertThat(quiet).hasSize(1).first().isInstanceOf(Answer.EndpointIs.class);
    assertThat(busy).hasSize(1).first().isInstanceOf(Answer.Accepted.class);
  }

  @Test
  void an_event_that_is_stale_again_and_again_is_refused_in_the_end() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    here.held.add(Kind.WRITE);
    List<Answer> busy = here.askLater(Crank.submit("busy", "t", 1));
    nodes.turn();
    int rounds = 0;
    while (busy.isEmpty()) {
      assertThat(rounds).isLessThan(20);
      change(nodes.all.getLast(), "busy", rounds++);
      nodes.now = nodes.now.plusMillis(500);
      here.doFirst(Kind.WRITE);
      nodes.turn();
    }
    assertThat(rounds).isBetween(10, 12);
    assertThat(busy).containsExactly(new Refused(Refused.Why.STORE_AWAY));
    assertThat(here.loop.gauges().acceptingBytes()).isZero();
  }

  @Test
  void an_event_that_was_stale_twice_is_written_before_what_waits() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    here.held.add(Kind.WRITE);
    List<Answer> busy = here.askLater(Crank.submit("busy", "t", 1));
    nodes.turn();
    for (int round = 0; round < 2; round++) {
      change(nodes.all.getLast(), "busy", round);
      here.held.add(Kind.LEARN);
      here.doFirst(Kind.WRITE);
      nodes.turn();
      here.let(Kind.LEARN);
    }
    List<Answer> quiet = here.askLater(event("t"));
    nodes.turn();
    here.doFirst(Kind.WRITE);
    nodes.turn();
    assertThat(busy).hasSize(1).first().isInstanceOf(Answer.Accepted.class);
    assertThat(quiet).isEmpty();
    here.let(Kind.WRITE);
    assertThat(quiet).hasSize(1);
  }

  @Test
  void a_node_that_stops_and_finds_that_others_have_taken_over_has_stopped() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = at(nodes, here);
    here.held.add(Kind.WRITE);
    List<Answer> answers = here.askLater(event(type(subscription)));
    here.step();
    here.inputs.add(new Input.StopRequested());
    here.step();
    assertThat(here.loop.isStopped()).isFalse();
    here.inputs.add(new Input.Abandoned());
    here.step();
    assertThat(here.loop.isStopped()).isTrue();
    assertThat(answers).containsExactly(new Refused(Refused.Why.STORE_AWAY));
    assertThat(here.loop.nextWake()).isEmpty();
  }

  @Test
  void a_node_that_others_have_taken_over_from_still_tells_what_is_on_disk() {
    Nodes nodes = new Nodes(2);
    Node here = nodes.all.getFirst();
    Subscription subscription = at(nodes, here);
    int asked = 3 * nodes.limits.answersInAStep();
    List<Answer> answers = new ArrayList<>();
    here.held.add(Kind.WRITE);
    for (int i = 0; i < asked; i++) {
      here.inputs.add(new Input.Asked(event(type(subscription)), Actor.PROGRAM, answers::add));
    }
    here.step();
    here.doFirst(Kind.WRITE);
    here.doFirst(Kind.WRITTEN);
    here.step();
    assertThat(answers).hasSize(asked / 3);
    here.inputs.add(new Input.Abandoned());
    here.step();
    assertThat(answers).hasSize(asked).hasOnlyElementsOfType(Answer.Accepted.class);
  }

  @Test
  void gauges_of_all_nodes_add_up() {
    Nodes nodes = new Nodes(3);
    for (int i = 0; i < 10; i++) {
      nodes.all.getFirst().subscribe("http://e" + i + ".example/", "t");
    }
    int endpoints = 0;
    int subscriptions = 0;
    for (Node node : nodes.all) {
      endpoints += node.loop.gauges().endpointsEnabled();
      subscriptions += node.loop.gauges().subscriptions();
    }
    assertThat(List.of(endpoints, subscriptions)).containsExactly(10, 10);
  }
}
