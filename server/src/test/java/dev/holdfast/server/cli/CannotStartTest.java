package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.BindException;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class CannotStartTest {

  @Test
  void why_a_server_cannot_listen_is_told_with_what_to_do() {
    assertThat(told(new BindException("Address already in use")))
        .isEqualTo("Port 80 on box is in use. End what uses it, or choose another with --port.");
    assertThat(told(new IOException("bind(..) failed with error(-98): Address already in use")))
        .isEqualTo("Port 80 on box is in use. End what uses it, or choose another with --port.");
    assertThat(told(new BindException("Permission denied")))
        .isEqualTo("This user may not listen on port 80. Choose one above 1023 with --port.");
    assertThat(told(new BindException("Cannot assign requested address")))
        .isEqualTo("box is no address of this machine. Choose another, such as 127.0.0.1.");
    assertThat(told(new UnknownHostException("box")))
        .isEqualTo("box is no address of this machine. Choose another, such as 127.0.0.1.");
    assertThat(told(new IOException("too many open files")))
        .isEqualTo("Cannot listen on box port 80: something else");
  }

  private static String told(Exception cause) {
    Exception problem = new IOException("something else", new IllegalStateException(cause));
    return String.valueOf(CannotStart.listening("box", 80, problem).getMessage());
  }
}
