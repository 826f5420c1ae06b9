package dev.holdfast.engine.egress;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses of this machine's interfaces, public ones among them.
 *
 * <p>To ask the system for them takes its time. So they are asked for once at the start, and then
 * again, on a thread apart, when somebody wants to know and a minute has passed. Whoever asks never
 * waits, and gets what was found last.
 */
final class OwnAddresses {

  /** What the rules know of the machine that they are on. */
  @FunctionalInterface
  interface Known {
    boolean contains(InetAddress address);
  }

  private static final Logger log = LoggerFactory.getLogger(OwnAddresses.class);
  private static final long GOOD_FOR_NANOS = Duration.ofMinutes(1).toNanos();
  private static final OwnAddresses OF_THIS_MACHINE = new OwnAddresses();

  private final AtomicLong askedAt = new AtomicLong(System.nanoTime());
  private volatile Set<InetAddress> found = Set.of();

  private OwnAddresses() {
    ask();
  }

  static Known ofThisMachine() {
    return OF_THIS_MACHINE::contains;
  }

  private boolean contains(InetAddress address) {
    long now = System.nanoTime();
    long before = askedAt.get();
    if (now - before > GOOD_FOR_NANOS && askedAt.compareAndSet(before, now)) {
      Thread.ofPlatform().name("holdfast-own-addresses").daemon().start(this::ask);
    }
    return found.contains(address);
  }

  private void ask() {
    try {
      Set<InetAddress> addresses = new HashSet<>();
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .forEach(addresses::add);
      found = Set.copyOf(addresses);
    } catch (SocketException | RuntimeException e) {
      log.warn("egress.own-addresses-unknown next=\"going on with those found before\"", e);
    }
  }
}
