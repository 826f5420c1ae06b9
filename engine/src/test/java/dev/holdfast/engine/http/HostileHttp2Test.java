package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.http.Senders.Ending;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Attempts over HTTP/2, to servers that send what they should not, or too much of it. */
@Timeout(60)
class HostileHttp2Test {

  /** Enough for a loaded machine, and far less than the time limits that tests do not expect. */
  private static final long SLACK_MILLIS = 5_000;

  /** What the system takes off a server before anybody has read it. */
  private static final long MOST_BUFFERED = 32 * 1024 * 1024;

  /** Netty leaves out 1, which is for connections that began with HTTP/1.1. */
  private static final int FIRST_STREAM = 3;

  @TempDir static Path directory;

  private static HookCertificate certificate;

  @BeforeAll
  static void make_a_certificate() throws Exception {
    certificate = new HookCertificate(directory);
  }

  /** What a server does after its settings. */
  interface Script {
    void run(Http2Peer http2) throws Exception;
  }

  /** A server's misbehaviour, with a name for the report. */
  record Case(String name, Script script) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Receiver receiver(Script script) throws Exception {
    return certificate.receiver(
        peer -> {
          script.run(Http2Peer.greeting(peer));
          peer.awaitClose();
        },
        "h2");
  }

  private static Senders.Builder with() {
    return Senders.with().tls(certificate.trusting);
  }

  private static Case flood(String name, int type, int flags, int stream, byte... payload) {
    return new Case(name, http2 -> http2.flood(type, flags, stream, payload));
  }

  /** None of these is about the attempt, so none may keep it, or the connection, going. */
  static Stream<Case> floods() {
    return Stream.of(
        flood("PING", Http2Peer.PING, 0, 0, new byte[8]),
        flood("PING acknowledged", Http2Peer.PING, Http2Peer.ACK, 0, new byte[8]),
        flood("SETTINGS", Http2Peer.SETTINGS, 0, 0),
        flood("SETTINGS with a value", Http2Peer.SETTINGS, 0, 0, new byte[] {0, 3, 0, 0, 0, 9}),
        flood("SETTINGS acknowledged", Http2Peer.SETTINGS, Http2Peer.ACK, 0),
        flood("RST_STREAM", Http2Peer.RST_STREAM, 0, FIRST_STREAM, Http2Peer.number(8)),
        flood("WINDOW_UPDATE", Http2Peer.WINDOW_UPDATE, 0, 0, Http2Peer.number(1)),
        flood(
            "WINDOW_UPDATE of a stream",
            Http2Peer.WINDOW_UPDATE,
            0,
            FIRST_STREAM,
            Http2Peer.number(1)),
        flood("PRIORITY", Http2Peer.PRIORITY, 0, FIRST_STREAM, new byte[] {0, 0, 0, 0, 9}),
        flood("PRIORITY of any stream", Http2Peer.PRIORITY, 0, 99, new byte[] {0, 0, 0, 1, 9}),
        flood("unknown frames", 77, 0, 0, new byte[100]),
        flood("unknown frames of a stream", 77, 0, FIRST_STREAM, new byte[100]),
        flood("DATA of a stream that ended", Http2Peer.DATA, 0, FIRST_STREAM, new byte[50]),
        flood("HEADERS of a stream that ended", Http2Peer.HEADERS, 4, FIRST_STREAM, Http2Peer.OK));
  }

  @ParameterizedTest
  @MethodSource("floods")
  void a_flood_ends_the_connection_of_an_attempt(Case flood) throws Exception {
    CompletableFuture<Long> over = new CompletableFuture<>();
    try (Receiver receiver =
            receiver(
                http2 -> {
                  http2.answer(http2.request());
                  http2.request();
                  try {
                    flood.script().run(http2);
                  } finally {
                    over.complete(http2.written);
                  }
                });
        Senders senders = with().build()) {
      String url = HookCertificate.url(receiver);
      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      Ending ending = senders.send(url);
      assertThat(ending.kind()).isEqualTo(Kind.PROTOCOL);
      assertThat(ending.millis()).isLessThan(SLACK_MILLIS);
      assertThat(Senders.await(over)).isLessThan(MOST_BUFFERED);
    }
  }

  @ParameterizedTest
  @MethodSource("floods")
  void a_flood_ends_a_kept_connection(Case flood) throws Exception {
    CompletableFuture<Long> over = new CompletableFuture<>();
    try (Receiver receiver =
            receiver(
                http2 -> {
                  http2.answer(http2.request());
                  try {
                    flood.script().run(http2);
                  } finally {
                    over.complete(http2.written);
                  }
                });
        Senders senders = with().build()) {
      assertThat(senders.send(HookCertificate.url(receiver)).outcome())
          .isInstanceOf(Outcome.Success.class);
      assertThat(Senders.await(over)).isLessThan(MOST_BUFFERED);
      awaitNoConnections(senders);
    }
  }

  @Test
  void a_flood_leaves_attempts_their_answers() throws Exception {
    try (Receiver receiver =
            receiver(
                http2 -> {
                  int stream = http2.request();
                  http2.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, stream, Http2Peer.OK);
                  http2.frame(Http2Peer.DATA, 0, stream, "half".getBytes(US_ASCII));
                  http2.flood(Http2Peer.PING, 0, 0, new byte[8]);
                });
        Senders senders = with().build()) {
      Ending ending = senders.send(HookCertificate.url(receiver));
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).isEqualTo("half");
    }
  }

  @Test
  void acknowledgements_do_not_pile_up_for_a_server_that_does_not_read() throws Exception {
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  peer.socket().setReceiveBufferSize(1_024);
                  Http2Peer http2 = Http2Peer.greeting(peer);
                  http2.requestHead();
                  http2.flood(Http2Peer.PING, 0, 0, new byte[8]);
                },
                "h2");
        Senders senders = with().build()) {
      Event large = Senders.event("\"" + "x".repeat(1_000_000) + "\"");
      assertThat(senders.send(Senders.delivery(HookCertificate.url(receiver), large)).kind())
          .isEqualTo(Kind.PROTOCOL);
      awaitNoConnections(senders);
    }
  }

  /** Each is told to somebody who has asked and waits, on the stream that is given. */
  static Stream<Case> whatIsNotAnAnswer() {
    return Stream.of(
        answer("no status", Http2Peer.header("x", "y")),
        answer("no header", new byte[0]),
        answer("status of two digits", Http2Peer.header(":status", "20")),
        answer("status that is no number", Http2Peer.header(":status", "2OO")),
        answer("status below 100", Http2Peer.header(":status", "099")),
        answer("switching protocols", Http2Peer.header(":status", "101")),
        answer("an interim answer that ends", Http2Peer.header(":status", "103")),
        answer("two statuses", Http2Peer.join(Http2Peer.OK, Http2Peer.OK)),
        answer("a header of requests", Http2Peer.header(":path", "/")),
        answer(
            "status after other headers", Http2Peer.join(Http2Peer.header("x", "y"), Http2Peer.OK)),
        answer("upper case", Http2Peer.join(Http2Peer.OK, Http2Peer.header("X", "y"))),
        answer("no name", Http2Peer.join(Http2Peer.OK, Http2Peer.header("", "y"))),
        answer("connection", Http2Peer.join(Http2Peer.OK, Http2Peer.header("connection", "x"))),
        answer(
            "two lengths",
            Http2Peer.join(
                Http2Peer.OK,
                Http2Peer.header("content-length", "1"),
                Http2Peer.header("content-length", "2"))),
        answer("broken HPACK", new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff}),
        answer("an index that there is not", new byte[] {(byte) 0xfe}),
        answer("a header that breaks off", new byte[] {0x00, 0x05, 'a'}),
        new Case(
            "a body without headers",
            http2 -> http2.frame(Http2Peer.DATA, Http2Peer.END_STREAM, http2.request(), OK_BODY)),
        new Case(
            "a length that is not that of the frame",
            http2 -> http2.frame(Http2Peer.RST_STREAM, 0, http2.request(), new byte[3])),
        new Case(
            "a frame that is too long",
            http2 -> http2.frame(Http2Peer.DATA, 0, http2.request(), new byte[20_000])),
        new Case(
            "CONTINUATION of nothing",
            http2 -> http2.frame(Http2Peer.CONTINUATION, 4, http2.request(), Http2Peer.OK)),
        new Case(
            "another frame amid headers",
            http2 -> {
              http2.frame(Http2Peer.HEADERS, 0, http2.request(), Http2Peer.OK);
              http2.frame(Http2Peer.PING, 0, 0, new byte[8]);
            }),
        new Case(
            "data on a stream that there is not",
            http2 -> http2.frame(Http2Peer.DATA, 0, http2.request() + 2, OK_BODY)),
        new Case(
            "reset of a stream that there is not",
            http2 -> http2.reset(http2.request() + 2, Http2Peer.CANCEL)),
        new Case(
            "an answer on a stream that there is not", http2 -> http2.answer(http2.request() + 2)),
        new Case(
            "an answer on a stream of the server's own",
            http2 -> http2.answer(http2.request() + 1)),
        new Case("data on no stream", http2 -> http2.frame(0, 0, http2.request() * 0, OK_BODY)),
        new Case(
            "a push promise",
            http2 ->
                http2.frame(
                    Http2Peer.PUSH_PROMISE,
                    Http2Peer.END_HEADERS,
                    http2.request(),
                    Http2Peer.join(Http2Peer.number(2), PROMISED))),
        new Case(
            "a window that is too large",
            http2 -> {
              http2.request();
              http2.windowUpdate(0, Integer.MAX_VALUE);
            }),
        new Case(
            "a window update of nothing",
            http2 -> {
              http2.request();
              http2.windowUpdate(0, 0);
            }),
        new Case(
            "settings that are not allowed",
            http2 -> {
              http2.request();
              http2.settings(4, -1);
            }),
        new Case(
            "push allowed by the server",
            http2 -> {
              http2.request();
              http2.settings(2, 1);
            }),
        new Case(
            "noise",
            http2 -> {
              http2.request();
              byte[] noise = new byte[300];
              Arrays.fill(noise, (byte) 0xe5);
              http2.write(noise);
            }),
        new Case(
            "HTTP/1.1",
            http2 -> {
              http2.request();
              http2.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(US_ASCII));
            }),
        new Case(
            "a flood of interim answers",
            http2 -> {
              int stream = http2.request();
              http2.flood(Http2Peer.HEADERS, 4, stream, Http2Peer.header(":status", "102"));
            }),
        new Case(
            "large interim answers",
            http2 -> {
              int stream = http2.request();
              byte[] large =
                  Http2Peer.join(
                      Http2Peer.header(":status", "102"), Http2Peer.header("x", "y".repeat(9_000)));
              for (int i = 0; i < 20; i++) {
                http2.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, stream, large);
              }
            }),
        new Case(
            "a flood of empty CONTINUATION",
            http2 -> {
              int stream = http2.request();
              http2.frame(Http2Peer.HEADERS, 0, stream, Http2Peer.OK);
              http2.flood(Http2Peer.CONTINUATION, 0, stream);
            }),
        new Case(
            "a flood of CONTINUATION",
            http2 -> {
              int stream = http2.request();
              http2.frame(Http2Peer.HEADERS, 0, stream, Http2Peer.OK);
              http2.flood(
                  Http2Peer.CONTINUATION, 0, stream, Http2Peer.header("x", "y".repeat(1_000)));
            }),
        new Case(
            "headers beyond the limit",
            http2 -> {
              int stream = http2.request();
              byte[] half = Http2Peer.header("x", "y".repeat(9_000));
              http2.frame(
                  Http2Peer.HEADERS,
                  Http2Peer.END_STREAM,
                  stream,
                  Http2Peer.join(Http2Peer.OK, half));
              http2.frame(Http2Peer.CONTINUATION, Http2Peer.END_HEADERS, stream, half);
            }),
        answer("an HPACK bomb", bomb()));
  }

  private static final byte[] OK_BODY = "body".getBytes(US_ASCII);

  /** {@code :method: GET}, {@code :scheme: https}, {@code :path: /} and an authority. */
  private static final byte[] PROMISED =
      Http2Peer.join(
          new byte[] {(byte) 0x82, (byte) 0x87, (byte) 0x84},
          Http2Peer.header(":authority", "127.0.0.1"));

  private static Case answer(String name, byte[] headers) {
    return new Case(
        name,
        http2 ->
            http2.frame(
                Http2Peer.HEADERS,
                Http2Peer.END_STREAM | Http2Peer.END_HEADERS,
                http2.request(),
                headers));
  }

  /** A header of 4 KB that is remembered, and named thousands of times. */
  private static byte[] bomb() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(Http2Peer.OK);
    out.writeBytes(Http2Peer.remembered("x", "y".repeat(4_000)));
    for (int i = 0; i < 12_000; i++) {
      out.write(0xbe);
    }
    return out.toByteArray();
  }

  @ParameterizedTest
  @MethodSource("whatIsNotAnAnswer")
  void what_is_not_an_answer_is_a_protocol_failure(Case answer) throws Exception {
    try (Receiver receiver = receiver(answer.script());
        Senders senders = with().build()) {
      Ending ending = senders.send(HookCertificate.url(receiver));
      assertThat(ending.kind()).isEqualTo(Kind.PROTOCOL);
      assertThat(ending.millis()).isLessThan(SLACK_MILLIS);
    }
  }

  /** They come before the settings that a server must begin with. */
  @ParameterizedTest
  @MethodSource("beginnings")
  void a_server_that_begins_with_something_else_does_not_speak_http_2(Case beginning)
      throws Exception {
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  Http2Peer http2 = new Http2Peer(peer);
                  http2.preface();
                  beginning.script().run(http2);
                  peer.awaitClose();
                },
                "h2");
        Senders senders = with().build()) {
      assertThat(senders.send(HookCertificate.url(receiver)).kind()).isEqualTo(Kind.PROTOCOL);
    }
  }

  static Stream<Case> beginnings() {
    return Stream.of(
        new Case("an answer", http2 -> http2.answer(http2.request())),
        new Case("settings acknowledged", http2 -> http2.frame(Http2Peer.SETTINGS, 1, 0)),
        new Case("HTTP/1.1", http2 -> http2.write("HTTP/1.1 400 No\r\n\r\n".getBytes(US_ASCII))),
        flood("PING", Http2Peer.PING, 0, 0, new byte[8]));
  }

  /** None of them ever comes to an end. */
  static Stream<Case> silences() {
    return Stream.of(
        new Case("nothing", http2 -> {}),
        new Case("nothing after the request", Http2Peer::request),
        new Case(
            "an interim answer",
            http2 ->
                http2.frame(
                    Http2Peer.HEADERS,
                    Http2Peer.END_HEADERS,
                    http2.request(),
                    Http2Peer.header(":status", "102"))),
        new Case(
            "half a frame",
            http2 -> {
              http2.request();
              http2.write(new byte[] {0, 0, 8, 6, 0, 0});
            }),
        new Case(
            "dripping PING",
            http2 -> {
              http2.request();
              drip(http2, Http2Peer.bytes(Http2Peer.PING, 0, 0, new byte[8]));
            }),
        new Case(
            "dripping headers",
            http2 -> {
              int stream = http2.request();
              drip(
                  http2,
                  Http2Peer.bytes(
                      Http2Peer.HEADERS, 0, stream, Http2Peer.header("x", "y".repeat(100))));
            }));
  }

  /** Byte by byte. */
  private static void drip(Http2Peer http2, byte[] bytes) throws Exception {
    while (true) {
      for (byte b : bytes) {
        http2.write(new byte[] {b});
        Thread.sleep(5);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("silences")
  void an_answer_that_does_not_come_is_given_up_in_time(Case silence) throws Exception {
    try (Receiver receiver = receiver(silence.script());
        Senders senders = with().timeoutMillis(1_000).build()) {
      Ending ending = senders.send(HookCertificate.url(receiver));
      assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT);
      assertThat(ending.millis()).isBetween(1_000L, 1_000 + SLACK_MILLIS);
      awaitNoConnections(senders);
    }
  }

  @Test
  void a_body_that_never_ends_is_a_success_when_time_is_up() throws Exception {
    try (Receiver receiver =
            receiver(
                http2 -> {
                  int stream = http2.request();
                  http2.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, stream, Http2Peer.OK);
                  drip(http2, Http2Peer.bytes(Http2Peer.DATA, 0, stream, new byte[] {'x'}));
                });
        Senders senders = with().timeoutMillis(1_500).build()) {
      Ending ending = senders.send(HookCertificate.url(receiver));
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.response()).matches("x+");
      assertThat(ending.millis()).isBetween(1_500L, 1_500 + SLACK_MILLIS);
    }
  }

  /** What breaks after the status leaves the attempt its answer. */
  static Stream<Case> brokenBodies() {
    return Stream.of(
        flood("empty DATA", Http2Peer.DATA, 0, FIRST_STREAM),
        flood("padding", Http2Peer.DATA, 8, FIRST_STREAM, new byte[] {4, 0, 0, 0, 0}),
        flood("DATA", Http2Peer.DATA, 0, FIRST_STREAM, new byte[1_000]),
        new Case("reset", http2 -> http2.reset(FIRST_STREAM, Http2Peer.CANCEL)),
        new Case("refused", http2 -> http2.reset(FIRST_STREAM, Http2Peer.REFUSED_STREAM)),
        new Case("goodbye", http2 -> http2.goAway(0, 2)),
        new Case("closed", http2 -> http2.peer.socket().close()),
        new Case(
            "bad trailers",
            http2 ->
                http2.frame(
                    Http2Peer.HEADERS, 5, FIRST_STREAM, Http2Peer.header(":status", "500"))),
        new Case(
            "another status",
            http2 -> http2.frame(Http2Peer.HEADERS, 4, FIRST_STREAM, Http2Peer.OK)),
        new Case("noise", http2 -> http2.write(new byte[100])));
  }

  @ParameterizedTest
  @MethodSource("brokenBodies")
  void an_answer_that_breaks_in_its_body_counts_by_its_status(Case broken) throws Exception {
    try (Receiver receiver =
            receiver(
                http2 -> {
                  int stream = http2.request();
                  http2.frame(Http2Peer.HEADERS, Http2Peer.END_HEADERS, stream, Http2Peer.OK);
                  broken.script().run(http2);
                });
        Senders senders = with().build()) {
      Ending ending = senders.send(HookCertificate.url(receiver));
      assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
      assertThat(ending.millis()).isLessThan(SLACK_MILLIS);
    }
  }

  /** In each case the request was not, or may not have been, dealt with. */
  static Stream<Case> resets() {
    return Stream.of(
        new Case("closed at once", http2 -> http2.peer.socket().close()),
        new Case(
            "closed after the request",
            http2 -> {
              http2.request();
              http2.peer.socket().close();
            }),
        new Case("goodbye at once", http2 -> http2.goAway(0, Http2Peer.NO_ERROR)),
        new Case(
            "goodbye and close",
            http2 -> {
              int stream = http2.request();
              http2.goAway(stream, 11);
              http2.peer.socket().close();
            }),
        new Case("reset", http2 -> http2.reset(http2.request(), 2)),
        new Case("refused", http2 -> http2.reset(http2.request(), Http2Peer.REFUSED_STREAM)));
  }

  @ParameterizedTest
  @MethodSource("resets")
  void a_server_that_leaves_is_reset(Case leaving) throws Exception {
    try (Receiver receiver = receiver(leaving.script());
        Senders senders = with().build()) {
      Ending ending = senders.send(HookCertificate.url(receiver));
      assertThat(ending.kind()).isEqualTo(Kind.RESET);
      assertThat(ending.millis()).isLessThan(SLACK_MILLIS);
      assertThat(receiver.connections()).isLessThanOrEqualTo(2);
    }
  }

  @Test
  void a_megabyte_is_held_for_a_window_of_zero_and_dropped_in_time() throws Exception {
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  Http2Peer http2 = Http2Peer.greeting(peer, 4, 0);
                  http2.answer(http2.requestHead());
                  http2.requestHead();
                  peer.awaitClose();
                },
                "h2");
        Senders senders = with().timeoutMillis(1_500).build()) {
      String url = HookCertificate.url(receiver);
      Event large = Senders.event("\"" + "x".repeat(1_000_000) + "\"");
      assertThat(senders.send(Senders.delivery(url, large)).outcome())
          .isInstanceOf(Outcome.Success.class);
      Ending ending = senders.send(Senders.delivery(url, large));
      assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT);
      awaitNoConnections(senders);
    }
  }

  @Test
  void a_hundred_megabytes_for_a_server_that_does_not_read_end_in_time() throws Exception {
    try (Receiver receiver =
            certificate.receiver(
                peer -> {
                  peer.socket().setReceiveBufferSize(1_024);
                  Http2Peer http2 = Http2Peer.greeting(peer, 4, Integer.MAX_VALUE);
                  http2.windowUpdate(0, Integer.MAX_VALUE - 65_535);
                  http2.answer(http2.request());
                  Thread.sleep(10_000);
                },
                "h2");
        Senders senders = with().timeoutMillis(1_500).build()) {
      String url = HookCertificate.url(receiver);
      assertThat(senders.send(url).outcome()).isInstanceOf(Outcome.Success.class);
      Event large = Senders.event("\"" + "x".repeat(1_000_000) + "\"");
      List<CompletableFuture<Ending>> endings = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        endings.add(senders.start(Senders.delivery(url, large)));
      }
      for (CompletableFuture<Ending> ending : endings) {
        assertThat(Senders.await(ending).kind()).isEqualTo(Kind.TIMEOUT);
      }
      awaitNoConnections(senders);
      assertThat(receiver.connections()).isOne();
    }
  }

  private static void awaitNoConnections(Senders senders) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (senders.onLoop(senders.sender::openConnections) > 0 && System.nanoTime() < until) {
      Thread.sleep(10);
    }
    assertThat(senders.onLoop(senders.sender::openConnections)).isZero();
  }
}
