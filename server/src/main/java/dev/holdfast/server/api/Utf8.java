package dev.holdfast.server.api;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Tells whether bytes are UTF-8. Plain ASCII, the usual case, is looked at eight by eight. */
final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long NOT_ASCII = 0x8080_8080_8080_8080L;
  private static final int DECODED_CHARS = 4_096;

  private Utf8() {}

  static boolean isValid(byte[] bytes) {
    int ascii = asciiPrefix(bytes);
    return ascii == bytes.length || decodes(bytes, ascii);
  }

  private static int asciiPrefix(byte[] bytes) {
    int i = 0;
    int whole = bytes.length & -Long.BYTES;
    while (i < whole && ((long) LONGS.get(bytes, i) & NOT_ASCII) == 0) {
      i += Long.BYTES;
    }
    while (i < bytes.length && bytes[i] >= 0) {
      i++;
    }
    return i;
  }

  private static boolean decodes(byte[] bytes, int from) {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes, from, bytes.length - from);
    CharBuffer out = CharBuffer.allocate(Math.min(DECODED_CHARS, in.remaining() + 1));
    while (true) {
      CoderResult result = decoder.decode(in, out, true);
      if (result.isError()) {
        return false;
      }
      if (result.isUnderflow()) {
        return true;
      }
      out.clear();
    }
  }
}
