package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.server.api.FailedKeys.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class FailedKeysTest {
  private static final String ADDRESS = "192.0.2.7";

  private final FailedKeys failed = new FailedKeys();
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private long now = Connections.now();

  @BeforeEach
  void listen() {
    lines.start();
    ((Logger) LoggerFactory.getLogger(FailedKeys.class)).addAppender(lines);
  }

  @AfterEach
  void forget() {
    ((Logger) LoggerFactory.getLogger(FailedKeys.class)).detachAppender(lines);
  }

  private int refused(String address) {
    return failed.refused(address, Reason.UNKNOWN, now);
  }

  private void pass(Duration time) {
    now += time.toNanos();
    failed.sweep(now);
  }

  private List<String> told() {
    List<String> told = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    lines.list.clear();
    return told;
  }

  @Test
  void after_twenty_in_a_minute_an_address_is_asked_to_wait_until_the_minute_is_over() {
    for (int i = 0; i < 20; i++) {
      assertThat(refused(ADDRESS)).isZero();
      pass(Duration.ofSeconds(1));
    }
    assertThat(refused(ADDRESS)).isEqualTo(40);
    assertThat(refused("192.0.2.8")).as("another address").isZero();
    pass(Duration.ofMillis(39_500));
    assertThat(refused(ADDRESS)).isEqualTo(1);
    pass(Duration.ofMillis(500));
    assertThat(refused(ADDRESS)).isZero();
  }

  @Test
  void the_log_tells_of_the_first_and_then_once_a_minute_how_many_there_were() {
    refused(ADDRESS);
    assertThat(told()).containsExactly("api.key-refused address=192.0.2.7 times=1 last=unknown");
    for (int i = 0; i < 100; i++) {
      refused(ADDRESS);
    }
    assertThat(told()).isEmpty();
    now += Duration.ofSeconds(60).toNanos();
    failed.refused(ADDRESS, Reason.EXPIRED, now);
    assertThat(told()).containsExactly("api.key-refused address=192.0.2.7 times=101 last=expired");
    refused(ADDRESS);
    pass(Duration.ofSeconds(61));
    assertThat(told()).containsExactly("api.key-refused address=192.0.2.7 times=1 last=earlier");
  }

  @Test
  void who_is_quiet_is_forgotten() {
    refused(ADDRESS);
    pass(Duration.ofSeconds(61));
    pass(Duration.ofSeconds(61));
    assertThat(failed.size()).isZero();
  }

  @Test
  void however_many_addresses_there_are_only_some_are_known_and_told() {
    for (int i = 0; i < 3 * ApiLimits.FAILED_KEY_SOURCES; i++) {
      refused("10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255));
    }
    assertThat(failed.size()).isEqualTo(ApiLimits.FAILED_KEY_SOURCES);
    assertThat(told()).hasSize(ApiLimits.FAILED_KEY_LINES);
    pass(Duration.ofSeconds(61));
    assertThat(told())
        .containsExactly(
            "api.key-refused address=others times="
                + (3 * ApiLimits.FAILED_KEY_SOURCES - ApiLimits.FAILED_KEY_LINES)
                + " last=earlier");
  }

  @ParameterizedTest
  @CsvSource({
    "192.0.2.7, 192.0.2.7",
    "::ffff:192.0.2.7, 192.0.2.7",
    "2001:db8:1:2:3:4:5:6, 2001:db8:1:2::/64",
    "2001:db8:1:2:ffff::9, 2001:db8:1:2::/64",
    "fe80::1%eth0, fe80::/64",
    "a.name.example, unknown",
    ", unknown"
  })
  void an_address_stands_for_itself_or_for_its_network(String address, String network) {
    assertThat(FailedKeys.network(address)).isEqualTo(network);
  }
}
