package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.http.Senders.Ending;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class NamesTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final long TIMEOUT_MILLIS = 3_000;

  @Test
  void names_whose_server_is_silent_hold_up_no_others() {
    List<String> silent = new ArrayList<>();
    Map<String, List<String>> known = new HashMap<>();
    for (int i = 0; i < 400; i++) {
      silent.add("n" + i + ".silent.test");
      known.put("n" + i + ".well.test", List.of("127.0.0.1"));
    }
    try (FakeDns dns = new FakeDns(known, silent);
        Receiver receiver = Receiver.answering(OK);
        Senders senders = Senders.with().dns(dns).timeoutMillis(TIMEOUT_MILLIS).build()) {
      List<CompletableFuture<Ending>> hanging = new ArrayList<>();
      for (int i = 0; i < silent.size(); i++) {
        hanging.add(senders.start("http://" + silent.get(i) + "/"));
        if (i % 20 == 0) {
          assertWell(senders.send("http://n" + i + ".well.test:" + receiver.port() + "/"));
          assertWell(senders.send("http://n0.well.test:" + receiver.port() + "/again"));
        }
      }
      assertThat(hanging).allSatisfy(ending -> assertSilent(Senders.await(ending)));
    }
  }

  private static void assertWell(Ending ending) {
    assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
  }

  private static void assertSilent(Ending ending) {
    assertThat(ending.kind()).isIn(Kind.DNS, Kind.TIMEOUT);
    assertThat(ending.millis()).isLessThan(TIMEOUT_MILLIS + 10_000);
  }

  @Test
  void a_name_that_many_want_is_asked_for_once() {
    try (FakeDns dns = new FakeDns(Map.of(), List.of("silent.test"));
        Senders senders = Senders.with().dns(dns).timeoutMillis(TIMEOUT_MILLIS).build()) {
      List<CompletableFuture<Ending>> hanging = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        hanging.add(senders.start("http://silent.test:" + (2_000 + i) + "/"));
      }
      assertThat(hanging).allSatisfy(ending -> assertSilent(Senders.await(ending)));
      assertThat(dns.queries()).as("one for v4 and one for v6").isEqualTo(2);
    }
  }

  @Test
  void a_zone_has_as_many_lookups_as_it_leaves_to_others() {
    List<String> silent = IntStream.range(0, 64).mapToObj(i -> "n" + i + ".silent.test").toList();
    try (FakeDns dns = new FakeDns(Map.of("hook.well.test", List.of("127.0.0.1")), silent);
        Senders senders = Senders.with().dns(dns).build()) {
      List<String> refused = new ArrayList<>();
      CompletableFuture<@Nullable List<InetAddress>> well = new CompletableFuture<>();
      senders.onLoop(
          () -> {
            Names names = senders.names(64);
            for (String name : silent) {
              names.lookUp(name, _ -> refused.add(name));
            }
            assertThat(refused).isEqualTo(silent.subList(32, 64));
            names.lookUp("hook.well.test", well::complete);
            return true;
          });
      assertThat(Senders.await(well)).hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "hook.example.com,example.com",
    "a.b.c.example.com,example.com",
    "example.com,example.com",
    "example.com.,example.com",
    "hook.example.com.,example.com",
    "localhost,localhost",
    "localhost.,localhost"
  })
  void a_zone_is_the_end_of_a_name(String name, String zone) {
    assertThat(Names.zone(name)).isEqualTo(zone);
  }
}
