package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HostChecksTest {
  private static final Duration PLENTY = Duration.ofSeconds(20);

  @Test
  void a_host_whose_every_address_is_forbidden_is_told() {
    Map<String, List<String>> names =
        Map.of(
            "private.test", List.of("10.0.0.1", "fd00::1"),
            "mixed.test", List.of("10.0.0.1", "93.184.215.14"),
            "public.test", List.of("93.184.215.14", "2606:4700::1111"),
            "empty.test", List.of(),
            "allowed.test", List.of("10.1.0.1"));
    try (FakeDns dns = new FakeDns(names, List.of());
        Senders senders = Senders.with().dns(dns).allowing("10.1.0.0/16").build()) {
      Set<String> hosts =
          Stream.concat(names.keySet().stream(), Stream.of("localhost", "nowhere.test"))
              .collect(Collectors.toSet());
      assertThat(found(senders, hosts, PLENTY))
          .containsExactlyInAnyOrder("private.test", "localhost");
      assertThat(found(senders, Set.of(), PLENTY)).isEmpty();
      assertThat(dns.asked).contains("nowhere.test");
    }
  }

  @Test
  void a_name_server_is_waited_for_only_for_a_while() {
    Map<String, List<String>> names = Map.of("private.test", List.of("10.0.0.1"));
    try (FakeDns dns = new FakeDns(names, List.of("silent.test"));
        Senders senders = Senders.with().dns(dns).allowing().build()) {
      assertThat(found(senders, Set.of("silent.test", "private.test"), Duration.ofMillis(200)))
          .containsExactly("private.test");
    }
  }

  @Test
  void all_of_many_hosts_are_looked_up() {
    Map<String, List<String>> names = new HashMap<>();
    IntStream.range(0, 1_000)
        .forEach(i -> names.put("h" + i + ".test", List.of(i % 2 == 0 ? "10.0.0.1" : "8.8.8.8")));
    try (FakeDns dns = new FakeDns(names, List.of());
        Senders senders = Senders.with().dns(dns).allowing().build()) {
      // The second time they are known, and found without asking.
      for (int i = 0; i < 2; i++) {
        assertThat(found(senders, names.keySet(), PLENTY))
            .hasSize(500)
            .contains("h0.test", "h998.test");
      }
      assertThat(dns.asked).hasSize(1_000);
    }
  }

  @Test
  void no_more_than_a_few_names_are_asked_for_at_once() {
    List<String> silent = IntStream.range(0, 400).mapToObj(i -> "h" + i + ".test").toList();
    try (FakeDns dns = new FakeDns(Map.of(), silent);
        Senders senders = Senders.with().dns(dns).allowing().build()) {
      Duration patience = Duration.ofMillis(300);
      List<CompletableFuture<Set<String>>> rounds =
          IntStream.range(0, 4)
              .mapToObj(
                  i -> find(senders, Set.copyOf(silent.subList(100 * i, 100 * i + 100)), patience))
              .toList();
      rounds.forEach(round -> assertThat(Senders.await(round)).isEmpty());
      assertThat(dns.asked).hasSize(HostChecks.MOST_AT_ONCE);

      // Nobody waits any more for those, but there they are: no others are asked for meanwhile.
      assertThat(found(senders, Set.of("another.test"), PLENTY)).isEmpty();
      assertThat(dns.asked).hasSize(HostChecks.MOST_AT_ONCE);
    }
  }

  private static Set<String> found(Senders senders, Set<String> hosts, Duration patience) {
    return Senders.await(find(senders, hosts, patience));
  }

  private static CompletableFuture<Set<String>> find(
      Senders senders, Set<String> hosts, Duration patience) {
    CompletableFuture<Set<String>> found = new CompletableFuture<>();
    senders.onLoop(
        () -> {
          senders.hostChecks.findForbidden(hosts, patience, found::complete);
          return true;
        });
    return found;
  }
}
