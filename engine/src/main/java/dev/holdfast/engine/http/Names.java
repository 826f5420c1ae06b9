package dev.holdfast.engine.http;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.vertx.core.internal.VertxInternal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Looks names up. Lives on the sender's event loop. */
final class Names {
  private final VertxInternal vertx;
  private final EventLoop eventLoop;

  Names(VertxInternal vertx, EventLoop eventLoop) {
    this.vertx = vertx;
    this.eventLoop = eventLoop;
  }

  /**
   * Finds all addresses of a host, v4 and v6.
   *
   * @param found gets them, on the event loop; or nothing when the name could not be looked up
   */
  void lookUp(String host, Consumer<@Nullable List<InetAddress>> found) {
    vertx
        .nameResolver()
        .resolveAll(eventLoop, host)
        .addListener(
            (Future<List<InetSocketAddress>> result) ->
                found.accept(result.isSuccess() ? addresses(result.getNow()) : null));
  }

  private static List<InetAddress> addresses(List<InetSocketAddress> found) {
    List<InetAddress> addresses = new ArrayList<>(found.size());
    for (InetSocketAddress address : found) {
      addresses.add(address.getAddress());
    }
    return addresses;
  }
}
