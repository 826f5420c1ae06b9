package dev.holdfast.core.path;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Nodes.Kind;
import dev.holdfast.core.path.Nodes.Node;
import dev.holdfast.core.path.Request.Operation;
import dev.holdfast.core.port.Known;
import dev.holdfast.core.port.StoreException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Messages of subscriptions that the node of their endpoint has not heard of yet: another node has
 * made the subscription, and has accepted an event for it.
 */
class UnheardTest {
  private static final String TENANT = "default";

  /** Two nodes, and an endpoint of one of them that both know. */
  private static final class World {
    final Nodes nodes;
    final Node here;
    final Node there;
    final Subscription known;
    final String url;

    World() {
      this(Limits.forHeap(512L << 20, 32));
    }

    World(Limits limits) {
      nodes = new Nodes(2, limits);
      here = nodes.all.getFirst();
      there = nodes.all.getLast();
      Subscription made = null;
      int count = 0;
      while (made == null || nodes.ownerOf(made.endpoint()).slot != there.slot) {
        made = here.subscribe("http://e" + count + ".example/", "known" + count);
        count++;
      }
      known = made;
      url = "http://e" + (count - 1) + ".example/";
    }

    /** Makes a subscription that the node of its endpoint does not hear of. */
    Subscription unheard() {
      there.cannotLearn = true;
      Subscription made = here.subscribe(url, "new");
      assertThat(made.endpoint()).isEqualTo(known.endpoint());
      return made;
    }

    void hears() {
      there.cannotLearn = false;
      nodes.poll();
    }

    Answer submit(String type, int count) {
      return here.ask(Crank.submit(TENANT, type, count));
    }

    Shards shard() {
      return Shards.of(List.of(Shards.of(known.endpoint())));
    }

    List<String> finished() {
      return List.copyOf(nodes.store.rows.finished.values());
    }
  }

  private static String type(Subscription subscription) {
    return subscription.types().getFirst().text();
  }

  @Test
  void a_message_that_arrives_waits_until_its_subscription_is_heard_of() {
    World world = new World();
    world.unheard();
    assertThat(world.submit("new", 1)).isInstanceOf(Answer.Accepted.class);
    world.nodes.pass(Duration.ofMinutes(10));
    assertThat(world.finished()).isEmpty();
    world.hears();
    assertThat(world.finished()).containsExactly("delivered");
    assertThat(world.there.loop.gauges().held()).isZero();
  }

  @Test
  void a_message_that_is_read_waits_until_its_subscription_is_heard_of() {
    World world = new World();
    world.there.held.add(Kind.WAKE);
    world.submit(type(world.known), 1);
    world.unheard();
    world.submit("new", 3);
    // Its own message makes it look into the store, where it finds all.
    world.there.askLater(Crank.submit("other", "none", 1));
    world.there.let(Kind.WAKE);
    world.nodes.pass(Duration.ofMinutes(10));
    assertThat(world.finished()).containsExactly("delivered");
    world.hears();
    assertThat(world.finished()).hasSize(4).containsOnly("delivered");
    assertThat(world.nodes.taken.values()).containsOnly(1);
  }

  @Test
  void a_message_that_is_due_again_waits_until_its_subscription_is_heard_of() {
    World world = new World();
    world.unheard();
    world.there.release(world.shard());
    world.nodes.turn();
    world.here.gain(world.shard());
    world.nodes.receiver = _ -> Crank.DOWN;
    world.submit("new", 3);
    world.here.release(world.shard());
    world.nodes.turn();
    world.there.gain(world.shard());
    world.nodes.receiver = _ -> Crank.OK;
    world.nodes.pass(Duration.ofMinutes(30));
    assertThat(world.finished()).isEmpty();
    assertThat(world.there.loop.gauges().waiting()).isEqualTo(3);
    world.hears();
    world.nodes.pass(Duration.ofMinutes(1));
    assertThat(world.finished()).hasSize(3).containsOnly("delivered");
  }

  @Test
  void a_parked_message_is_not_probed_with_until_its_subscription_is_heard_of() {
    World world = new World();
    Request disable = new Request.Operate(TENANT, world.known.endpoint(), Operation.FREEZE);
    world.there.ask(disable);
    world.unheard();
    world.submit("new", 2);
    assertThat(world.there.loop.gauges().parked()).isEqualTo(2);
    world.there.ask(new Request.Operate(TENANT, world.known.endpoint(), Operation.ENABLE));
    world.nodes.pass(Duration.ofMinutes(30));
    assertThat(world.finished()).isEmpty();
    world.hears();
    assertThat(world.finished()).hasSize(2).containsOnly("delivered");
  }

  @Test
  void a_drop_that_could_not_be_written_is_not_written_when_the_subscription_is_there() {
    World world = new World();
    world.unheard();
    world.there.failNextWrite = StoreException.Kind.AWAY;
    world.submit("new", 1);
    world.nodes.pass(Duration.ofMinutes(1));
    assertThat(world.finished()).isEmpty();
    world.hears();
    assertThat(world.finished()).containsExactly("delivered");
  }

  @Test
  void who_asks_for_a_message_to_be_tried_that_waits_for_its_subscription_changes_nothing() {
    World world = new World();
    world.there.ask(new Request.Operate(TENANT, world.known.endpoint(), Operation.FREEZE));
    world.unheard();
    world.submit("new", 1);
    world.there.ask(new Request.Operate(TENANT, world.known.endpoint(), Operation.ENABLE));
    Message message = world.nodes.store.rows.open.values().iterator().next();
    for (int i = 0; i < 3; i++) {
      assertThat(world.there.ask(new Request.RetryNow(TENANT, message.id())))
          .isInstanceOf(Answer.RetryStarted.class);
      assertThat(world.finished()).isEmpty();
    }
    world.hears();
    assertThat(world.finished()).containsExactly("delivered");
    assertThat(world.nodes.taken).containsEntry(message.id(), 1);
  }

  @Test
  void what_waits_goes_to_the_next_node_of_the_shard_which_delivers_it() {
    World world = new World();
    world.unheard();
    world.submit("new", 3);
    world.there.release(world.shard());
    world.nodes.turn();
    assertThat(world.there.letGo).hasSize(1);
    assertThat(world.there.loop.gauges().held()).isZero();
    world.here.gain(world.shard());
    world.nodes.turn();
    assertThat(world.finished()).hasSize(3).containsOnly("delivered");
  }

  @Test
  void a_message_of_a_subscription_that_is_no_more_is_given_up() {
    World world = new World();
    Message stray =
        Message.pending(world.known.endpoint() + 1024, 4096, 77, world.known.endpoint(), 10, null);
    world.there.release(world.shard());
    world.nodes.turn();
    world.nodes.store.rows.open.put(stray.id(), stray);
    world.nodes.store.rows.messages.put(stray.id(), stray);
    world.there.gain(world.shard());
    world.nodes.turn();
    assertThat(world.finished()).containsExactly("unsubscribed");
    assertThat(world.there.loop.gauges().pending()).isZero();
  }

  @Test
  void few_messages_are_held_while_very_many_wait_and_all_are_delivered_in_the_end() {
    Limits limits = Limits.forHeap(512L << 20, 32);
    World world = new World(limits);
    world.unheard();
    int count = limits.laneWindow() * 5;
    for (int left = count; left > 0; left -= 100) {
      assertThat(world.submit("new", Math.min(left, 100))).isInstanceOf(Answer.Accepted.class);
    }
    world.nodes.pass(Duration.ofMinutes(10));
    assertThat(world.finished()).isEmpty();
    assertThat(world.there.loop.gauges().held()).isLessThanOrEqualTo(limits.laneWindow() * 2);
    assertThat(world.there.loop.gauges().pending()).isEqualTo(count);
    world.hears();
    world.nodes.pass(Duration.ofMinutes(1));
    assertThat(world.finished()).hasSize(count).containsOnly("delivered");
    assertThat(world.nodes.taken.values()).containsOnly(1);
  }

  @Test
  void what_other_subscriptions_get_does_not_wait() {
    World world = new World();
    world.unheard();
    world.submit("new", 3);
    world.submit(type(world.known), 3);
    assertThat(world.finished()).hasSize(3).containsOnly("delivered");
    world.hears();
    assertThat(world.finished()).hasSize(6).containsOnly("delivered");
  }

  @Test
  void a_history_waits_until_its_subscription_is_heard_of() {
    World world = new World();
    for (int i = 0; i < 5; i++) {
      world.submit("new", 1);
    }
    world.nodes.pass(Duration.ofMinutes(1));
    world.there.cannotLearn = true;
    Subscription made = null;
    while (made == null || nodeOfHistory(world, made).slot != world.there.slot) {
      Request.Subscribe request =
          new Request.Subscribe(TENANT, world.url, List.of(new TypePattern("new")), null);
      made =
          ((Answer.Subscribed)
                  world.here.ask(new Request.Subscribe(TENANT, request.wish(), Crank.START)))
              .subscription();
    }
    world.nodes.pass(Duration.ofMinutes(10));
    assertThat(historyOf(world, made).state()).isEqualTo(Replay.State.RUNNING);
    world.hears();
    world.nodes.pass(Duration.ofMinutes(10));
    assertThat(historyOf(world, made).state()).isEqualTo(Replay.State.DONE);
    assertThat(historyOf(world, made).done()).isEqualTo(5);
  }

  private static Node nodeOfHistory(World world, Subscription subscription) {
    return world.nodes.ownerOf(historyOf(world, subscription).id());
  }

  private static Replay historyOf(World world, Subscription subscription) {
    return world.nodes.store.rows.replays.values().stream()
        .filter(one -> Long.valueOf(subscription.id()).equals(one.selection().subscription()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_replay_leaves_out_nothing_of_a_subscription_that_is_not_heard_of() {
    World world = new World();
    world.unheard();
    world.there.release(world.shard());
    world.nodes.turn();
    world.here.gain(world.shard());
    world.nodes.turn();
    world.submit("new", 4);
    assertThat(world.finished()).hasSize(4);
    Replay.Selection all =
        new Replay.Selection(
            world.known.endpoint(),
            null,
            java.util.Set.of(Replay.Ending.DELIVERED),
            null,
            null,
            true);
    Replay replay = null;
    while (replay == null || world.nodes.ownerOf(replay.id()).slot != world.there.slot) {
      replay = ((Answer.ReplayIs) world.here.ask(new Request.Replay(TENANT, all))).replay();
      if (world.nodes.ownerOf(replay.id()).slot != world.there.slot) {
        world.here.ask(new Request.CancelReplay(TENANT, replay.id()));
      }
    }
    world.nodes.pass(Duration.ofMinutes(1));
    world.hears();
    world.nodes.pass(Duration.ofMinutes(1));
    Replay done = requireNonNull(world.nodes.store.rows.replays.get(replay.id()));
    assertThat(done.state()).isEqualTo(Replay.State.DONE);
    assertThat(done.skipped()).isZero();
  }

  @Test
  void news_that_leave_something_out_are_not_believed() {
    World world = new World();
    world.there.cannotLearn = true;
    Subscription made = world.here.subscribe(world.url, "new");
    Known later = world.nodes.store.changes(Long.MAX_VALUE - 1);
    world.there.inputs.add(new Input.Learned(later.version(), later));
    world.there.step();
    world.there.askLater(Crank.submit(TENANT, "new", 1));
    world.nodes.turn();
    world.hears();
    assertThat(world.finished()).containsExactly("delivered");
    assertThat(world.there.loop.subscription(TENANT, made.id())).isPresent();
  }
}
