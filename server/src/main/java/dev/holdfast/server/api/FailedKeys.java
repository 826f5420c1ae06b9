package dev.holdfast.server.api;

import io.netty.util.NetUtil;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the keys that were refused, by where they came from, and tells the log of them.
 *
 * <p>Whoever sends many of them is asked to wait. That keeps nobody out who has a valid key: it is
 * asked only about those that have none, since many callers can have the same address. Lives on the
 * event loop.
 */
final class FailedKeys {
  private static final Logger log = LoggerFactory.getLogger(FailedKeys.class);

  private static final long WINDOW_NANOS = Duration.ofMinutes(1).toNanos();
  private static final int NETWORK_BYTES = 8;
  private static final int NETWORK_BITS = 64;
  private static final int ADDRESS_4_BYTES = 4;
  private static final int ADDRESS_6_BYTES = 16;

  /** Where the first twelve bytes of an address are these, the others are one of IPv4. */
  private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

  /** Why a key was refused. */
  enum Reason {
    UNKNOWN,
    EXPIRED
  }

  /** The longest known first. */
  private final Map<String, Source> sources = new LinkedHashMap<>();

  private long sweptAt = Connections.now();

  /** Lines that were told since the last sweep, and failures that were not, for want of lines. */
  private int lines;

  private long others;

  /** Some address, for a minute from its first failure on, and for longer if there are more. */
  private static final class Source {
    private long since;
    private int failures;
    private long untold;
    private long toldAt;

    Source(long now) {
      this.since = now;
      this.toldAt = now - WINDOW_NANOS;
    }
  }

  /**
   * A key was refused.
   *
   * @param address the caller's, as text
   * @param now monotonic, in nanoseconds
   * @return for how many seconds the caller is to send none; 0 if it may
   */
  int refused(@Nullable String address, Reason reason, long now) {
    String from = network(address);
    Source source = sources.get(from);
    if (source == null) {
      makeRoom();
      source = new Source(now);
      sources.put(from, source);
    } else if (now - source.since >= WINDOW_NANOS) {
      source.since = now;
      source.failures = 0;
    }
    source.failures++;
    source.untold++;
    tell(from, source, reason, now);
    if (source.failures <= ApiLimits.FAILED_KEYS) {
      return 0;
    }
    long left = source.since + WINDOW_NANOS - now;
    return (int) Math.max(1, Duration.ofNanos(left).plusMillis(999).toSeconds());
  }

  private void makeRoom() {
    if (sources.size() >= ApiLimits.FAILED_KEY_SOURCES) {
      Iterator<Source> oldest = sources.values().iterator();
      others += oldest.next().untold;
      oldest.remove();
    }
  }

  /** The first of an address, and then one line a minute, if there is not too much to tell. */
  private void tell(String from, Source source, @Nullable Reason reason, long now) {
    if (now - source.toldAt < WINDOW_NANOS) {
      return;
    }
    source.toldAt = now;
    if (lines >= ApiLimits.FAILED_KEY_LINES) {
      others += source.untold;
    } else {
      lines++;
      log.info(
          "api.key-refused address={} times={} last={}",
          from,
          source.untold,
          reason == null ? "earlier" : Json.kebab(reason));
    }
    source.untold = 0;
  }

  /** To be called now and then: tells what was not told yet, and forgets who was quiet. */
  void sweep(long now) {
    if (now - sweptAt < WINDOW_NANOS) {
      return;
    }
    sweptAt = now;
    lines = 0;
    for (Map.Entry<String, Source> entry : new HashMap<>(sources).entrySet()) {
      Source source = entry.getValue();
      if (source.untold > 0) {
        tell(entry.getKey(), source, null, now);
      }
      if (source.untold == 0 && now - source.since >= WINDOW_NANOS) {
        sources.remove(entry.getKey());
      }
    }
    if (others > 0) {
      log.info("api.key-refused address=others times={} last=earlier", others);
      others = 0;
    }
  }

  /** How many addresses are known. */
  int size() {
    return sources.size();
  }

  /**
   * Who an address stands for: itself, or with IPv6 its network, of whose addresses one caller can
   * have as many as it likes.
   */
  static String network(@Nullable String address) {
    byte[] bytes = address == null ? null : NetUtil.createByteArrayFromIpAddressString(address);
    if (bytes == null) {
      return "unknown";
    }
    if (bytes.length == ADDRESS_6_BYTES
        && Arrays.equals(MAPPED, 0, MAPPED.length, bytes, 0, MAPPED.length)) {
      bytes = Arrays.copyOfRange(bytes, MAPPED.length, ADDRESS_6_BYTES);
    }
    if (bytes.length == ADDRESS_4_BYTES) {
      return NetUtil.bytesToIpAddress(bytes);
    }
    byte[] network = Arrays.copyOf(Arrays.copyOf(bytes, NETWORK_BYTES), ADDRESS_6_BYTES);
    return NetUtil.bytesToIpAddress(network) + "/" + NETWORK_BITS;
  }
}
