package dev.holdfast.engine.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

/**
 * How much of what a server sends is read.
 *
 * <p>It stands before everything else that reads, and counts bytes as they come off the wire. So
 * whatever a server may think of, be it certificates, headers, interim answers or frames that mean
 * nothing, it takes no more memory and no more work than this much of it.
 */
final class Ration extends ChannelInboundHandlerAdapter {

  /** What each attempt is good for: its answer, and the handshake before it. */
  static final int ATTEMPT_BYTES = 64 * 1024;

  /** What the handlers behind are told. */
  enum Event {
    /** The server has sent too much, and nothing more of it comes. */
    EXCEEDED
  }

  private final Deadlines deadlines;
  private int left = ATTEMPT_BYTES;

  Ration(Deadlines deadlines) {
    this.deadlines = deadlines;
  }

  /** Another attempt begins, alone on its connection. */
  void renew() {
    left = ATTEMPT_BYTES;
  }

  /**
   * Another attempt begins beside others. What earlier ones have not used does not add up.
   *
   * @param open how many there are now
   */
  void started(int open) {
    if (left >= 0) {
      left = Math.min(left + ATTEMPT_BYTES, most(open));
    }
  }

  /**
   * An attempt has ended, and the server has nothing more to say about it.
   *
   * @param open how many there are now
   */
  void ended(int open) {
    left = Math.min(left, most(open));
  }

  /** What attempts may use, and as much for what is about none of them. */
  private static int most(int open) {
    return (open + 1) * ATTEMPT_BYTES;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    int length = message instanceof ByteBuf bytes ? bytes.readableBytes() : 0;
    if (length <= left) {
      left -= length;
      context.fireChannelRead(message);
      return;
    }
    ReferenceCountUtil.release(message);
    if (left >= 0) {
      left = -1;
      context.fireUserEventTriggered(Event.EXCEEDED);
    }
  }

  /** Thousands of servers may have sent something, and other attempts do not end later for it. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.fireChannelReadComplete();
    deadlines.look();
  }
}
