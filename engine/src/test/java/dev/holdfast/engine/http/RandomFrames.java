package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** What servers say in HTTP/2: properly, nearly so, and not at all. */
final class RandomFrames {
  private static final List<String> STATUSES =
      List.of("200", "204", "302", "503", "100", "102", "103", "101", "000", "2", "", "abc", "999");

  private static final List<byte[]> HEADERS =
      List.of(
          Http2Peer.header("x", "y"),
          Http2Peer.remembered("x", "y".repeat(500)),
          Http2Peer.header("content-length", "5"),
          Http2Peer.header("content-length", "-1"),
          Http2Peer.header("retry-after", "7"),
          Http2Peer.header("transfer-encoding", "chunked"),
          Http2Peer.header("Upper", "case"),
          Http2Peer.header(":path", "/"),
          Http2Peer.header("", ""),
          Http2Peer.header("x", "\r\n\0"),
          Http2Peer.header("x", "y".repeat(5_000)),
          new byte[] {(byte) 0xbe},
          new byte[] {(byte) 0x3f, (byte) 0xe1, 0x7f},
          new byte[] {0x20},
          new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff},
          new byte[] {0x00, (byte) 0x85, 1, 2, 3, 4, 5});

  private final SplittableRandom random;

  RandomFrames(SplittableRandom random) {
    this.random = random;
  }

  /**
   * A server.
   *
   * @param isProper whether it answers as it should
   * @param isRight whether an attempt that meets it may end like this
   */
  record Server(
      String name, boolean isProper, Receiver.Script script, Predicate<Outcome> isRight) {}

  Server next() {
    return switch (random.nextInt(8)) {
      case 0, 1 -> proper();
      case 2 -> mutated();
      case 3 -> noise();
      default -> frames();
    };
  }

  /** An answer in some of the many ways that are allowed, among frames that mean nothing. */
  private Server proper() {
    int status = random.nextInt(200, 600);
    int body = random.nextInt(3) == 0 ? 0 : random.nextInt(12_000);
    long seed = random.nextLong();
    return new Server(
        "proper " + status + ", " + body + " bytes",
        true,
        peer -> {
          Http2Peer http2 = Http2Peer.greeting(peer, 3, 50);
          while (true) {
            http2.write(proper(http2.request(), status, body, new SplittableRandom(seed)));
          }
        },
        outcome ->
            outcome.response().length == Math.min(body, Sending.KEPT_BYTES)
                && (outcome instanceof Outcome.Success success
                    ? success.status() == status
                    : outcome instanceof Outcome.Failure failure
                        && failure.status() != null
                        && failure.status() == status));
  }

  private static byte[] proper(int stream, int status, int body, SplittableRandom random) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    if (random.nextBoolean()) {
      out.writeBytes(
          Http2Peer.bytes(Http2Peer.HEADERS, 4, stream, Http2Peer.header(":status", "103")));
    }
    byte[] head = Http2Peer.header(":status", Integer.toString(status));
    boolean trailers = random.nextBoolean();
    int last = body == 0 && !trailers ? Http2Peer.END_STREAM : 0;
    if (random.nextBoolean()) {
      int at = random.nextInt(head.length + 1);
      byte[] start = Arrays.copyOf(head, at);
      byte[] end = Arrays.copyOfRange(head, at, head.length);
      out.writeBytes(Http2Peer.bytes(Http2Peer.HEADERS, last, stream, start));
      out.writeBytes(Http2Peer.bytes(Http2Peer.CONTINUATION, Http2Peer.END_HEADERS, stream, end));
    } else {
      out.writeBytes(
          Http2Peer.bytes(Http2Peer.HEADERS, last | Http2Peer.END_HEADERS, stream, head));
    }
    int left = body;
    while (left > 0) {
      if (random.nextInt(3) == 0) {
        out.writeBytes(Http2Peer.bytes(Http2Peer.PING, 0, 0, new byte[8]));
        out.writeBytes(Http2Peer.bytes(200, 0, 0, new byte[10]));
      }
      int length = Math.min(left, random.nextInt(1, 5_000));
      left -= length;
      int flags = left == 0 && !trailers ? Http2Peer.END_STREAM : 0;
      out.writeBytes(Http2Peer.bytes(Http2Peer.DATA, flags, stream, new byte[length]));
    }
    if (trailers) {
      out.writeBytes(Http2Peer.bytes(Http2Peer.HEADERS, 5, stream, Http2Peer.header("x", "y")));
    }
    return out.toByteArray();
  }

  /** A proper answer in which some bytes are others. */
  private Server mutated() {
    byte[] answer = proper(3, 200, random.nextInt(300), random);
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      answer[random.nextInt(answer.length)] = (byte) random.nextInt();
    }
    return new Server(
        "mutated",
        false,
        peer -> {
          Http2Peer http2 = Http2Peer.greeting(peer);
          http2.request();
          http2.write(answer);
          linger(peer);
        },
        _ -> true);
  }

  private Server noise() {
    byte[] noise = new byte[random.nextInt(1, 40_000)];
    random.nextBytes(noise);
    boolean greets = random.nextBoolean();
    return new Server(
        noise.length + " bytes of noise",
        false,
        peer -> {
          Http2Peer http2 = new Http2Peer(peer);
          http2.preface();
          if (greets) {
            http2.settings();
          }
          http2.write(noise);
          linger(peer);
        },
        _ -> true);
  }

  /** Frames of any kind, with and without sense, before, amid and after an answer. */
  private Server frames() {
    List<byte[]> frames = new ArrayList<>();
    for (int i = random.nextInt(1, 40); i > 0; i--) {
      frames.add(frame());
    }
    boolean reads = random.nextInt(4) > 0;
    boolean answers = random.nextBoolean();
    boolean leaves = random.nextBoolean();
    return new Server(
        frames.size() + " frames",
        false,
        peer -> {
          Http2Peer http2 = Http2Peer.greeting(peer);
          if (reads) {
            http2.request();
          }
          for (byte[] frame : frames) {
            http2.write(frame);
          }
          if (answers) {
            http2.answer(3);
          }
          if (!leaves) {
            linger(peer);
          }
        },
        _ -> true);
  }

  private byte[] frame() {
    int stream = random.nextInt(3) == 0 ? random.nextInt(8) : 3;
    int flags = random.nextInt(5) == 0 ? random.nextInt(256) : random.nextInt(6);
    return switch (random.nextInt(12)) {
      case 0, 1 -> Http2Peer.bytes(Http2Peer.DATA, flags, stream, bytes(2_000));
      case 2, 3, 4 -> Http2Peer.bytes(Http2Peer.HEADERS, flags | 4, stream, block());
      case 5 -> Http2Peer.bytes(Http2Peer.HEADERS, flags & 1, stream, block());
      case 6 -> Http2Peer.bytes(Http2Peer.CONTINUATION, flags, stream, block());
      case 7 -> Http2Peer.bytes(Http2Peer.RST_STREAM, 0, stream, Http2Peer.number(error()));
      case 8 -> Http2Peer.bytes(Http2Peer.WINDOW_UPDATE, 0, stream, Http2Peer.number(error()));
      case 9 -> Http2Peer.bytes(Http2Peer.SETTINGS, 0, 0, setting());
      case 10 ->
          Http2Peer.bytes(
              Http2Peer.GOAWAY,
              0,
              0,
              Http2Peer.join(Http2Peer.number(random.nextInt(6)), Http2Peer.number(error())));
      default -> Http2Peer.bytes(random.nextInt(12), flags, stream, bytes(20));
    };
  }

  private byte[] setting() {
    int value = random.nextBoolean() ? random.nextInt(100) : random.nextInt();
    return Http2Peer.join(new byte[] {0, (byte) random.nextInt(9)}, Http2Peer.number(value));
  }

  private int error() {
    return random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(15);
  }

  private byte[] block() {
    byte[] block = Http2Peer.header(":status", STATUSES.get(random.nextInt(STATUSES.size())));
    for (int i = random.nextInt(3); i > 0; i--) {
      block = Http2Peer.join(block, HEADERS.get(random.nextInt(HEADERS.size())));
    }
    return block;
  }

  private byte[] bytes(int most) {
    byte[] bytes = new byte[random.nextInt(most + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static void linger(Receiver.Peer peer) throws IOException {
    peer.awaitClose();
  }
}
