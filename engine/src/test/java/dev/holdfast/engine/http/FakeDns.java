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
import java.util.concurrent.atomic.AtomicInteger;

/** A name server that knows a few IPv4 addresses, and answers nothing at all about some names. */
final class FakeDns implements AutoCloseable {
  private static final int ADDRESS = 1;

  private final DatagramSocket socket;
  private final Map<String, List<String>> names;
  private final Set<String> ignored;
  private final AtomicInteger queries = new AtomicInteger();

  FakeDns(Map<String, List<String>> names, List<String> ignored) {
    this.names = names;
    this.ignored = Set.copyOf(ignored);
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
    if (ignored.contains(name.toString())) {
      return new byte[0];
    }
    List<String> addresses =
        type == ADDRESS ? names.getOrDefault(name.toString(), List.of()) : List.of();
    ByteBuffer answer = ByteBuffer.allocate(512);
    answer.putShort(id);
    answer.putShort((short) (names.containsKey(name.toString()) ? 0x8180 : 0x8183));
    answer.putShort((short) 1).putShort((short) addresses.size()).putInt(0);
    answer.put(query.slice(12, end - 12));
    for (String address : addresses) {
      answer.putShort((short) 0xc00c).putShort((short) ADDRESS).putShort((short) 1).putInt(60);
      answer.putShort((short) 4).put(NetUtil.createByteArrayFromIpAddressString(address));
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
