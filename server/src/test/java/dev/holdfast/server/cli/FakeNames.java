package dev.holdfast.server.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.vertx.core.dns.AddressResolverOptions;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * A name server on this machine, so that no test asks a real one. It knows what it is told, never
 * answers about names that end in {@code .silent}, and says of all others that there are none.
 */
final class FakeNames implements AutoCloseable {
  private static final int V4 = 1;
  private static final int V6 = 28;

  /** What it was asked about. */
  final Set<String> asked = new ConcurrentSkipListSet<>();

  private final DatagramSocket socket;
  private final Map<String, List<String>> known;

  FakeNames(Map<String, List<String>> known) throws IOException {
    this.known = known;
    this.socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofVirtual().start(this::serve);
  }

  AddressResolverOptions options() {
    return new AddressResolverOptions()
        .addServer("127.0.0.1:" + socket.getLocalPort())
        .setSearchDomains(List.of());
  }

  private void serve() {
    try {
      while (true) {
        DatagramPacket packet = new DatagramPacket(new byte[512], 512);
        socket.receive(packet);
        byte[] answer = answer(ByteBuffer.wrap(packet.getData(), 0, packet.getLength()));
        if (answer.length > 0) {
          socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
        }
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private byte[] answer(ByteBuffer query) {
    query.position(12);
    StringBuilder text = new StringBuilder();
    for (int length = query.get(); length > 0; length = query.get()) {
      byte[] label = new byte[length];
      query.get(label);
      text.append(text.isEmpty() ? "" : ".").append(new String(label, US_ASCII));
    }
    int type = query.getShort();
    int end = query.position() + 2;
    String name = text.toString();
    asked.add(name);
    if (name.endsWith(".silent")) {
      return new byte[0];
    }
    List<byte[]> addresses =
        known.getOrDefault(name, List.of()).stream()
            .map(address -> InetAddress.ofLiteral(address).getAddress())
            .filter(address -> type == (address.length == 4 ? V4 : V6))
            .toList();
    ByteBuffer answer = ByteBuffer.allocate(512);
    answer.putShort(query.getShort(0));
    answer.putShort((short) (known.containsKey(name) ? 0x8180 : 0x8183));
    answer.putShort((short) 1).putShort((short) addresses.size()).putInt(0);
    answer.put(query.slice(12, end - 12));
    for (byte[] address : addresses) {
      answer.putShort((short) 0xc00c).putShort((short) type).putShort((short) 1).putInt(60);
      answer.putShort((short) address.length).put(address);
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
