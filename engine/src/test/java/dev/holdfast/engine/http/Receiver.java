package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A server on a real socket that does to each connection what a test tells it to. */
final class Receiver implements AutoCloseable {

  /** What to do with a connection. It is closed afterwards. */
  interface Script {
    void run(Peer peer) throws Exception;
  }

  /** The other end of a connection. */
  record Peer(Socket socket, InputStream in, OutputStream out, BlockingQueue<Request> seen) {

    /** Reads a request; fails when there is none. */
    Request request() throws IOException {
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
        int b = in.read();
        if (b < 0) {
          throw new EOFException("the sender closed the connection");
        }
        head.write(b);
      }
      List<String> lines = head.toString(ISO_8859_1).lines().filter(l -> !l.isEmpty()).toList();
      Request headers = new Request(lines, new byte[0]);
      byte[] body = in.readNBytes(Integer.parseInt(headers.header("content-length")));
      Request request = new Request(lines, body);
      seen.add(request);
      return request;
    }

    void write(String text) throws IOException {
      out.write(text.getBytes(ISO_8859_1));
      out.flush();
    }

    /** Waits until the other side closes the connection. */
    void awaitClose() throws IOException {
      try {
        while (in.read() >= 0) {}
      } catch (IOException e) {
        // Reset is closed, too.
      }
    }
  }

  /** A request as it came over the wire. */
  record Request(List<String> lines, byte[] body) {

    String header(String name) {
      return headers(name).getFirst();
    }

    List<String> headers(String name) {
      String start = name.toLowerCase(Locale.ROOT) + ": ";
      return lines.stream()
          .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(start))
          .map(line -> line.substring(start.length()))
          .toList();
    }
  }

  private final ServerSocket server;
  private final Script script;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final BlockingQueue<Request> seen = new LinkedBlockingQueue<>();

  private Receiver(ServerSocket server, Script script) {
    this.server = server;
    this.script = script;
  }

  static Receiver start(Script script) {
    try {
      return start(new ServerSocket(0, 4_096, InetAddress.getLoopbackAddress()), script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Receiver start(ServerSocket server, Script script) {
    Receiver receiver = new Receiver(server, script);
    Thread.ofVirtual().start(receiver::accept);
    return receiver;
  }

  /** Answers every request of every connection with these bytes. */
  static Receiver answering(String answer) {
    return start(
        peer -> {
          while (true) {
            peer.request();
            peer.write(answer);
          }
        });
  }

  int port() {
    return server.getLocalPort();
  }

  String url() {
    return "http://127.0.0.1:" + port() + "/hook";
  }

  int connections() {
    return sockets.size();
  }

  Request seen() throws InterruptedException {
    Request request = seen.poll(10, TimeUnit.SECONDS);
    if (request == null) {
      throw new AssertionError("no request came");
    }
    return request;
  }

  int unreadRequests() {
    return seen.size();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      script.run(new Peer(socket, socket.getInputStream(), socket.getOutputStream(), seen));
    } catch (Exception e) {
      // The sender went away, as it may.
    }
  }

  @Override
  public void close() {
    try {
      server.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
