package dev.holdfast.server.api;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A connection on which a test sends whatever it likes. */
final class RawClient implements AutoCloseable {
  private static final int READ_MILLIS = 20_000;

  private final Socket socket;

  RawClient(int port) throws IOException {
    this(port, 0);
  }

  /** One that takes about so much before it is read; as much as is usual when 0. */
  RawClient(int port, int receiveBytes) throws IOException {
    socket = new Socket();
    if (receiveBytes > 0) {
      socket.setReceiveBufferSize(receiveBytes);
    }
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    socket.setSoTimeout(READ_MILLIS);
    socket.setTcpNoDelay(true);
  }

  RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
    return this;
  }

  /** The next answer's head. */
  String head() throws IOException {
    StringBuilder head = new StringBuilder();
    InputStream in = socket.getInputStream();
    while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
      int b = in.read();
      if (b < 0) {
        throw new IOException("closed after: " + head);
      }
      head.append((char) b);
    }
    return head.toString();
  }

  /** The body that the head declares. */
  byte[] body(String head) throws IOException {
    int length = 0;
    for (String line : head.split("\r\n", -1)) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(line.substring("content-length:".length()).strip());
      }
    }
    return socket.getInputStream().readNBytes(length);
  }

  /**
   * The next answer: its head, and the body that the head declares. It must be one that the OpenAPI
   * document has.
   */
  String answer() throws IOException {
    String head = head();
    byte[] body = body(head);
    if (!head.startsWith("HTTP/1.1 1")) {
      Documented.check(Documented.Answer.of(head, body));
    }
    return head + new String(body, StandardCharsets.UTF_8);
  }

  /** Says that no more is sent. */
  void endSending() throws IOException {
    socket.shutdownOutput();
  }

  /** Ends the connection without a goodbye. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  /** All that comes until the other side ends the connection. */
  String untilClosed(Charset charset) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] some = new byte[4_096];
    try {
      int count = socket.getInputStream().read(some);
      while (count >= 0) {
        all.write(some, 0, count);
        count = socket.getInputStream().read(some);
      }
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException _) {
      // a reset ends it, too
    }
    return all.toString(charset);
  }

  /** Whether the other side ends the connection; false when it does not within the time-out. */
  boolean isClosed() {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException _) {
      return false;
    } catch (IOException _) {
      return true;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
