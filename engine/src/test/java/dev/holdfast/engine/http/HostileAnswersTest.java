package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.Leaks;
import dev.holdfast.engine.http.Receiver.Script;
import dev.holdfast.engine.http.Senders.Ending;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What servers may answer to do harm, over plain HTTP/1.1. See {@link Siege} for what holds. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class HostileAnswersTest {
  private static final String HEAD = "HTTP/1.1 200 OK\r\n";
  private static final String CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n";
  private static final String SMALL = "{\"a\":1}";

  private static Leaks leaks;
  private static Siege brief;
  private static Siege patient;

  /**
   * @param ended as what the attempts end; several where it depends on what is read first
   */
  record Hostile(String name, Script script, List<Kind> ended) {
    /** Attempts that may end by their time limit get a short one. */
    Siege siege() {
      return ended.contains(Kind.TIMEOUT) ? brief : patient;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  @BeforeAll
  static void begin() {
    leaks = new Leaks();
    brief = new Siege(Siege.BRIEF_MILLIS);
    patient = new Siege(Siege.PATIENT_MILLIS);
  }

  @AfterAll
  static void nothing_is_left() throws Exception {
    brief.close();
    patient.close();
    leaks.assertNone();
    leaks.close();
  }

  /** Reads the request, sends this over and over for as long as somebody reads it. */
  private static Script endless(String beginning, String piece) {
    byte[] many = piece.repeat(Math.max(1, 8_192 / piece.length())).getBytes(ISO_8859_1);
    return peer -> {
      peer.request();
      peer.write(beginning);
      while (true) {
        peer.out().write(many);
      }
    };
  }

  /** The same, slowly. */
  private static Script dripping(String beginning, String piece) {
    return peer -> {
      peer.request();
      peer.write(beginning);
      while (true) {
        peer.write(piece);
        Thread.sleep(5);
      }
    };
  }

  /** Sends this once, and then nothing more. */
  private static Script once(String answer) {
    return peer -> {
      peer.request();
      peer.write(answer);
      peer.awaitClose();
    };
  }

  private static Hostile hostile(String name, Script script, Kind... ended) {
    return new Hostile(name, script, List.of(ended));
  }

  private static Stream<Hostile> failing() {
    String megabyte = "y".repeat(1 << 20);
    return Stream.of(
        hostile("a header of 1 MB", once(HEAD + "x: " + megabyte + "\r\n\r\n"), Kind.PROTOCOL),
        hostile(
            "1 MB of headers",
            once(HEAD + "x-header: of no use\r\n".repeat(50_000) + "\r\n"),
            Kind.PROTOCOL),
        hostile("a header without end", endless(HEAD + "x: ", "y"), Kind.PROTOCOL),
        hostile("headers without end", endless(HEAD, "x: y\r\n"), Kind.PROTOCOL),
        hostile("empty headers without end", endless(HEAD, ":\r\n"), Kind.PROTOCOL),
        hostile(
            "a header that goes on and on", endless(HEAD + "x: y\r\n", " z\r\n"), Kind.PROTOCOL),
        hostile(
            "a header that goes on and on after empty lines",
            endless("\r\n\r\n" + HEAD + "x: y\r\n", "\tz\r\n"),
            Kind.PROTOCOL),
        hostile("a dripping header", dripping(HEAD + "x: ", "y"), Kind.TIMEOUT),
        hostile(
            "headers dripping in large drops",
            dripping(HEAD, "x: " + "y".repeat(1_000) + "\r\n"),
            Kind.PROTOCOL),
        hostile("a status line without end", endless("HTTP/1.1 200 ", "O"), Kind.PROTOCOL),
        hostile("a dripping status line", dripping("HTTP/1.1 200 ", "O"), Kind.TIMEOUT),
        hostile("empty lines without end", endless("", "\r\n"), Kind.PROTOCOL),
        hostile("dripping empty lines", dripping("", "\r\n"), Kind.TIMEOUT),
        hostile("zeros without end", endless("", "\0"), Kind.PROTOCOL),
        hostile("text without end", endless("", "a"), Kind.PROTOCOL),
        hostile(
            "interim answers with much in them",
            endless("", "HTTP/1.1 103 Early Hints\r\nlink: " + "y".repeat(10_000) + "\r\n\r\n"),
            Kind.PROTOCOL),
        hostile(
            "an interim answer of 1 MB",
            once("HTTP/1.1 103 Early Hints\r\nlink: " + megabyte + "\r\n\r\n"),
            Kind.PROTOCOL),
        hostile(
            "dripping interim answers",
            dripping("", "HTTP/1.1 100 Continue\r\n\r\n"),
            Kind.PROTOCOL),
        hostile(
            "an interim answer with a body",
            once("HTTP/1.1 102 Processing\r\nContent-Length: 5\r\n\r\nhello"),
            Kind.PROTOCOL,
            Kind.TIMEOUT),
        hostile(
            "a length beyond all numbers",
            once(HEAD + "Content-Length: 99999999999999999999\r\n\r\n"),
            Kind.PROTOCOL),
        hostile("a negative length", once(HEAD + "Content-Length: -5\r\n\r\n"), Kind.PROTOCOL),
        hostile("a length that is none", once(HEAD + "Content-Length: ten\r\n\r\n"), Kind.PROTOCOL),
        hostile(
            "frames of HTTP/2",
            endless("", "\0\0\u0008\u0006\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            Kind.PROTOCOL),
        hostile("nothing read, nothing sent", peer -> Thread.sleep(60_000), Kind.TIMEOUT),
        hostile(
            "a reset amid the headers",
            peer -> {
              peer.request();
              peer.write(HEAD + "x: y\r\n");
              peer.socket().setSoLinger(true, 0);
            },
            Kind.RESET),
        hostile(
            "a reset before the request",
            peer -> peer.socket().setSoLinger(true, 0),
            Kind.RESET,
            Kind.CONNECT),
        hostile(
            "half closed and open for ever",
            peer -> {
              peer.request();
              peer.socket().shutdownOutput();
              peer.awaitClose();
            },
            Kind.RESET),
        hostile(
            "closed amid interim answers",
            peer -> {
              peer.request();
              peer.write("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 1");
            },
            Kind.RESET));
  }

  /**
   * The status and all headers have come in time, so they count; but the rest is not waited for.
   */
  private static Stream<Hostile> succeeding() {
    return Stream.of(
        hostile("a chunk of a size that is no number", once(CHUNKED + "zz\r\nabc\r\n")),
        hostile("a chunk of negative size", once(CHUNKED + "-5\r\nabc\r\n")),
        hostile("a chunk of a size beyond all numbers", once(CHUNKED + "f".repeat(17) + "\r\nabc")),
        hostile("a chunk of two gigabytes", endless(CHUNKED + "7fffffff\r\n", "x")),
        hostile("a chunk without a size", once(CHUNKED + "\r\nabc\r\n")),
        hostile("a chunk of more than its size", once(CHUNKED + "3\r\nabcdef\r\n0\r\n\r\n")),
        hostile("a chunk of less than its size", once(CHUNKED + "8\r\nabc\r\n")),
        hostile("chunk sizes without end", endless(CHUNKED, "0")),
        hostile("a chunk extension without end", endless(CHUNKED + "5;", "x")),
        hostile("a dripping chunk extension", dripping(CHUNKED + "5;", "x")),
        hostile("chunks of one byte without end", endless(CHUNKED, "1\r\nx\r\n")),
        hostile(
            "chunks of one byte with extensions",
            endless(CHUNKED, "1;" + "y".repeat(1_000) + "\r\nx\r\n")),
        hostile("trailers without end", endless(CHUNKED + "0\r\n", "x: y\r\n")),
        hostile("a trailer without end", endless(CHUNKED + "0\r\nx: ", "y")),
        hostile("a trailer that goes on", endless(CHUNKED + "0\r\nx: y\r\n", " z\r\n")),
        hostile("dripping trailers", dripping(CHUNKED + "0\r\n", "x: y\r\n")),
        hostile("a body without end", endless(HEAD + "\r\n", "x")),
        hostile(
            "a body that is never sent",
            once(HEAD + "Content-Length: 9223372036854775807\r\n\r\n")),
        hostile("answers without end", endless("", HEAD + "Content-Length: 0\r\n\r\n")),
        hostile(
            "an answer before the request",
            peer -> {
              peer.write(HEAD + "Connection: close\r\nContent-Length: 0\r\n\r\n");
              peer.awaitClose();
            }),
        hostile(
            "a reset amid the body",
            peer -> {
              peer.request();
              peer.write(HEAD + "Content-Length: 10\r\n\r\nhalf");
              peer.in().read();
              peer.socket().setSoLinger(true, 0);
            }));
  }

  @ParameterizedTest
  @MethodSource("failing")
  void what_is_no_answer_is_a_failure(Hostile hostile) throws Exception {
    assertThat(hostile.siege().of("http", hostile.script(), SMALL))
        .allSatisfy(ending -> assertThat(ending.kind()).isIn(hostile.ended()));
  }

  private static boolean isLasting(Hostile hostile) {
    return hostile.name().contains("dripping")
        || hostile.name().contains("less than its size")
        || hostile.name().contains("never sent")
        || hostile.name().contains("reset");
  }

  @ParameterizedTest
  @MethodSource("succeeding")
  void an_answer_counts_whatever_comes_after_its_headers(Hostile hostile) throws Exception {
    Siege siege = isLasting(hostile) ? brief : patient;
    assertThat(siege.of("http", hostile.script(), SMALL))
        .allSatisfy(ending -> assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class));
  }

  @Test
  void a_header_of_a_few_lines_and_a_body_of_indented_ones_are_read_as_they_are() throws Exception {
    String body = "{\n" + "  \"a\": 1,\n".repeat(60) + "}";
    String chunked = "%x\r\n%s\r\n0\r\n\r\n".formatted(body.length(), body);
    String folded = HEAD + "Connection: close\r\nx: a\r\n b\r\n c\r\n";
    for (String answer :
        List.of(
            folded + "Content-Length: " + body.length() + "\r\n\r\n" + body,
            "\r\n" + folded + "Transfer-Encoding: chunked\r\n\r\n" + chunked)) {
      Script script =
          peer -> {
            peer.request();
            peer.write(answer);
            peer.awaitClose();
          };
      assertThat(patient.of("http", script, SMALL))
          .allSatisfy(ending -> assertThat(ending.response()).isEqualTo(body))
          .allSatisfy(ending -> assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class));
    }
  }

  @Test
  void a_megabyte_that_is_never_read_is_given_up_in_time() throws Exception {
    String data = "\"" + "x".repeat(8_000_000) + "\"";
    assertThat(brief.of("http", peer -> Thread.sleep(60_000), data))
        .allSatisfy(ending -> assertThat(ending.kind()).isEqualTo(Kind.TIMEOUT));
  }

  @Test
  void what_is_compressed_is_not_unpacked() throws Exception {
    byte[] bomb = bomb();
    Script script =
        peer -> {
          Receiver.Request request = peer.request();
          assertThat(request.headers("accept-encoding")).isEmpty();
          peer.write(
              HEAD + "Content-Encoding: gzip\r\nContent-Length: " + bomb.length + "\r\n\r\n");
          peer.out().write(bomb);
          peer.awaitClose();
        };
    byte[] beginning = Arrays.copyOf(bomb, Sending.KEPT_BYTES);
    List<Ending> endings = patient.of("http", script, SMALL);
    assertThat(endings)
        .allSatisfy(
            ending -> {
              assertThat(ending.outcome()).isInstanceOf(Outcome.Success.class);
              assertThat(ending.outcome().response()).isEqualTo(beginning);
            });
  }

  /** 64 MB in 64 KB. */
  private static byte[] bomb() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      byte[] zeros = new byte[1 << 20];
      for (int i = 0; i < 64; i++) {
        gzip.write(zeros);
      }
    }
    return packed.toByteArray();
  }
}
