package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.NetClient;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Sends again on each connection as soon as it was answered, unless too much is undelivered.
 *
 * <p>The limit on what is undelivered makes the rate one that the server keeps up: without it the
 * server would accept faster than it delivers, and only its backlog would grow.
 */
final class ClosedLoop extends Traffic implements Connection.Owner {
  private static final long ASK_EVERY_MILLIS = 20;
  private static final long AFTER_REFUSAL_MILLIS = 100;

  private final Vertx vertx;
  private final LoadPlan plan;
  private final NetClient client;
  private final HttpClient asker;
  private final List<Connection> connections = new ArrayList<>();
  private final Deque<Connection> held = new ArrayDeque<>();
  private final int maxUndelivered;
  private final int maxEvents;
  private int nextNumber;
  private long delivered;

  /** What the receiver had got when this load began; below 0 until it has told. */
  private long arrivedBefore = -1;

  private boolean stopped;

  ClosedLoop(Vertx vertx, LoadPlan plan) {
    this.vertx = vertx;
    this.plan = plan;
    this.client = vertx.createNetClient();
    this.asker = vertx.createHttpClient();
    this.maxUndelivered = plan.get(Setting.MAX_UNDELIVERED);
    this.maxEvents = plan.get(Setting.MAX_EVENTS);
    this.nextNumber = plan.get(Setting.FIRST_NUMBER);
  }

  /** What arrived of loads before this one does not count, and is known before this one begins. */
  @Override
  void start() {
    if (maxUndelivered > 0) {
      ask();
    } else {
      open();
    }
  }

  private void open() {
    for (int i = 0; i < plan.get(Setting.CONNECTIONS); i++) {
      Connection connection = new Connection(vertx, client, plan, this);
      connections.add(connection);
      connection.open();
    }
  }

  @Override
  void stop() {
    stopped = true;
  }

  @Override
  void close() {
    stopped = true;
    connections.forEach(Connection::close);
    client.close();
    asker.close();
  }

  @Override
  public void ready(Connection connection) {
    next(connection);
  }

  @Override
  public void answered(Connection connection, int status) {
    EventRequest request = connection.request();
    if (status / 100 == 2) {
      accepted(request.events(), request.sentAtNanos());
      next(connection);
    } else {
      refused(request.events(), connection.answer());
      vertx.setTimer(AFTER_REFUSAL_MILLIS, _ -> next(connection));
    }
  }

  @Override
  public void broken(Connection connection) {
    unknown(connection.request().events());
  }

  private void next(Connection connection) {
    int events = connection.request().events();
    if (stopped || !connection.isIdle() || sent() + events > maxEvents) {
      return;
    }
    if (maxUndelivered > 0 && accepted() + inFlight() + events - delivered > maxUndelivered) {
      held.add(connection);
      return;
    }
    int number = nextNumber;
    nextNumber += events;
    sending(events);
    connection.send(number, System.nanoTime());
  }

  private void release() {
    for (int i = held.size(); i > 0; i--) {
      next(held.remove());
    }
  }

  private void arrived(long inAll) {
    if (arrivedBefore < 0) {
      arrivedBefore = inAll;
      if (!stopped) {
        open();
      }
    }
    delivered = inAll - arrivedBefore;
    release();
  }

  private void ask() {
    asker
        .request(
            HttpMethod.GET,
            plan.get(Setting.RECEIVER_PORT),
            Control.LOCALHOST,
            "/control/delivered?group=" + (char) plan.get(Setting.GROUP))
        .compose(request -> request.send().compose(HttpClientResponse::body))
        .onComplete(
            answer -> {
              Buffer body = answer.result();
              if (body != null) {
                arrived(Long.parseLong(body.toString()) / plan.get(Setting.COPIES));
              }
              if (!stopped) {
                vertx.setTimer(ASK_EVERY_MILLIS, _ -> ask());
              }
            });
  }
}
