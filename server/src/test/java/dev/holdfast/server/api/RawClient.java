package dev.holdfast.server.api;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A connection on which a test sends whatever it likes. */
final class RawClient implements AutoCloseable {
  private static final int READ_MILLIS = 20_000;

  private final Socket socket;

  RawClient(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
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
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    InputStream in = socket.getInputStream();
    while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int b = in.read();
      if (b < 0) {
        throw new IOException("closed after: " + head.toString(StandardCharsets.ISO_8859_1));
      }
      head.write(b);
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  /** The next answer: its head, and the body that the head declares. */
  String answer() throws IOException {
    String text = head();
    int length = 0;
    for (String line : text.split("\r\n", -1)) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(line.substring("content-length:".length()).strip());
      }
    }
    return text + new String(socket.getInputStream().readNBytes(length), StandardCharsets.UTF_8);
  }

  /** All that comes until the other side ends the connection. */
  String untilClosed() throws IOException {
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
    return all.toString(StandardCharsets.UTF_8);
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
