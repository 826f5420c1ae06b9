package dev.holdfast.server.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * An answer without an end of its own: events, as they come (server-sent events).
 *
 * <p>No time limit is kept for it, but it waits for nobody: one who does not read loses the
 * connection as soon as more is not read than fits. Lives on the event loop.
 */
final class EventStream {
  private static final Buffer COMMENT = Buffer.buffer(":\n\n");

  private final HttpServerResponse response;
  private final HttpConnection connection;
  private final Runnable whenOver;
  private boolean over;

  /**
   * @param whenOver told once, whoever ends it
   */
  EventStream(HttpServerResponse response, HttpConnection connection, Runnable whenOver) {
    this.response = response;
    this.connection = connection;
    this.whenOver = whenOver;
  }

  /** An event as it is sent, to any number of readers. */
  static Buffer event(String name, Buffer json) {
    return Buffer.buffer("event: " + name + "\ndata: ").appendBuffer(json).appendString("\n\n");
  }

  /** Sends an event, or ends the connection of one who does not read. */
  void send(Buffer event) {
    if (over) {
      return;
    }
    if (response.writeQueueFull()) {
      close();
      return;
    }
    try {
      var _ = response.write(event);
    } catch (IllegalStateException _) {
      // It has ended, and nobody has said so: others are told all the same.
      close();
    }
  }

  /** Not by Vert.x, which would wait until all of it is read. */
  private void close() {
    var _ = ((ConnectionBase) connection).channelHandlerContext().close();
  }

  /** Sends something that readers pass over, so that nobody takes the connection for dead. */
  void sendComment() {
    send(COMMENT);
  }

  boolean isOver() {
    return over;
  }

  /** There is nothing more to come. */
  void end() {
    if (!over) {
      gone();
      if (!response.ended()) {
        var _ =
            response
                .end()
                .onComplete(
                    _ -> {
                      if (!response.isChunked()) {
                        // HTTP/1.0 has no other way to tell where it ends.
                        close();
                      }
                    });
      }
    }
  }

  /** The connection is gone. */
  void gone() {
    if (!over) {
      over = true;
      whenOver.run();
    }
  }
}
