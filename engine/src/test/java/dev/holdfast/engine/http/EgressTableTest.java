package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.egress.Ports;
import dev.holdfast.engine.http.Senders.Ending;
import io.netty.util.NetUtil;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What may be reached and what may not, each tried with a real attempt.
 *
 * <p>Whatever address would be connected to, the connection goes to a trap on this machine. It must
 * see none for what is forbidden, and one for each that is permitted.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EgressTableTest {
  private static final String OK =
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

  private static final String TRANSLATOR = "64:ff9b:1:abcd::/96";

  private static final String FORMS =
      "::/96, ::ffff:0:0:0/96, 64:ff9b::/96, 2002::/16, 2001::/32, " + TRANSLATOR;

  /** Rules that cases are tried with. */
  enum Rules {
    USUAL("", "", "1-65535"),
    FORMS_ALLOWED(FORMS, "", "1-65535"),
    V6_ALLOWED("::/0, " + TRANSLATOR, "", "1-65535"),
    PRIVATE_ALLOWED("10.0.0.0/8, fd00::/8, 127.0.0.1", "", "1-65535"),
    FORMS_AND_PRIVATE_ALLOWED(FORMS + ", 10.0.0.0/8", "", "1-65535"),
    ALL_ALLOWED("0.0.0.0/0, ::/0, " + TRANSLATOR, "", "1-65535"),
    SOME_DENIED(
        "0.0.0.0/0, ::/0, " + TRANSLATOR,
        "10.1.0.0/16, 8.8.8.8, 127.0.0.0/8, 169.254.169.254, fd00:1::/32, 2606:4700::/32, ::1",
        "1-65535"),
    PUBLIC_DENIED("", "93.184.0.0/16, 2606:4700::/32", "1-65535"),
    USUAL_PORTS("", "", "80,443,1024-65535"),
    ONE_PORT("", "", "8443");

    private final String allow;
    private final String deny;
    private final String ports;

    Rules(String allow, String deny, String ports) {
      this.allow = allow;
      this.deny = deny;
      this.ports = ports;
    }

    EgressRules made() {
      return EgressRules.of(ranges(allow), ranges(deny), Ports.parse(ports))
          .onMachineWith(
              Set.of(InetAddress.ofLiteral("93.184.215.99"), InetAddress.ofLiteral("2a00:99::99")));
    }

    private static List<String> ranges(String text) {
      return text.isEmpty() ? List.of() : Arrays.asList(text.split(", ", -1));
    }
  }

  /**
   * A URL and what has to come of it.
   *
   * @param dialled the address that is connected to; absent when it is forbidden
   */
  record Case(Rules rules, String url, String remark, @Nullable InetAddress dialled) {
    @Override
    public String toString() {
      String shown = url.codePoints().allMatch(c -> c > ' ' && c < 0x7f) ? url : escaped();
      return (dialled == null ? "forbidden: " : "permitted: ") + rules + " " + shown + remark;
    }

    private String escaped() {
      StringBuilder escaped = new StringBuilder();
      url.codePoints()
          .forEach(
              c -> {
                if (c > ' ' && c < 0x7f) {
                  escaped.append((char) c);
                } else {
                  escaped.append("U+").append(Integer.toHexString(c)).append(';');
                }
              });
      return escaped.toString();
    }
  }

  /** Ranges that are forbidden, with the addresses beside them that are not. */
  private static final Map<String, String> FORBIDDEN =
      table(
          "0.0.0.0/8 | 1.0.0.0",
          "10.0.0.0/8 | 9.255.255.255, 11.0.0.0",
          "100.64.0.0/10 | 100.63.255.255, 100.128.0.0",
          "100.100.100.200/32 |",
          "127.0.0.0/8 | 126.255.255.255, 128.0.0.0",
          "168.63.129.16/32 | 168.63.129.15, 168.63.129.17",
          "169.254.0.0/16 | 169.253.255.255, 169.255.0.0",
          "169.254.169.254/32 |",
          "169.254.170.2/32 |",
          "172.16.0.0/12 | 172.15.255.255, 172.32.0.0",
          "192.0.0.0/24 | 191.255.255.255, 192.0.1.0",
          "192.0.0.192/32 |",
          "192.0.2.0/24 | 192.0.1.255, 192.0.3.0",
          "192.31.196.0/24 | 192.31.195.255, 192.31.197.0",
          "192.52.193.0/24 | 192.52.192.255, 192.52.194.0",
          "192.88.99.0/24 | 192.88.98.255, 192.88.100.0",
          "192.168.0.0/16 | 192.167.255.255, 192.169.0.0",
          "192.175.48.0/24 | 192.175.47.255, 192.175.49.0",
          "198.18.0.0/15 | 198.17.255.255, 198.20.0.0",
          "198.51.100.0/24 | 198.51.99.255, 198.51.101.0",
          "203.0.113.0/24 | 203.0.112.255, 203.0.114.0",
          "224.0.0.0/4 | 223.255.255.255",
          "240.0.0.0/4 |",
          "255.255.255.255/32 |",
          "::/128 |",
          "::1/128 |",
          "::/8 |",
          "64:ff9b::/96 |",
          "64:ff9b:1::/48 |",
          "100::/64 |",
          "100:0:0:1::/64 |",
          "::/3 | 2000::",
          "2001::/32 | 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
          "2001:1::/32 |",
          "2001:2::/48 |",
          "2001:3::/32 |",
          "2001:4:112::/48 |",
          "2001:10::/28 |",
          "2001:20::/28 |",
          "2001:30::/28 |",
          "2001::/23 | 2001:200::",
          "2001:db8::/32 | 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff, 2001:db9::",
          "2002::/16 | 2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2003::",
          "2620:4f:8000::/48 | 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff, 2620:4f:8001::",
          "3fff::/20 | 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 3fff:1000::",
          "4000::/2 | 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
          "5f00::/16 |",
          "8000::/1 |",
          "fc00::/7 |",
          "fd00:ec2::254/128 |",
          "fd20:ce::254/128 |",
          "fe80::/10 |",
          "fec0::/10 |",
          "ff00::/8 |");

  /** Ways to write an IPv4 address into an IPv6 one. */
  private static final Map<String, Function<byte[], byte[]>> EMBEDDINGS =
      Map.of(
          "compatible", v4 -> filled("::", 12, v4),
          "translated", v4 -> filled("::ffff:0:0:0", 12, v4),
          "NAT64", v4 -> filled("64:ff9b::", 12, v4),
          "NAT64 of one's own", v4 -> filled("64:ff9b:1:abcd::", 12, v4),
          "6to4", v4 -> filled("2002::1", 2, v4),
          "Teredo server", v4 -> filled("2001:0:0:0:0:0:f7f7:f7f7", 4, v4),
          "Teredo client", v4 -> filled("2001:0:808:808::", 12, inverted(v4)));

  private final Map<String, String> names = new ConcurrentHashMap<>();
  private final List<InetAddress> dialled = new CopyOnWriteArrayList<>();
  private final List<Case> cases = cases();
  private final Map<Rules, Senders> senders = new EnumMap<>(Rules.class);
  private final Receiver trap = Receiver.answering(OK);
  private final FakeDns dns =
      new FakeDns(
          (name, _) -> {
            String address = names.get(name);
            return address == null ? null : List.of(address);
          });
  private int permitted;

  @BeforeAll
  void open() {
    for (Rules rules : Rules.values()) {
      senders.put(
          rules,
          Senders.with()
              .dns(dns)
              .egress(Egress.direct(rules.made()))
              .route(
                  address -> {
                    dialled.add(address.getAddress());
                    return new InetSocketAddress(InetAddress.getLoopbackAddress(), trap.port());
                  })
              .build());
    }
  }

  @AfterAll
  void close() {
    senders.values().forEach(Senders::close);
    dns.close();
    trap.close();
    assertThat(trap.connections()).as("connections that the trap has seen").isEqualTo(permitted);
  }

  @Test
  void the_table_is_long_enough_to_be_worth_its_name() {
    assertThat(cases).hasSizeGreaterThan(500);
    assertThat(cases.stream().filter(one -> one.dialled() == null)).hasSizeGreaterThan(500);
    assertThat(cases.stream().filter(one -> one.dialled() != null)).hasSizeGreaterThan(100);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void only_what_is_permitted_is_reached(Case tried) {
    dialled.clear();
    int before = trap.connections();
    Senders sender = Objects.requireNonNull(senders.get(tried.rules()));
    Ending ending = sender.send(tried.url());
    if (tried.dialled() == null) {
      assertThat(dialled).isEmpty();
      assertThat(ending.outcome()).isInstanceOf(Outcome.Failure.class);
      assertThat(ending.kind()).isEqualTo(Kind.FORBIDDEN);
      assertThat(trap.connections()).isEqualTo(before);
    } else {
      permitted++;
      assertThat(dialled).containsExactly(tried.dialled());
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
    }
  }

  // ---- the table

  private List<Case> cases() {
    List<Case> all = new ArrayList<>();
    ranges(all);
    embedded(all);
    allowed(all);
    denied(all);
    ownAddresses(all);
    ports(all);
    odd(all);
    return all;
  }

  /** Each range's first and last address, some between them, and those beside it. */
  private void ranges(List<Case> all) {
    FORBIDDEN.forEach(
        (range, beside) -> {
          for (String address : inside(range)) {
            forbidden(all, Rules.USUAL, address);
          }
          for (String address : Rules.ranges(beside)) {
            permitted(all, Rules.USUAL, address);
          }
        });
  }

  /** Every form of an IPv4 address of each kind, allowed as a form or not. */
  private void embedded(List<Case> all) {
    EMBEDDINGS.forEach(
        (form, embedding) -> {
          String publicOne = text(embedding.apply(bytes("93.184.215.14")));
          forbidden(all, Rules.USUAL, publicOne);
          permitted(all, Rules.FORMS_ALLOWED, publicOne);
          permitted(all, Rules.V6_ALLOWED, publicOne);
          String privateOne = text(embedding.apply(bytes("10.1.2.3")));
          forbidden(all, Rules.PRIVATE_ALLOWED, privateOne);
          permitted(all, Rules.FORMS_AND_PRIVATE_ALLOWED, privateOne);
          permitted(all, Rules.ALL_ALLOWED, text(embedding.apply(bytes("10.2.2.3"))));
          forbidden(all, Rules.SOME_DENIED, privateOne);
          forbidden(all, Rules.SOME_DENIED, text(embedding.apply(bytes("8.8.8.8"))));
          forbidden(all, Rules.FORMS_ALLOWED, text(embedding.apply(bytes("93.184.215.99"))));
          for (String range : FORBIDDEN.keySet()) {
            if (range.indexOf(':') < 0) {
              List<String> some = inside(range);
              String inner = text(embedding.apply(bytes(some.getLast())));
              literal(all, Rules.USUAL, inner, false);
              forbidden(all, Rules.FORMS_ALLOWED, inner);
              literal(all, Rules.V6_ALLOWED, inner, false);
            }
          }
        });
    for (String range : FORBIDDEN.keySet()) {
      if (range.indexOf(':') < 0) {
        String mapped = "::ffff:" + inside(range).getLast();
        literal(all, Rules.V6_ALLOWED, mapped, false);
        named(all, Rules.V6_ALLOWED, mapped, null);
      }
    }
    // what is dialled is the IPv4 address, and that is public; but it is no way to write a URL
    literal(all, Rules.USUAL, "::ffff:93.184.215.14", false);
    named(all, Rules.USUAL, "::ffff:93.184.215.14", InetAddress.ofLiteral("93.184.215.14"));
  }

  private void allowed(List<Case> all) {
    for (String address : List.of("10.0.0.0", "10.255.255.255", "fd00::", "fdff::1", "127.0.0.1")) {
      permitted(all, Rules.PRIVATE_ALLOWED, address);
      permitted(all, Rules.ALL_ALLOWED, address);
    }
    for (String address :
        List.of("127.0.0.2", "fc00::1", "192.168.0.1", "::1", "169.254.169.254")) {
      forbidden(all, Rules.PRIVATE_ALLOWED, address);
      permitted(all, Rules.ALL_ALLOWED, address);
    }
  }

  private void denied(List<Case> all) {
    for (String address :
        List.of(
            "10.1.0.0",
            "10.1.255.255",
            "8.8.8.8",
            "127.0.0.1",
            "169.254.169.254",
            "fd00:1::7",
            "2606:4700::1111",
            "::1")) {
      forbidden(all, Rules.SOME_DENIED, address);
    }
    for (String address :
        List.of("10.0.255.255", "10.2.0.0", "8.8.8.9", "fd00::7", "2606:4701::1", "192.168.0.1")) {
      permitted(all, Rules.SOME_DENIED, address);
    }
    for (String address : List.of("93.184.215.14", "93.184.0.0", "2606:4700::1111", "10.0.0.1")) {
      forbidden(all, Rules.PUBLIC_DENIED, address);
    }
    for (String address : List.of("93.185.0.0", "93.183.255.255", "2606:4701::1")) {
      permitted(all, Rules.PUBLIC_DENIED, address);
    }
  }

  private void ownAddresses(List<Case> all) {
    for (String address : List.of("93.184.215.99", "2a00:99::99")) {
      forbidden(all, Rules.USUAL, address);
      permitted(all, Rules.ALL_ALLOWED, address);
    }
    for (String address : List.of("93.184.215.98", "2a00:99::98")) {
      permitted(all, Rules.USUAL, address);
    }
  }

  private void ports(List<Case> all) {
    String host = "93.184.215.14";
    InetAddress address = InetAddress.ofLiteral(host);
    for (int port : new int[] {80, 443, 1024, 3000, 8080, 8443, 65_535}) {
      add(all, Rules.USUAL_PORTS, host + ":" + port, address);
      add(all, Rules.ONE_PORT, host + ":" + port, port == 8443 ? address : null);
    }
    for (int port : new int[] {1, 7, 21, 22, 23, 25, 53, 79, 81, 110, 442, 444, 465, 587, 1023}) {
      add(all, Rules.USUAL_PORTS, host + ":" + port, null);
      add(all, Rules.USUAL, host + ":" + port, address);
    }
  }

  /**
   * Ways to write something else than it looks like. All of them lead to this machine, or would.
   */
  private void odd(List<Case> all) {
    for (String host :
        List.of(
            "127.1",
            "127.0.1",
            "127.0.0.1.",
            "127.0.0.1..",
            "2130706433",
            "2130706433.",
            "4294967295",
            "4294967297",
            "0x7f000001",
            "0X7F000001",
            "0x7f.0.0.1",
            "0x7f.0x0.0x0.0x1",
            "127.0.0.0x1",
            "127.0x1",
            "0x",
            "0177.0.0.1",
            "0177.0.0.01",
            "017700000001",
            "127.0.0.01",
            "127.0.0.001",
            "0127.0.0.1",
            "127.00.0.1",
            "00000177.1",
            "0",
            "00",
            "1",
            "127.0.0.256",
            "127.0.0.1.1",
            "127.0.0.+1",
            "127.0.0.1%20",
            "127.0.0.1%00",
            "127.0.0.1 ",
            " 127.0.0.1",
            "127.0.0.1\t",
            "127.0.0.1\r\n",
            "127.0.0.1\u0000",
            "127.0.0.1\\",
            "127.0.0.1\\@93.184.215.14",
            "93.184.215.14@127.0.0.1",
            "user@127.0.0.1",
            "user:password@127.0.0.1",
            "@127.0.0.1",
            "127.0.0.1@",
            "127%2e0%2e0%2e1",
            "%31%32%37.0.0.1",
            "\uff11\uff12\uff17.0.0.1",
            "\uff11\uff12\uff17\uff0e\uff10\uff0e\uff10\uff0e\uff11",
            "127\u30020\u30020\u30021",
            "127\uff610\uff610\uff611",
            "127\u20240\u20240\u20241",
            "\u2460\u2461\u2466.0.0.1",
            "\u0661\u0662\u0667.0.0.1",
            "\uff10x7f000001",
            "\uff12130706433",
            "127.0.0.1\u200d",
            "127.0.0.1\u00ad",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
            "\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54",
            "local\u00adhost",
            "local\u200bhost",
            "local%68ost",
            "[::1",
            "::1",
            "[::1]]",
            "[[::1]]",
            "[::1]x",
            "[::1].",
            "[::1%251]",
            "[::1%1]",
            "[::1%lo]",
            "[fe80::1%25eth0]",
            "[fe80::1%eth0]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::FFFF:7F00:0001]",
            "[0:0:0:0:0:ffff:127.0.0.1]",
            "[::ffff:127.1]",
            "[::ffff:0177.0.0.1]",
            "[::ffff:0x7f000001]",
            "[::127.0.0.1]",
            "[0:0:0:0:0:0:0:1]",
            "[0000:0000:0000:0000:0000:0000:0000:0001]",
            "[::00001]",
            "[::0:1]",
            "[::]",
            "[127.0.0.1]",
            "[localhost]",
            "[]",
            "",
            ".",
            "..",
            "\u3002",
            "\uff3b::1\uff3d")) {
      add(all, Rules.USUAL, host, null);
    }
    for (String url :
        List.of(
            "ftp://93.184.215.14/",
            "file:///etc/passwd",
            "gopher://93.184.215.14/",
            "dict://93.184.215.14:11211/",
            "ws://93.184.215.14/",
            "unix:///var/run/docker.sock",
            "jar:http://93.184.215.14!/",
            "//93.184.215.14/",
            "93.184.215.14",
            "http:/93.184.215.14/",
            "http:93.184.215.14",
            " http://93.184.215.14/",
            "\thttp://93.184.215.14/",
            "ht\ntp://93.184.215.14/",
            "http://93.184.215.14/#x",
            "http://93.184.215.14#@127.0.0.1/",
            "http://93.184.215.14/ x",
            "http://93.184.215.14/\r\nHost: 127.0.0.1",
            "http://93.184.215.14/\t",
            "http://93.184.215.14:0/",
            "http://93.184.215.14:65536/",
            "http://93.184.215.14:65616/",
            "http://93.184.215.14:-80/",
            "http://93.184.215.14:+80/",
            "http://93.184.215.14:0x50/",
            "http://93.184.215.14:80:80/",
            "http://93.184.215.14:\uff18\uff10/",
            "http://93.184.215.14:80@127.0.0.1/",
            "https:\\\\93.184.215.14\\")) {
      all.add(new Case(Rules.USUAL, url, "", null));
    }
    // as they should be written
    for (String host : List.of("93.184.215.14", "93.184.215.14:80", "93.184.215.14:")) {
      add(all, Rules.USUAL, host, InetAddress.ofLiteral("93.184.215.14"));
    }
    add(all, Rules.USUAL, "[2606:4700:0:0::1111]", InetAddress.ofLiteral("2606:4700::1111"));
    add(all, Rules.USUAL, "\uff19\uff13.184\u3002215.14", InetAddress.ofLiteral("93.184.215.14"));
  }

  // ---- what the table is made of

  private void forbidden(List<Case> all, Rules rules, String address) {
    literal(all, rules, address, false);
    named(all, rules, address, null);
  }

  private void permitted(List<Case> all, Rules rules, String address) {
    literal(all, rules, address, true);
    named(all, rules, address, InetAddress.ofLiteral(address));
  }

  private static void literal(List<Case> all, Rules rules, String address, boolean isPermitted) {
    String host = address.indexOf(':') < 0 ? address : "[" + address + "]";
    add(all, rules, host, isPermitted ? InetAddress.ofLiteral(address) : null);
  }

  /** A name that leads to the address. */
  private void named(
      List<Case> all, Rules rules, String address, @Nullable InetAddress dialledAddress) {
    String name = "n" + names.size() + ".test";
    names.put(name, address);
    all.add(new Case(rules, "http://" + name + "/", " that is " + address, dialledAddress));
  }

  private static void add(
      List<Case> all, Rules rules, String authority, @Nullable InetAddress dialledAddress) {
    all.add(new Case(rules, "http://" + authority + "/", "", dialledAddress));
  }

  private static Map<String, String> table(String... rows) {
    Map<String, String> table = new LinkedHashMap<>();
    for (String row : rows) {
      int bar = row.indexOf('|');
      table.put(row.substring(0, bar).strip(), row.substring(bar + 1).strip());
    }
    return table;
  }

  /** The first address of a range, the last one, and some between them. */
  private static List<String> inside(String range) {
    int slash = range.indexOf('/');
    byte[] first = bytes(range.substring(0, slash));
    int bits = first.length * 8 - Integer.parseInt(range.substring(slash + 1));
    BigInteger size = BigInteger.ONE.shiftLeft(bits);
    BigInteger start = new BigInteger(1, first);
    return Stream.of(
            BigInteger.ZERO,
            size.subtract(BigInteger.ONE),
            size.shiftRight(1),
            size.divide(BigInteger.valueOf(3)))
        .distinct()
        .map(offset -> text(sized(start.add(offset), first.length)))
        .toList();
  }

  private static byte[] sized(BigInteger number, int length) {
    byte[] bytes = number.toByteArray();
    byte[] sized = new byte[length];
    int copied = Math.min(bytes.length, length);
    System.arraycopy(bytes, bytes.length - copied, sized, length - copied, copied);
    return sized;
  }

  private static byte[] bytes(String address) {
    return NetUtil.createByteArrayFromIpAddressString(address);
  }

  private static String text(byte[] address) {
    return NetUtil.bytesToIpAddress(address);
  }

  private static byte[] filled(String v6, int from, byte[] v4) {
    byte[] bytes = bytes(v6);
    System.arraycopy(v4, 0, bytes, from, v4.length);
    return bytes;
  }

  private static byte[] inverted(byte[] v4) {
    byte[] inverted = v4.clone();
    for (int i = 0; i < inverted.length; i++) {
      inverted[i] = (byte) ~inverted[i];
    }
    return inverted;
  }
}
