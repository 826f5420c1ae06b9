package dev.holdfast.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EgressRulesTest {
  private final EgressRules usual = EgressRules.allowing(List.of());

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "128.0.0.0",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2000::",
        "2001:200::1",
        "2606:4700::1111",
        "2a00:1450:4001::1"
      })
  void a_public_address_is_permitted(String address) {
    assertThat(usual.permits(parse(address))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "168.63.129.16",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "::1.1.1.1",
        "::ffff:0:1.1.1.1",
        "64:ff9b::1.1.1.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1.1.1.1",
        "2002:101:101::1",
        "2620:4f:8000::1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1"
      })
  void an_address_that_is_not_public_is_forbidden(String address) {
    assertThat(usual.permits(parse(address))).isFalse();
  }

  @Test
  void an_allowed_range_can_be_reached_and_nothing_beside_it() {
    EgressRules rules = EgressRules.allowing(List.of("10.1.0.0/16", " ::1 ", "fd00::/9"));
    assertThat(rules.permits(parse("10.1.2.3"))).isTrue();
    assertThat(rules.permits(parse("::ffff:10.1.2.3"))).isTrue();
    assertThat(rules.permits(parse("64:ff9b::10.1.2.3"))).isFalse();
    assertThat(rules.permits(parse("10.2.0.0"))).isFalse();
    assertThat(rules.permits(parse("10.0.255.255"))).isFalse();
    assertThat(rules.permits(parse("::1"))).isTrue();
    assertThat(rules.permits(parse("::2"))).isFalse();
    assertThat(rules.permits(parse("fd7f::1"))).isTrue();
    assertThat(rules.permits(parse("fd80::1"))).isFalse();
    assertThat(rules.permits(parse("8.8.8.8"))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "::/96, ::8.8.8.8, ::10.1.2.3, ::10.2.0.1",
    "::ffff:0:0:0/96, ::ffff:0:8.8.8.8, ::ffff:0:10.1.2.3, ::ffff:0:10.2.0.1",
    "64:ff9b::/96, 64:ff9b::8.8.8.8, 64:ff9b::10.1.2.3, 64:ff9b::10.2.0.1",
    "64:ff9b:1:7::/96, 64:ff9b:1:7::8.8.8.8, 64:ff9b:1:7::10.1.2.3, 64:ff9b:1:7::10.2.0.1",
    "64:ff9b:1::/48, 64:ff9b:1:808:8:800::, 64:ff9b:1:a01:2:300::, 64:ff9b:1:a02:0:100::",
    "64:ff9b:1::/56, 64:ff9b:1:8:8:808::, 64:ff9b:1:a:1:203::, 64:ff9b:1:a:2:1::",
    "64:ff9b:1:7::/64, 64:ff9b:1:7:8:808:800:0, 64:ff9b:1:7:a:102:300:0, 64:ff9b:1:7:a:200:100:0",
    "2002::/16, 2002:808:808::1, 2002:a01:203::1, 2002:a02:1::1",
    "2001::/32, 2001:0:808:808:0:0:f7f7:f7f7, 2001:0:808:808:0:0:f5fe:fdfc, 2001:0:808:808:0:0:f5fd:fffe",
    "2001::/32, 2001:0:808:808:0:0:f7f7:f7f7, 2001:0:a01:203:0:0:f7f7:f7f7, 2001:0:a02:1:0:0:f7f7:f7f7"
  })
  void an_address_inside_another_must_be_permitted_too(
      String range, String publicInside, String allowedInside, String forbiddenInside) {
    EgressRules none = EgressRules.allowing(List.of("10.1.0.0/16"));
    assertThat(none.permits(parse(publicInside))).isFalse();
    assertThat(none.permits(parse(allowedInside))).isFalse();

    EgressRules rules = EgressRules.allowing(List.of(range, "10.1.0.0/16"));
    assertThat(rules.permits(parse(publicInside))).isTrue();
    assertThat(rules.permits(parse(allowedInside))).isTrue();
    assertThat(rules.permits(parse(forbiddenInside))).isFalse();

    EgressRules denying =
        EgressRules.of(List.of(range, "10.1.0.0/16"), List.of("10.1.2.3", "8.8.8.8"), Ports.ALL);
    assertThat(denying.permits(parse(publicInside))).isFalse();
    assertThat(denying.permits(parse(allowedInside))).isFalse();
  }

  @Test
  void behind_a_local_translator_only_its_own_prefix_tells_which_address_is_meant() {
    InetAddress deceiving = parse("64:ff9b:1:a00:0:100:808:808");
    InetAddress ambiguous = parse("64:ff9b:1:8:a:1:0:0");
    for (String range : List.of("::/0", "64:ff9b:1::/49", "64:ff9b:1::/48", "64:ff9b:1:8::/64")) {
      EgressRules rules = EgressRules.allowing(List.of(range));
      assertThat(rules.permits(deceiving)).as(range).isFalse();
      assertThat(rules.permits(ambiguous)).as(range).isFalse();
    }
  }

  @Test
  void everything_can_be_allowed() {
    EgressRules rules = EgressRules.allowing(List.of("0.0.0.0/0", "::/0"));
    assertThat(rules.permits(parse("127.0.0.1"))).isTrue();
    assertThat(rules.permits(parse("fe80::1"))).isTrue();
    assertThat(rules.permits(parse("64:ff9b::10.0.0.1"))).isTrue();
  }

  @Test
  void all_of_ipv6_does_not_bring_ipv4_with_it() throws Exception {
    EgressRules rules = EgressRules.allowing(List.of("::/0"));
    byte[] mapped = new byte[16];
    mapped[10] = -1;
    mapped[11] = -1;
    mapped[12] = 127;
    mapped[15] = 1;
    assertThat(rules.permits(Inet6Address.getByAddress(null, mapped, -1))).isFalse();
    assertThat(rules.permits(parse("64:ff9b::127.0.0.1"))).isFalse();
  }

  @Test
  void what_is_denied_is_denied_whatever_is_allowed() {
    EgressRules rules =
        EgressRules.of(
            List.of("0.0.0.0/0", "::/0"), List.of("10.1.0.0/16", "8.8.8.8", "fd00::/8"), Ports.ALL);
    assertThat(rules.permits(parse("10.1.2.3"))).isFalse();
    assertThat(rules.permits(parse("10.2.2.3"))).isTrue();
    assertThat(rules.permits(parse("8.8.8.8"))).isFalse();
    assertThat(rules.permits(parse("8.8.4.4"))).isTrue();
    assertThat(rules.permits(parse("fd00::1"))).isFalse();
    assertThat(rules.permits(parse("64:ff9b::10.1.2.3"))).isFalse();
    assertThat(rules.permits(parse("2002:808:808::1"))).isFalse();
  }

  @Test
  void an_address_of_this_machine_is_forbidden_also_if_it_is_public() {
    Set<InetAddress> own = Set.of(parse("8.8.8.8"), parse("2606:4700::1111"));
    EgressRules rules = usual.onMachineWith(own);
    assertThat(rules.permits(parse("8.8.8.8"))).isFalse();
    assertThat(rules.permits(parse("2606:4700::1111"))).isFalse();
    assertThat(rules.permits(parse("8.8.4.4"))).isTrue();
    assertThat(rules.permits(parse("2606:4700::1112"))).isTrue();

    EgressRules allowing =
        EgressRules.allowing(List.of("8.8.8.8", "64:ff9b::/96")).onMachineWith(own);
    assertThat(allowing.permits(parse("8.8.8.8"))).isTrue();
    assertThat(allowing.permits(parse("64:ff9b::8.8.8.8"))).isTrue();
    assertThat(allowing.permits(parse("2606:4700::1111"))).isFalse();
    assertThat(
            EgressRules.allowing(List.of("64:ff9b::/96"))
                .onMachineWith(own)
                .permits(parse("64:ff9b::8.8.8.8")))
        .isFalse();
    assertThat(
            EgressRules.of(List.of("8.8.8.8"), List.of("8.8.8.8"), Ports.ALL)
                .onMachineWith(own)
                .permits(parse("8.8.8.8")))
        .isFalse();
  }

  @Test
  void the_addresses_of_the_machine_are_those_of_its_interfaces() throws Exception {
    // Most are private and would be forbidden anyway; so the rules are left out here.
    OwnAddresses.Known own = OwnAddresses.ofThisMachine();
    List<InetAddress> addresses =
        NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses).toList();
    assertThat(addresses).isNotEmpty().allMatch(own::contains);
    assertThat(own.contains(parse("8.8.8.8"))).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.1, a private address",
    "127.0.0.1, a loopback address",
    "::1, a loopback address",
    "169.254.169.254, the address of a metadata service",
    "168.63.129.16, the address of a metadata service",
    "fd00:ec2::254, the address of a metadata service",
    "169.254.1.1, a link-local address",
    "fe80::1, a link-local address",
    "fc00::1, a private address",
    "100.64.0.1, an address inside a carrier's network",
    "224.0.0.1, a multicast address",
    "2001:db8::1, an address for documentation",
    "8.8.8.8, an address of this machine",
    "9.9.9.9, denied by egress.deny",
    "64:ff9b::1.1.1.1, an IPv6 address that stands for an IPv4 address",
    "64:ff9b::10.0.0.1, an IPv6 address that stands for a private address",
    "2002:909:909::1, denied by egress.deny"
  })
  void a_refusal_says_why(String address, String why) {
    EgressRules rules =
        EgressRules.of(List.of(), List.of("9.9.9.9"), Ports.ALL)
            .onMachineWith(Set.of(parse("8.8.8.8")));
    assertThat(rules.whyForbidden(parse(address))).hasValue(why);
  }

  @Test
  void there_is_no_reason_against_what_is_permitted() {
    assertThat(usual.whyForbidden(parse("8.8.8.8"))).isEmpty();
  }

  @Test
  void ports_are_those_that_are_named() {
    EgressRules rules = EgressRules.of(List.of(), List.of(), Ports.parse("80, 443,1024-65535"));
    assertThat(Stream.of(80, 443, 1024, 8080, 65_535)).allMatch(rules::permitsPort);
    assertThat(Stream.of(0, 1, 22, 25, 79, 81, 442, 444, 1023, 65_536))
        .noneMatch(rules::permitsPort);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "65536", "80,", "x", "443-80", "80-", "-80", "80;443", "1-2-3"})
  void a_list_of_ports_must_be_one(String text) {
    assertThatThrownBy(() -> Ports.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not a list of ports");
  }

  @Test
  void all_ranges_that_cannot_be_read_are_told_at_once() {
    assertThatThrownBy(
            () ->
                EgressRules.allowing(
                    List.of(
                        "10.0.0.0/8",
                        "10.0.0.5/8",
                        "localhost",
                        "10.0.0.0/33",
                        "::1/x",
                        "",
                        "010.0.0.0/8")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'10.0.0.5/8' has an address with bits beyond its prefix length")
        .hasMessageContaining("'localhost' is not an address range")
        .hasMessageContaining("'10.0.0.0/33' has a prefix length that is not 0 to 32")
        .hasMessageContaining("'::1/x' has a prefix length that is not 0 to 128")
        .hasMessageContaining("'' is not an address range")
        .hasMessageContaining("'010.0.0.0/8' is not an address range");
  }

  private static InetAddress parse(String text) {
    return InetAddress.ofLiteral(text);
  }
}
