package dev.holdfast.proof.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ProxyTest {
  private final ServerSocket echo;
  private final Proxy proxy;

  ProxyTest() throws IOException {
    echo = new ServerSocket(0, 10, InetAddress.ofLiteral("127.0.0.1"));
    Thread.ofVirtual().start(this::serve);
    proxy = new Proxy(echo.getLocalPort());
  }

  private void serve() {
    try {
      while (true) {
        Socket socket = echo.accept();
        Thread.ofVirtual().start(() -> repeat(socket));
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  private static void repeat(Socket socket) {
    try (socket) {
      socket.getInputStream().transferTo(socket.getOutputStream());
    } catch (IOException e) {
      // The other side is gone.
    }
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
    echo.close();
  }

  @Test
  void lets_everything_through_and_counts_round_trips() throws IOException {
    try (Socket socket = connect()) {
      assertThat(ask(socket, 1)).isEqualTo(1);
      assertThat(ask(socket, 2)).isEqualTo(2);
    }
    assertThat(proxy.roundTrips()).isEqualTo(2);
  }

  @Test
  void what_was_cut_is_gone_until_it_is_healed() throws IOException {
    try (Socket socket = connect()) {
      assertThat(ask(socket, 1)).isEqualTo(1);
      proxy.cut();
      assertGone(socket);
    }
    try (Socket socket = connect()) {
      assertGone(socket);
    }
    proxy.heal();
    try (Socket socket = connect()) {
      assertThat(ask(socket, 1)).isEqualTo(1);
    }
  }

  @Test
  void what_was_held_back_comes_later() throws IOException {
    try (Socket socket = connect()) {
      assertThat(ask(socket, 1)).isEqualTo(1);
      proxy.hold();
      assertThatThrownBy(() -> ask(socket, 2)).isInstanceOf(SocketTimeoutException.class);
      proxy.heal();
      assertThat(socket.getInputStream().read()).isEqualTo(2);
    }
  }

  @Test
  void what_is_slowed_takes_its_time_in_each_direction() throws IOException {
    proxy.slow(Duration.ofMillis(60));
    try (Socket socket = connect()) {
      long before = System.nanoTime();
      assertThat(ask(socket, 1)).isEqualTo(1);
      assertThat(System.nanoTime() - before).isGreaterThan(120_000_000);
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), proxy.port());
    socket.setSoTimeout(300);
    return socket;
  }

  private static int ask(Socket socket, int value) throws IOException {
    socket.getOutputStream().write(value);
    return socket.getInputStream().read();
  }

  /** It depends on the moment whether that is an end or a reset. */
  private static void assertGone(Socket socket) {
    try {
      assertThat(ask(socket, 1)).isNegative();
    } catch (IOException e) {
      assertThat(e).isNotInstanceOf(SocketTimeoutException.class);
    }
  }
}
