package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The other end of a connection, writing HTTP/2 frame by frame, as it should or not. */
final class Http2Peer {
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int PRIORITY = 2;
  static final int RST_STREAM = 3;
  static final int SETTINGS = 4;
  static final int PUSH_PROMISE = 5;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;
  static final int CONTINUATION = 9;

  static final int END_STREAM = 1;
  static final int ACK = 1;
  static final int END_HEADERS = 4;

  static final int NO_ERROR = 0;
  static final int REFUSED_STREAM = 7;
  static final int CANCEL = 8;

  /** {@code :status: 200} is the eighth of HPACK's static table. */
  static final byte[] OK = {(byte) 0x88};

  private static final int PREFACE_BYTES = 24;

  final Receiver.Peer peer;

  /** How much could be written before the other side had had enough. */
  long written;

  /** A frame. */
  record Frame(int type, int flags, int stream, byte[] payload) {

    boolean isEnd() {
      return (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
    }

    int number() {
      return ByteBuffer.wrap(payload).getInt();
    }
  }

  Http2Peer(Receiver.Peer peer) {
    this.peer = peer;
  }

  /** Reads what a client begins with, and sends settings. */
  static Http2Peer greeting(Receiver.Peer peer, int... settings) throws IOException {
    Http2Peer http2 = new Http2Peer(peer);
    http2.preface();
    http2.settings(settings);
    return http2;
  }

  void preface() throws IOException {
    String preface = new String(peer.in().readNBytes(PREFACE_BYTES), US_ASCII);
    if (!preface.equals("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) {
      throw new EOFException("no HTTP/2");
    }
  }

  /**
   * Sends settings.
   *
   * @param settings numbers and values, in turns
   */
  void settings(int... settings) throws IOException {
    ByteBuffer payload = ByteBuffer.allocate(settings.length * 3);
    for (int i = 0; i < settings.length; i += 2) {
      payload.putShort((short) settings[i]).putInt(settings[i + 1]);
    }
    frame(SETTINGS, 0, 0, payload.array());
  }

  Frame read() throws IOException {
    byte[] head = peer.in().readNBytes(9);
    if (head.length < 9) {
      throw new EOFException("the sender closed the connection");
    }
    int length = ByteBuffer.wrap(new byte[] {0, head[0], head[1], head[2]}).getInt();
    int stream = ByteBuffer.wrap(head, 5, 4).getInt();
    return new Frame(head[3], head[4], stream, peer.in().readNBytes(length));
  }

  /** Reads until a request is there, and returns its stream. */
  int request() throws IOException {
    while (true) {
      Frame frame = next();
      if (frame.isEnd()) {
        return frame.stream();
      }
    }
  }

  /** Reads until the headers of a request are there, and returns its stream. */
  int requestHead() throws IOException {
    return await(HEADERS).stream();
  }

  /** Reads until there is a frame of a kind. */
  Frame await(int type) throws IOException {
    while (true) {
      Frame frame = next();
      if (frame.type() == type) {
        return frame;
      }
    }
  }

  /** Reads a frame, and does what has to be done about settings and windows. */
  private Frame next() throws IOException {
    Frame frame = read();
    if (frame.type() == SETTINGS && (frame.flags() & ACK) == 0) {
      frame(SETTINGS, ACK, 0);
    } else if (frame.type() == DATA && frame.payload().length > 0) {
      windowUpdate(0, frame.payload().length);
      if (!frame.isEnd()) {
        windowUpdate(frame.stream(), frame.payload().length);
      }
    }
    return frame;
  }

  void windowUpdate(int stream, int more) throws IOException {
    frame(WINDOW_UPDATE, 0, stream, number(more));
  }

  void answer(int stream) throws IOException {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, OK);
  }

  void reset(int stream, int error) throws IOException {
    frame(RST_STREAM, 0, stream, number(error));
  }

  void goAway(int lastStream, int error) throws IOException {
    frame(GOAWAY, 0, 0, ByteBuffer.allocate(8).putInt(lastStream).putInt(error).array());
  }

  void frame(int type, int flags, int stream, byte... payload) throws IOException {
    write(bytes(type, flags, stream, payload));
  }

  void write(byte[] bytes) throws IOException {
    peer.out().write(bytes);
    peer.out().flush();
    written += bytes.length;
  }

  /** The same frame again and again, until the other side has had enough. */
  void flood(int type, int flags, int stream, byte... payload) throws IOException {
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int i = 0; i < 200; i++) {
      many.writeBytes(bytes(type, flags, stream, payload));
    }
    while (true) {
      write(many.toByteArray());
    }
  }

  static byte[] bytes(int type, int flags, int stream, byte... payload) {
    return ByteBuffer.allocate(9 + payload.length)
        .put((byte) (payload.length >> 16))
        .putShort((short) payload.length)
        .put((byte) type)
        .put((byte) flags)
        .putInt(stream)
        .put(payload)
        .array();
  }

  static byte[] number(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  /** A header as HPACK has it, not to be remembered. */
  static byte[] header(String name, String value) {
    return literal(0x00, name, value);
  }

  /** A header as HPACK has it, to be remembered. */
  static byte[] remembered(String name, String value) {
    return literal(0x40, name, value);
  }

  private static byte[] literal(int kind, String name, String value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(kind);
    string(name, out);
    string(value, out);
    return out.toByteArray();
  }

  private static void string(String text, ByteArrayOutputStream out) {
    int length = text.length();
    if (length < 127) {
      out.write(length);
    } else {
      out.write(127);
      length -= 127;
      while (length >= 128) {
        out.write((length & 127) | 128);
        length >>= 7;
      }
      out.write(length);
    }
    out.writeBytes(text.getBytes(US_ASCII));
  }

  static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }
}
