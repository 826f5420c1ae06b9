package dev.holdfast.proof.stage;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a process and something that it reaches by TCP on this machine: lets everything
 * through, or cuts it, holds it back or slows it down.
 *
 * <p>It counts round trips: how often something goes back after something has gone out.
 */
public final class Proxy implements AutoCloseable {
  private static final int CHUNK_BYTES = 65_536;
  private static final int MOST_CHUNKS = 64;
  private static final byte[] END = new byte[0];
  private static final Duration LONGEST_CONNECT = Duration.ofSeconds(2);
  private static final Duration LOOK_EVERY = Duration.ofMillis(5);

  private final ServerSocket listener;
  private final Set<Pair> pairs = ConcurrentHashMap.newKeySet();
  private final AtomicLong roundTrips = new AtomicLong();
  private volatile int target;
  private volatile boolean cut;
  private volatile boolean held;
  private volatile long delayNanos;

  /** Begins to listen, and connects everybody to a port of this machine. */
  public Proxy(int target) throws IOException {
    this.target = target;
    this.listener = new ServerSocket(0, 256, InetAddress.ofLiteral("127.0.0.1"));
    Thread.ofPlatform().daemon().name("proxy").start(this::listen);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** Where new connections go from now on. */
  public void target(int port) {
    target = port;
  }

  /** Breaks all connections, and closes new ones at once, until {@link #heal}. */
  public void cut() {
    cut = true;
    breakAll();
  }

  /** Breaks all connections; new ones are let through. */
  public void breakAll() {
    pairs.forEach(Pair::close);
  }

  /** Lets nothing through any more, in either direction, and tells nobody. */
  public void hold() {
    held = true;
  }

  /** Takes this much time for everything, in each direction. */
  public void slow(Duration delay) {
    delayNanos = delay.toNanos();
  }

  /** Lets everything through again; what was held back comes first. */
  public void heal() {
    cut = false;
    held = false;
    delayNanos = 0;
  }

  /** How often something came back after something went out, over all connections. */
  public long roundTrips() {
    return roundTrips.get();
  }

  private void listen() {
    try {
      while (true) {
        Socket near = listener.accept();
        if (cut) {
          near.close();
        } else {
          Thread.ofVirtual().start(() -> connect(near));
        }
      }
    } catch (IOException e) {
      if (!listener.isClosed()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void connect(Socket near) {
    Socket far = new Socket();
    Pair pair = new Pair(near, far);
    try {
      far.connect(
          new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), target),
          (int) LONGEST_CONNECT.toMillis());
      near.setTcpNoDelay(true);
      far.setTcpNoDelay(true);
    } catch (IOException e) {
      pair.close();
      return;
    }
    pairs.add(pair);
    if (cut) {
      pair.close();
    }
    pair.start();
  }

  /** One connection to us, and the one that we have made for it. */
  private final class Pair {
    private final Socket near;
    private final Socket far;
    private final AtomicBoolean asked = new AtomicBoolean();

    Pair(Socket near, Socket far) {
      this.near = near;
      this.far = far;
    }

    void start() {
      new Pump(this, near, far, () -> asked.set(true)).start();
      new Pump(
              this,
              far,
              near,
              () -> {
                if (asked.getAndSet(false)) {
                  roundTrips.incrementAndGet();
                }
              })
          .start();
    }

    void close() {
      pairs.remove(this);
      for (Socket socket : new Socket[] {near, far}) {
        try {
          socket.close();
        } catch (IOException e) {
          // It is of no use any more either way.
        }
      }
    }
  }

  private record Chunk(byte[] bytes, long atNanos) {}

  /** One direction of a connection. */
  private final class Pump {
    private final Pair pair;
    private final Socket from;
    private final Socket to;
    private final Runnable each;
    private final BlockingQueue<Chunk> chunks = new LinkedBlockingQueue<>(MOST_CHUNKS);

    Pump(Pair pair, Socket from, Socket to, Runnable each) {
      this.pair = pair;
      this.from = from;
      this.to = to;
      this.each = each;
    }

    void start() {
      Thread.ofVirtual().start(() -> guarded(this::read));
      Thread.ofVirtual().start(() -> guarded(this::write));
    }

    private void guarded(Step step) {
      try {
        step.run();
      } catch (IOException e) {
        pair.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        pair.close();
      }
    }

    private void read() throws IOException, InterruptedException {
      InputStream in = from.getInputStream();
      byte[] buffer = new byte[CHUNK_BYTES];
      try {
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
          each.run();
          chunks.put(new Chunk(Arrays.copyOf(buffer, length), System.nanoTime()));
        }
      } finally {
        chunks.put(new Chunk(END, System.nanoTime()));
      }
    }

    private void write() throws IOException, InterruptedException {
      OutputStream out = to.getOutputStream();
      while (true) {
        Chunk chunk = chunks.take();
        while (held || System.nanoTime() < chunk.atNanos + delayNanos) {
          Thread.sleep(LOOK_EVERY);
        }
        if (chunk.bytes.length == 0) {
          pair.close();
          return;
        }
        out.write(chunk.bytes);
        out.flush();
      }
    }
  }

  private interface Step {
    void run() throws IOException, InterruptedException;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut = true;
    held = false;
    breakAll();
  }
}
