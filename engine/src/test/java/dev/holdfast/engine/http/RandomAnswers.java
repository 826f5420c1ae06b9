package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.engine.http.Receiver.Peer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.zip.GZIPOutputStream;

/** What receivers answer: properly, nearly so, and not at all. */
final class RandomAnswers {

  /** Ends that say that no answer came, or none that could be understood. */
  private static final Set<Kind> BROKEN = EnumSet.of(Kind.PROTOCOL, Kind.RESET, Kind.TIMEOUT);

  private static final List<String> STATUS_LINES =
      List.of(
          "HTTP/0.9 200 OK",
          "HTTP/2.0 200 OK",
          "HTTP/3 200",
          "HTTP/1.1 OK",
          "HTTP/1.1 20 OK",
          "HTTP/1.1 099 OK",
          "HTTP/1.1 2OO OK",
          "HTTP/1.1 -200 OK",
          "HTTP/1.1 99999999999999999999 OK",
          "HTTP/1.1 101 Switching Protocols",
          "HTTP/1.1",
          "HTTP/11 200 OK",
          "HTTP 200 OK",
          "ICY 200 OK",
          "RTSP/1.0 200 OK",
          "HTTPS/1.1 200 OK",
          "200 OK",
          "SSH-2.0-OpenSSH_9.9",
          "220 mail.example ESMTP",
          "<html>it works</html>",
          "POST / HTTP/1.1",
          "\u00ff\u00fe\u0000H\u0000T");

  private static final List<String> WAITS =
      List.of(
          "0",
          "-1",
          "NaN",
          "Infinity",
          "1e9",
          "120",
          "99999999999999999999999999999",
          "3.5",
          "",
          "Wed, 21 Oct 2099 07:28:00 GMT",
          "Wed, 21 Oct 1999 07:28:00 GMT",
          "Wednesday, 21-Oct-99 07:28:00 GMT",
          "Sun Nov  6 08:49:37 2094",
          "Wed, 99 Oct 2099 99:99:99 GMT",
          "+1000000000-12-31T23:59:59Z",
          "\u00e9\u00df\u00ff",
          "9".repeat(5_000));

  private static final List<String> HEADERS =
      List.of(
          "Content-Length: -1",
          "Content-Length: 99999999999999999999",
          "Content-Length: 5\r\nContent-Length: 7",
          "Content-Length: five",
          "Content-Length: 5\r\nTransfer-Encoding: chunked",
          "Transfer-Encoding: gzip, chunked",
          "Transfer-Encoding: nonsense",
          "Connection: upgrade\r\nUpgrade: h2c",
          "Keep-Alive: timeout=-5",
          "Keep-Alive: timeout=99999999999999",
          "Content-Encoding: gzip",
          ": no name",
          "no colon",
          " folded",
          "name : spaced",
          "x: \u00e9\u0000\u0001",
          "x: " + "y".repeat(15_000));

  private static final List<String> CHUNKS =
      List.of(
          "5\r\nab\r\n0\r\n\r\n",
          "ffffffffffffffff\r\nab",
          "-1\r\nab\r\n",
          "zz\r\nab\r\n0\r\n\r\n",
          "2;x=y\r\nab\r\n0\r\nTrailer: z\r\n\r\n",
          "2\r\nab0\r\n\r\n",
          "\r\n\r\n",
          "0\r\n",
          "2\r\nab\r\n0\r\n" + "t: u\r\n".repeat(5_000) + "\r\n");

  private final SplittableRandom random;

  RandomAnswers(SplittableRandom random) {
    this.random = random;
  }

  /**
   * An answer.
   *
   * @param name what it is, for whoever has to find out why it was misread
   * @param overTls whether it is given to somebody who wants to speak TLS
   * @param isRight whether an attempt that got it may end like this
   */
  record Answer(String name, boolean overTls, Receiver.Script script, Predicate<Outcome> isRight) {}

  Answer next() {
    return switch (random.nextInt(17)) {
      case 0, 1 -> proper(random.nextInt(200, 300));
      case 2 -> proper(random.nextInt(300, 1_000));
      case 3 -> asksForTime();
      case 4 -> badStatusLine();
      case 5 -> oddHeader();
      case 6 -> oddChunks();
      case 7 -> endlessHead();
      case 8 -> endlessBody();
      case 9 -> interim();
      case 10 -> drip();
      case 11 -> cut();
      case 12 -> silence();
      case 13 -> early();
      case 14 -> mutated();
      case 15 -> noise();
      default -> notTls();
    };
  }

  private Answer proper(int status) {
    boolean bodiless = status == 204 || status == 205 || status == 304;
    byte[] body = bodiless ? new byte[0] : bytes(8_000);
    int framing = bodiless ? 0 : random.nextInt(3);
    byte[] answer =
        switch (framing) {
          case 0 -> join(head(status, "Content-Length: " + body.length), body);
          case 1 -> join(head(status, "Transfer-Encoding: chunked"), chunked(body));
          default -> join(head(status, "Connection: close"), body);
        };
    byte[] kept = Arrays.copyOf(body, Math.min(body.length, Sending.KEPT_BYTES));
    return answer(
        status + " with " + body.length + " bytes, framed " + framing,
        peer -> {
          peer.request();
          inPieces(peer, answer);
        },
        outcome ->
            Arrays.equals(outcome.response(), kept)
                && switch (outcome) {
                  case Outcome.Success success -> success.status() == status && status < 300;
                  case Outcome.Failure failure -> isStatus(failure, status) && status >= 300;
                });
  }

  private static boolean isStatus(Outcome.Failure failure, int status) {
    return failure.kind() == Kind.STATUS && Integer.valueOf(status).equals(failure.status());
  }

  private Answer asksForTime() {
    int status = random.nextBoolean() ? 429 : 503;
    String wait = pick(WAITS);
    byte[] answer = head(status, "Retry-After: " + wait, "Content-Length: 0");
    return answer(
        "Retry-After: " + wait,
        peer -> {
          peer.request();
          inPieces(peer, answer);
        },
        outcome ->
            outcome instanceof Outcome.Failure failure
                && isStatus(failure, status)
                && (failure.retryAfter() == null || failure.retryAfter().equals(wait)));
  }

  private Answer badStatusLine() {
    String line = pick(STATUS_LINES);
    byte[] answer = (line + "\r\nContent-Length: 2\r\n\r\nok").getBytes(ISO_8859_1);
    return answer(
        line,
        peer -> {
          peer.request();
          inPieces(peer, answer);
        },
        outcome -> outcome instanceof Outcome.Failure failure && failure.kind() != Kind.STATUS);
  }

  private Answer oddHeader() {
    String header = pick(HEADERS);
    byte[] answer = join(head(200, header), bytes(100));
    boolean waits = random.nextBoolean();
    return answer(
        header.lines().limit(1).toList().toString(),
        peer -> {
          peer.request();
          inPieces(peer, answer);
          if (waits) {
            peer.awaitClose();
          }
        },
        RandomAnswers::isSuccessOrBroken);
  }

  private Answer oddChunks() {
    String chunks = pick(CHUNKS);
    byte[] answer = join(head(200, "Transfer-Encoding: chunked"), chunks.getBytes(ISO_8859_1));
    return answer(
        "chunks " + chunks.lines().limit(2).toList(),
        peer -> {
          peer.request();
          inPieces(peer, answer);
        },
        outcome -> outcome instanceof Outcome.Success);
  }

  private Answer endlessHead() {
    boolean inStatusLine = random.nextBoolean();
    String more = inStatusLine ? "x".repeat(100) : "header: value\r\n";
    return answer(
        inStatusLine ? "endless status line" : "endless headers",
        peer -> {
          peer.request();
          peer.write(inStatusLine ? "HTTP/1.1 200 O" : "HTTP/1.1 200 OK\r\n");
          while (true) {
            peer.write(more);
          }
        },
        outcome -> isBroken(outcome));
  }

  private Answer endlessBody() {
    boolean inChunks = random.nextBoolean();
    boolean bomb = random.nextBoolean();
    byte[] more = bomb ? gzipped(100_000) : bytes(2_000);
    byte[] piece = inChunks ? chunk(more) : more;
    byte[] head =
        head(
            200,
            inChunks ? "Transfer-Encoding: chunked" : "X: y",
            bomb ? "Content-Encoding: gzip" : "X: y");
    return answer(
        "endless body" + (bomb ? " that is a gzip bomb" : ""),
        peer -> {
          peer.request();
          peer.out().write(head);
          while (true) {
            peer.out().write(piece);
          }
        },
        outcome ->
            outcome instanceof Outcome.Success success
                && success.response().length <= Sending.KEPT_BYTES);
  }

  private Answer interim() {
    int count = random.nextInt(80);
    byte[] final200 = head(200, "Content-Length: 0");
    return answer(
        count + " interim answers",
        peer -> {
          peer.request();
          for (int i = 0; i < count; i++) {
            peer.write("HTTP/1.1 " + (i % 2 == 0 ? "102 Processing" : "103 Hints") + "\r\n\r\n");
          }
          peer.out().write(final200);
        },
        outcome -> count <= 32 ? outcome instanceof Outcome.Success : isBroken(outcome));
  }

  private Answer drip() {
    boolean headFirst = random.nextBoolean();
    return answer(
        headFirst ? "dripping body" : "dripping head",
        peer -> {
          peer.request();
          peer.write("HTTP/1.1 200 OK\r\n" + (headFirst ? "Content-Length: 1000\r\n\r\n" : ""));
          while (true) {
            peer.write(headFirst ? "x" : "x: y\r\n");
            Thread.sleep(100);
          }
        },
        outcome -> headFirst ? outcome instanceof Outcome.Success : isTimeout(outcome));
  }

  private static boolean isTimeout(Outcome outcome) {
    return outcome instanceof Outcome.Failure failure && failure.kind() == Kind.TIMEOUT;
  }

  /** Ends in the middle, politely or with a reset. */
  private Answer cut() {
    byte[] body = bytes(100);
    byte[] head = head(200, "Content-Length: " + body.length);
    byte[] answer = join(head, body);
    int at = random.nextInt(answer.length);
    boolean reads = random.nextInt(4) > 0;
    boolean resets = random.nextBoolean();
    return answer(
        "cut at %d of %d, reads %s, resets %s".formatted(at, answer.length, reads, resets),
        peer -> {
          if (reads) {
            peer.request();
          }
          peer.out().write(answer, 0, at);
          if (resets) {
            peer.socket().setSoLinger(true, 0);
          }
        },
        outcome ->
            isBrokenAtOnce(outcome) || (at >= head.length && outcome instanceof Outcome.Success));
  }

  private Answer silence() {
    boolean reads = random.nextBoolean();
    return answer(
        "silence",
        peer -> {
          if (reads) {
            peer.request();
          }
          peer.awaitClose();
        },
        RandomAnswers::isTimeout);
  }

  /** Answers before the request is read, and waits or leaves. */
  private Answer early() {
    int status = random.nextInt(200, 600);
    byte[] answer = head(status, "Content-Length: 0");
    boolean leaves = random.nextBoolean();
    return answer(
        "early " + status,
        peer -> {
          peer.out().write(answer);
          if (!leaves) {
            peer.awaitClose();
          }
        },
        outcome ->
            isBrokenAtOnce(outcome)
                || (outcome instanceof Outcome.Success success && success.status() == status)
                || (outcome instanceof Outcome.Failure failure && isStatus(failure, status)));
  }

  /** A proper answer in which some bytes are others. */
  private Answer mutated() {
    byte[] body = bytes(200);
    byte[] answer =
        random.nextBoolean()
            ? join(head(200, "Content-Length: " + body.length, "Retry-After: 5"), body)
            : join(head(503, "Transfer-Encoding: chunked"), chunked(body));
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      answer[random.nextInt(answer.length)] = (byte) random.nextInt();
    }
    return answer(
        "mutated: " + new String(answer, ISO_8859_1),
        peer -> {
          peer.request();
          inPieces(peer, answer);
        },
        outcome -> true);
  }

  private Answer noise() {
    byte[] noise = bytes(40_000);
    boolean resets = random.nextBoolean();
    return answer(
        noise.length + " bytes of noise",
        peer -> {
          peer.request();
          inPieces(peer, noise);
          if (resets) {
            peer.socket().setSoLinger(true, 0);
          }
        },
        outcome -> isBroken(outcome));
  }

  private Answer notTls() {
    byte[] record = bytes(2_000);
    int kind = random.nextInt(4);
    if (kind == 1 && record.length > 5) {
      // Looks like a handshake of TLS 1.2 that has a length, and nonsense in it.
      System.arraycopy(new byte[] {22, 3, 3, 1, 0}, 0, record, 0, 5);
    }
    return new Answer(
        "no TLS, " + kind,
        true,
        peer -> {
          switch (kind) {
            case 0, 1 -> inPieces(peer, record);
            case 2 -> peer.out().write(head(200, "Content-Length: 0"));
            default -> peer.awaitClose();
          }
        },
        outcome ->
            outcome instanceof Outcome.Failure failure
                && EnumSet.of(Kind.TLS, Kind.CONNECT, Kind.RESET, Kind.TIMEOUT)
                    .contains(failure.kind()));
  }

  private static boolean isBroken(Outcome outcome) {
    return outcome instanceof Outcome.Failure failure && BROKEN.contains(failure.kind());
  }

  /** A reset that comes before the request is read may be noticed while still connecting. */
  private static boolean isBrokenAtOnce(Outcome outcome) {
    return isBroken(outcome)
        || (outcome instanceof Outcome.Failure failure && failure.kind() == Kind.CONNECT);
  }

  private static boolean isSuccessOrBroken(Outcome outcome) {
    return outcome instanceof Outcome.Success || isBroken(outcome);
  }

  private static Answer answer(String name, Receiver.Script script, Predicate<Outcome> isRight) {
    return new Answer(name, false, script, isRight);
  }

  /** As networks do it, in pieces of any size. The places are drawn by the thread that answers. */
  private void inPieces(Peer peer, byte[] bytes) throws IOException {
    SplittableRandom places = new SplittableRandom(bytes.length);
    int at = 0;
    int pieces = 0;
    while (at < bytes.length) {
      int length =
          pieces++ < 5 ? Math.min(bytes.length - at, places.nextInt(1, 400)) : bytes.length - at;
      peer.out().write(bytes, at, length);
      peer.out().flush();
      at += length;
    }
  }

  private static byte[] head(int status, String... headers) {
    return ("HTTP/1.1 " + status + " Whatever\r\n" + String.join("\r\n", headers) + "\r\n\r\n")
        .getBytes(ISO_8859_1);
  }

  private byte[] chunked(byte[] body) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int at = 0;
    while (at < body.length) {
      int length = Math.min(body.length - at, random.nextInt(1, 3_000));
      out.writeBytes(chunk(Arrays.copyOfRange(body, at, at + length)));
      at += length;
    }
    out.writeBytes("0\r\n\r\n".getBytes(ISO_8859_1));
    return out.toByteArray();
  }

  private static byte[] chunk(byte[] bytes) {
    return join(
        (Integer.toHexString(bytes.length) + "\r\n").getBytes(ISO_8859_1),
        bytes,
        "\r\n".getBytes(ISO_8859_1));
  }

  private static byte[] gzipped(int zeros) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(new byte[zeros]);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return out.toByteArray();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private byte[] bytes(int most) {
    byte[] bytes = new byte[random.nextInt(1, most + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
