package dev.holdfast.engine.store.postgres;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a store and its server, and cuts the connection that the next batch comes by,
 * once: as it is told to.
 */
public final class CuttingProxy implements AutoCloseable {
  /** What every batch begins with. */
  private static final String OF_BATCH = "holdfast_begin";

  /** The message that ends what is sent at once. */
  private static final byte[] SYNC = {'S', 0, 0, 0, 4};

  private final ServerSocket server;
  private final String host;
  private final int port;
  private final String url;
  private final AtomicReference<@Nullable Cut> next = new AtomicReference<>();
  private final BlockingQueue<Held> held = new LinkedBlockingQueue<>();
  private final CountDownLatch cut = new CountDownLatch(1);

  /** Where a connection is cut. */
  public enum Cut {
    /** The batch does not reach the server. */
    BEFORE_SERVER,
    /** The server has answered, and the answer does not reach the store. */
    BEFORE_ANSWER,
    /** The batch reaches the server when it is let go, long after the store has lost it. */
    UNTIL_LET_GO
  }

  private record Held(Socket server, byte[] bytes, CompletableFuture<String> answer) {}

  /** Stands before the server of this URL. */
  public CuttingProxy(String url) throws IOException {
    URI uri = URI.create(url.substring("jdbc:".length()));
    this.host = uri.getHost();
    this.port = uri.getPort();
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.url =
        url.replace(host + ":" + port, "127.0.0.1:" + server.getLocalPort()) + "&sslmode=disable";
    start(this::accept);
  }

  public String url() {
    return url;
  }

  /** Cuts the connection that the next batch comes by. */
  public void cutNext(Cut where) {
    next.set(where);
  }

  /** Waits until a connection was cut. */
  public void awaitCut() throws InterruptedException {
    cut.await();
  }

  /** Lets the batch go to the server that was held, and tells what that answered. */
  public String letGo() throws Exception {
    Held late = held.take();
    late.server().getOutputStream().write(late.bytes());
    late.server().shutdownOutput();
    return late.answer().get();
  }

  private static void start(Runnable work) {
    Thread.ofVirtual().start(work);
  }

  private void accept() {
    try {
      while (true) {
        Socket client = server.accept();
        Socket behind = new Socket(host, port);
        Link link = new Link(client, behind);
        start(link::toServer);
        start(link::toClient);
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  /** One connection. */
  private final class Link {
    private final Socket client;
    private final Socket behind;
    private final CompletableFuture<String> late = new CompletableFuture<>();
    private volatile @Nullable Cut cutting;

    Link(Socket client, Socket behind) {
      this.client = client;
      this.behind = behind;
    }

    void toServer() {
      try {
        InputStream in = client.getInputStream();
        OutputStream out = behind.getOutputStream();
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        byte[] buffer = new byte[64 << 10];
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
          String text = new String(buffer, 0, count, StandardCharsets.ISO_8859_1);
          if (next.get() != null && text.contains(OF_BATCH)) {
            cutting = next.getAndSet(null);
          }
          if (cutting == null || cutting == Cut.BEFORE_ANSWER) {
            out.write(buffer, 0, count);
          } else {
            kept.write(buffer, 0, count);
            if (endsWithSync(kept.toByteArray())) {
              if (cutting == Cut.UNTIL_LET_GO) {
                held.add(new Held(behind, kept.toByteArray(), late));
              } else {
                behind.close();
              }
              client.close();
              cut.countDown();
              return;
            }
          }
        }
        behind.close();
      } catch (IOException e) {
        close();
      }
    }

    private static boolean endsWithSync(byte[] bytes) {
      return bytes.length >= SYNC.length
          && Arrays.equals(bytes, bytes.length - SYNC.length, bytes.length, SYNC, 0, SYNC.length);
    }

    void toClient() {
      try {
        InputStream in = behind.getInputStream();
        OutputStream out = client.getOutputStream();
        byte[] buffer = new byte[64 << 10];
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
          if (cutting == Cut.UNTIL_LET_GO) {
            kept.write(buffer, 0, count);
          } else if (cutting == Cut.BEFORE_ANSWER) {
            if (isReady(buffer, count)) {
              close();
              cut.countDown();
              return;
            }
          } else {
            out.write(buffer, 0, count);
          }
        }
        late.complete(kept.toString(StandardCharsets.ISO_8859_1));
      } catch (IOException e) {
        late.completeExceptionally(e);
        close();
      }
    }

    /** Whether the answer is at its end. */
    private static boolean isReady(byte[] buffer, int count) {
      return count >= 6 && buffer[count - 6] == 'Z' && buffer[count - 2] == 5;
    }

    private void close() {
      try {
        client.close();
        behind.close();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
