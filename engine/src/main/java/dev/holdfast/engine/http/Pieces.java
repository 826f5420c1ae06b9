package dev.holdfast.engine.http;

import dev.holdfast.engine.format.Body;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** What is left of a body, to be taken in pieces. */
final class Pieces {

  /** The largest piece. */
  static final int BYTES = 16 * 1024;

  private final byte[][] parts;
  private int part;
  private int offset;
  private int left;

  Pieces(Body body) {
    this.parts = body.parts();
    this.left = body.length();
  }

  boolean isEmpty() {
    return left == 0;
  }

  /** The next of it. */
  ByteBuf next(ByteBufAllocator allocator) {
    int length = Math.min(left, BYTES);
    ByteBuf piece = allocator.directBuffer(length);
    while (piece.readableBytes() < length) {
      byte[] from = parts[part];
      int taken = Math.min(length - piece.readableBytes(), from.length - offset);
      piece.writeBytes(from, offset, taken);
      offset += taken;
      if (offset == from.length) {
        part++;
        offset = 0;
      }
    }
    left -= length;
    return piece;
  }
}
