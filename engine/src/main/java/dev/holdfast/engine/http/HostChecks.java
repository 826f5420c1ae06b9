package dev.holdfast.engine.http;

import dev.holdfast.engine.egress.EgressRules;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Context;
import io.vertx.core.internal.ContextInternal;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks up names before anything is sent to them, so that somebody who asks for what is forbidden
 * hears of it at once.
 *
 * <p>It is a service and not the guard, which is {@link Dialler}: a name may change its mind later.
 * So a name that is not found in time passes, and so does one for which there is no room: strangers
 * choose the names, and must not make us flood a name server. Lives on the event loop.
 */
final class HostChecks {

  /** How many names are looked up at once, for all who ask. */
  static final int MOST_AT_ONCE = 64;

  /** How many of them for one who asks, so that there is room for others. */
  static final int MOST_OF_ONE = 32;

  /** How many are begun before others have their turn on the event loop. */
  private static final int MOST_IN_A_TURN = 128;

  private final Names names;
  private final EgressRules rules;
  private final EventLoop eventLoop;
  private int underWay;

  private HostChecks(Names names, EgressRules rules, EventLoop eventLoop) {
    this.names = names;
    this.rules = rules;
    this.eventLoop = eventLoop;
  }

  /** On a context's event loop, with lookups of its own. */
  static HostChecks on(Context context, EgressRules rules) {
    ContextInternal internal = (ContextInternal) context;
    EventLoop eventLoop = internal.nettyEventLoop();
    return new HostChecks(new Names(internal.owner(), eventLoop, Names.MOST), rules, eventLoop);
  }

  /**
   * Finds among these hosts those that have addresses, all of them forbidden.
   *
   * @param told gets them, on the event loop, when all are looked up or the time is over
   */
  void findForbidden(Set<String> hosts, Duration patience, Consumer<Set<String>> told) {
    Search search = new Search(hosts.iterator(), told);
    search.end = eventLoop.schedule(search::finish, patience.toNanos(), TimeUnit.NANOSECONDS);
    search.goOn();
  }

  /** What one has asked for. */
  private final class Search {
    private final Iterator<String> left;
    private final Consumer<Set<String>> told;
    private final Set<String> forbidden = new HashSet<>();
    private @Nullable ScheduledFuture<?> end;
    private int open;
    private boolean beginning;
    private boolean finished;

    Search(Iterator<String> left, Consumer<Set<String>> told) {
      this.left = left;
      this.told = told;
    }

    /** Begins as many as may be under way. A name that is known already is done at once. */
    void goOn() {
      if (finished || beginning) {
        return;
      }
      beginning = true;
      for (int i = 0; i < MOST_IN_A_TURN && left.hasNext() && open < MOST_OF_ONE; i++) {
        begin(left.next());
      }
      beginning = false;
      if (!left.hasNext() && open == 0) {
        finish();
      } else if (left.hasNext() && open < MOST_OF_ONE) {
        eventLoop.execute(this::goOn);
      }
    }

    private void begin(String host) {
      if (underWay == MOST_AT_ONCE) {
        return;
      }
      underWay++;
      open++;
      names.lookUp(host, found -> lookedUp(host, found));
    }

    /** Counts as under way until here, also when nobody waits for it any more. */
    private void lookedUp(String host, @Nullable List<InetAddress> found) {
      underWay--;
      open--;
      if (found != null && !found.isEmpty() && found.stream().noneMatch(rules::permits)) {
        forbidden.add(host);
      }
      goOn();
    }

    private void finish() {
      if (!finished) {
        finished = true;
        if (end != null) {
          end.cancel(false);
        }
        told.accept(Set.copyOf(forbidden));
      }
    }
  }
}
