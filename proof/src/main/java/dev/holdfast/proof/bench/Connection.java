package dev.holdfast.proof.bench;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the server that has at most one request in flight.
 *
 * <p>It writes prepared bytes and reads no more of an answer than it must: what the load generator
 * spends on a request is missing on the machine that it measures.
 */
final class Connection {
  private static final long REOPEN_AFTER_MILLIS = 100;

  /** Who is told what becomes of the requests. */
  interface Owner {
    /** The connection can send its first request, or its next after it broke. */
    void ready(Connection connection);

    void answered(Connection connection, int status);

    /** Nobody knows what became of the request that was in flight. */
    void broken(Connection connection);
  }

  private final Vertx vertx;
  private final NetClient client;
  private final int port;
  private final EventRequest request;
  private final Owner owner;
  private final AnswerReader reader = new AnswerReader();
  private @Nullable NetSocket socket;
  private boolean inFlight;
  private boolean closed;

  Connection(Vertx vertx, NetClient client, LoadPlan plan, Owner owner) {
    this.vertx = vertx;
    this.client = client;
    this.port = plan.get(Setting.PORT);
    this.request = new EventRequest(plan);
    this.owner = owner;
  }

  EventRequest request() {
    return request;
  }

  /** Whether a request can be sent now. */
  boolean isIdle() {
    return socket != null && !inFlight;
  }

  /** The beginning of the last answer. */
  String answer() {
    return reader.text();
  }

  void open() {
    client.connect(port, Control.LOCALHOST).onSuccess(this::opened).onFailure(_ -> reopen());
  }

  /** Sends nothing more and opens no more. */
  void close() {
    closed = true;
    if (socket != null) {
      socket.close();
    }
  }

  void send(int firstNumber, long sentAtNanos) {
    NetSocket target = socket;
    if (target == null || inFlight) {
      throw new IllegalStateException("not ready to send");
    }
    inFlight = true;
    reader.clear();
    target.write(request.stamped(firstNumber, sentAtNanos));
  }

  private void opened(NetSocket opened) {
    if (closed) {
      opened.close();
      return;
    }
    socket = opened;
    opened.handler(this::received);
    opened.closeHandler(_ -> lost());
    opened.exceptionHandler(_ -> opened.close());
    owner.ready(this);
  }

  private void received(Buffer chunk) {
    if (inFlight && reader.take(chunk)) {
      inFlight = false;
      owner.answered(this, reader.status());
    }
  }

  private void lost() {
    socket = null;
    if (inFlight) {
      inFlight = false;
      owner.broken(this);
    }
    reopen();
  }

  private void reopen() {
    if (!closed) {
      vertx.setTimer(REOPEN_AFTER_MILLIS, _ -> open());
    }
  }
}
