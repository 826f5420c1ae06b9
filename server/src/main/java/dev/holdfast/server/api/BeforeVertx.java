package dev.holdfast.server.api;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * Stands between the decoder and Vert.x, and keeps from it what it would not do well with.
 *
 * <p>Versions of HTTP that are not spoken here: Vert.x answers in the version that it does not
 * know, with a 501 and no body. Such a request is made one that is not HTTP, and answered as those
 * are.
 *
 * <p>Buffers that have to be released: Vert.x queues what comes while it answers an earlier request
 * of the connection, and forgets the queue when the connection ends. Whoever sends many requests
 * ahead and goes away would use up all memory outside the heap. It gets copies on the heap, which
 * it would make itself a moment later.
 */
@Sharable
final class BeforeVertx extends ChannelInboundHandlerAdapter {
  private static final BeforeVertx ONLY = new BeforeVertx();

  private BeforeVertx() {}

  static void stand(HttpConnection connection) {
    ChannelHandlerContext handler = ((ConnectionBase) connection).channelHandlerContext();
    handler.pipeline().addBefore(handler.name(), null, ONLY);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest request) {
      checkVersion(request);
    }
    context.fireChannelRead(
        message instanceof HttpContent content && content.content().isReadable()
            ? onHeap(content)
            : message);
  }

  /** Vert.x knows its two versions only by the constants that stand for them. */
  private static void checkVersion(HttpRequest request) {
    HttpVersion version = request.protocolVersion();
    if (version.equals(HttpVersion.HTTP_1_0)) {
      request.setProtocolVersion(HttpVersion.HTTP_1_0);
      return;
    }
    if (!version.equals(HttpVersion.HTTP_1_1) && request.decoderResult().isSuccess()) {
      request.setDecoderResult(
          DecoderResult.failure(new IllegalArgumentException("unknown: " + version)));
    }
    request.setProtocolVersion(HttpVersion.HTTP_1_1);
  }

  private static HttpContent onHeap(HttpContent content) {
    try {
      HttpContent copy =
          content.replace(Unpooled.wrappedBuffer(ByteBufUtil.getBytes(content.content())));
      copy.setDecoderResult(content.decoderResult());
      return copy;
    } finally {
      content.release();
    }
  }
}
