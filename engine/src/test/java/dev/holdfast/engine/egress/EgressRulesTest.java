package dev.holdfast.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
        "2a00:1450:4001::1",
        "64:ff9b::1.1.1.1"
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
        "64:ff9b::10.0.0.1",
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
    EgressRules guard = EgressRules.allowing(List.of("10.1.0.0/16", " ::1 ", "fd00::/9"));
    assertThat(guard.permits(parse("10.1.2.3"))).isTrue();
    assertThat(guard.permits(parse("::ffff:10.1.2.3"))).isTrue();
    assertThat(guard.permits(parse("64:ff9b::10.1.2.3"))).isTrue();
    assertThat(guard.permits(parse("10.2.0.0"))).isFalse();
    assertThat(guard.permits(parse("10.0.255.255"))).isFalse();
    assertThat(guard.permits(parse("::1"))).isTrue();
    assertThat(guard.permits(parse("::2"))).isFalse();
    assertThat(guard.permits(parse("fd7f::1"))).isTrue();
    assertThat(guard.permits(parse("fd80::1"))).isFalse();
    assertThat(guard.permits(parse("8.8.8.8"))).isTrue();
  }

  @Test
  void everything_can_be_allowed() {
    EgressRules guard = EgressRules.allowing(List.of("0.0.0.0/0", "::/0"));
    assertThat(guard.permits(parse("127.0.0.1"))).isTrue();
    assertThat(guard.permits(parse("fe80::1"))).isTrue();
  }

  @Test
  void all_ranges_that_cannot_be_read_are_told_at_once() {
    assertThatThrownBy(
            () ->
                EgressRules.allowing(
                    List.of("10.0.0.0/8", "10.0.0.5/8", "localhost", "10.0.0.0/33", "::1/x", "")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'10.0.0.5/8' names one address inside a range")
        .hasMessageContaining("'localhost' is not an address range")
        .hasMessageContaining("'10.0.0.0/33' needs a prefix length from 0 to 32")
        .hasMessageContaining("'::1/x' needs a prefix length from 0 to 128")
        .hasMessageContaining("'' is not an address range");
  }

  private static InetAddress parse(String text) {
    return InetAddress.ofLiteral(text);
  }
}
