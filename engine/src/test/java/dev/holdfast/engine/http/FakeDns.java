package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A name server that knows a few addresses, and answers nothing at all about some names. */
final class FakeDns implements AutoCloseable {
  private static final int V4 = 1;
  private static final int V6 = 28;

  /** Knows the addresses of a name; nothing when there is no such name. */
  @FunctionalInterface
  interface Known {

    /**
     * All addresses, whichever are asked for.
     *
     * @param type what is asked for; a name is asked about once for each
     */
    @Nullable List<String> addresses(String name, Type type);
  }

  /** A kind of address. */
  enum Type {
    A,
    AAAA
  }

  /** The names that it was asked about. */
  final Set<String> asked = new ConcurrentSkipListSet<>();

  private final DatagramSocket socket;
  private final Known known;
  private final Set<String> ignored;
  private final int timeToLiveSeconds;
  private final AtomicInteger queries = new AtomicInteger();

  FakeDns(Map<String, List<String>> names, List<String> ignored) {
    this((name, _) -> names.get(name), ignored, 60);
  }

  /** One that may say something else each time. */
  FakeDns(Known known) {
    this(known, List.of(), 0);
  }

  private FakeDns(Known known, List<String> ignored, int timeToLiveSeconds) {
    this.known = known;
    this.ignored = Set.copyOf(ignored);
    this.timeToLiveSeconds = timeToLiveSeconds;
    try {
      this.socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::serve);
  }

  String address() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  /** How many have come. */
  int queries() {
    return queries.get();
  }

  private void serve() {
    try {
      while (true) {
        DatagramPacket packet = new DatagramPacket(new byte[512], 512);
        socket.receive(packet);
        ByteBuffer query = ByteBuffer.wrap(packet.getData(), 0, packet.getLength());
        queries.incrementAndGet();
        byte[] answer = answer(query);
        if (answer.length > 0) {
          socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
        }
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private byte[] answer(ByteBuffer query) {
    short id = query.getShort(0);
    query.position(12);
    StringBuilder name = new StringBuilder();
    for (int length = query.get(); length > 0; length = query.get()) {
      byte[] label = new byte[length];
      query.get(label);
      name.append(name.isEmpty() ? "" : ".").append(new String(label, US_ASCII));
    }
    int type = query.getShort();
    int end = query.position() + 2;
    asked.add(name.toString());
    if (ignored.contains(name.toString())) {
      return new byte[0];
    }
    List<String> addresses = known.addresses(name.toString(), type == V6 ? Type.AAAA : Type.A);
    List<byte[]> found =
        addresses == null
            ? List.of()
            : addresses.stream()
                .map(NetUtil::createByteArrayFromIpAddressString)
                .filter(address -> type == (address.length == 4 ? V4 : V6))
                .toList();
    ByteBuffer answer = ByteBuffer.allocate(512);
    answer.putShort(id);
    answer.putShort((short) (addresses == null ? 0x8183 : 0x8180));
    answer.putShort((short) 1).putShort((short) found.size()).putInt(0);
    answer.put(query.slice(12, end - 12));
    for (byte[] address : found) {
      answer.putShort((short) 0xc00c).putShort((short) type).putShort((short) 1);
      answer.putInt(timeToLiveSeconds).putShort((short) address.length).put(address);
    }
    byte[] bytes = new byte[answer.position()];
    answer.flip().get(bytes);
    return bytes;
  }

  @Override
  public void close() {
    socket.close();
  }
}
