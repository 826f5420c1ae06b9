package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetClient;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Sends each event when its time has come.
 *
 * <p>An event is marked with the time it was meant to go out at. When the server is slow and no
 * connection is free, the event goes out late and the wait counts: the load does not hold back to
 * spare the server's figures. The first is meant to go out when all connections are there: opening
 * them is not what is measured.
 */
final class OpenLoop extends Traffic implements Connection.Owner {
  private static final long NANOS = 1_000_000_000L;
  private static final long LONGEST_OPENING_MILLIS = 2_000;

  private final Vertx vertx;
  private final ContextInternal context;
  private final LoadPlan plan;
  private final NetClient client;
  private final List<Connection> connections = new ArrayList<>();
  private final Deque<Connection> idle = new ArrayDeque<>();
  private final int firstNumber;
  private final int rate;
  private int nextNumber;
  private long startNanos;
  private boolean started;
  private boolean stopped;

  OpenLoop(Vertx vertx, LoadPlan plan) {
    this.vertx = vertx;
    this.context = (ContextInternal) vertx.getOrCreateContext();
    this.plan = plan;
    this.client = vertx.createNetClient();
    this.firstNumber = plan.get(Setting.FIRST_NUMBER);
    this.rate = plan.get(Setting.RATE);
    this.nextNumber = firstNumber;
  }

  @Override
  void start() {
    for (int i = 0; i < plan.get(Setting.CONNECTIONS); i++) {
      Connection connection = new Connection(vertx, client, plan, this);
      connections.add(connection);
      connection.open();
    }
    // A server that does not let all of them connect is measured all the same.
    vertx.setTimer(LONGEST_OPENING_MILLIS, _ -> begin());
  }

  private void begin() {
    if (!started) {
      started = true;
      startNanos = System.nanoTime();
      tick();
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
  }

  @Override
  public void ready(Connection connection) {
    idle.remove(connection);
    idle.add(connection);
    if (!started && idle.size() == connections.size()) {
      begin();
    }
    sendDue();
  }

  @Override
  public void answered(Connection connection, int status) {
    if (status / 100 == 2) {
      accepted(1, connection.request().sentAtNanos());
    } else {
      refused(1, connection.answer());
    }
    idle.addFirst(connection);
    sendDue();
  }

  @Override
  public void broken(Connection connection) {
    unknown(1);
  }

  private void tick() {
    sendDue();
    if (!stopped) {
      // Vert.x's own timers count in milliseconds, which is too coarse to keep a schedule.
      long wait = Math.max(0, intended(nextNumber) - System.nanoTime());
      long sleep = idle.isEmpty() ? NANOS / 1_000 : wait;
      var _ = context.nettyEventLoop().schedule(this::tick, sleep, TimeUnit.NANOSECONDS);
    }
  }

  private void sendDue() {
    long now = System.nanoTime();
    while (started
        && !stopped
        && !idle.isEmpty()
        && intended(nextNumber) <= now
        && sent() < plan.get(Setting.MAX_EVENTS)) {
      Connection connection = idle.removeFirst();
      if (!connection.isIdle()) {
        continue;
      }
      int number = nextNumber++;
      sending(1);
      connection.send(number, intended(number));
    }
  }

  private long intended(int number) {
    return startNanos + (long) (number - firstNumber) * NANOS / rate;
  }
}
