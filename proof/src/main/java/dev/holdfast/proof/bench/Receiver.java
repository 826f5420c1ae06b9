package dev.holdfast.proof.bench;

import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.OpenSSLEngineOptions;
import io.vertx.core.net.PfxOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A process that takes what is delivered, as cheaply as it can, and counts it.
 *
 * <p>The first letter of the path, as in {@code /e/17}, names a group. Each group is counted apart
 * and has its own way to answer. A group counts each number once, so what was lost and what came
 * twice shows.
 *
 * <p>{@code /control/stats} tells the counts, {@code /control/delivered?group=e} one of them,
 * {@code /control/reset} forgets all, {@code /control/mark} only how long things took, and {@code
 * /control/answer?group=h&how=hang} sets how a group answers: a status, {@code hang}, {@code close}
 * for a connection that ends with its answer, or {@code flap} for 200 and 500 by turns, a second
 * each.
 *
 * <p>Posts of events are taken on a port of their own, which {@code /control/post-port} tells
 * ({@link PostReader}); the other port takes them as well, as a usual server of Vert.x does, and
 * stands in for one where a bare server is measured.
 *
 * <p>With a directory as its argument it takes HTTPS as well, on the port that {@code
 * /control/https-port} tells, with a certificate that it makes there.
 */
final class Receiver {
  private static final String CONTROL = "/control/";
  private static final String HANG = "hang";
  private static final String CLOSE = "close";
  private static final String FLAP = "flap";
  private static final long FLAP_NANOS = 1_000_000_000L;
  private static final int ACCEPT_BACKLOG = 4_096;

  /** Stands for the status of a request that is left without one. */
  static final int NO_ANSWER = 0;

  /** Events are numbered from 0; a number above this is no number of ours. */
  private static final int HIGHEST_NUMBER = 1 << 28;

  private final @Nullable Group[] groups = new Group[26];
  private final byte[] scratch = new byte[4_096];
  private long unmarked;
  private int httpsPort;
  private int postPort;

  Receiver() {}

  public static void main(String[] args) throws Exception {
    Vertx vertx = Control.vertx();
    Receiver receiver = new Receiver();
    receiver
        .listenEncrypted(vertx, args)
        .compose(_ -> receiver.listenForPosts(vertx))
        .compose(_ -> receiver.listen(vertx, options()))
        .onSuccess(Control::ready)
        .onFailure(
            failure -> {
              failure.printStackTrace();
              System.exit(1);
            });
    Control.waitForEnd();
    System.exit(0);
  }

  private static HttpServerOptions options() {
    return new HttpServerOptions()
        .setHost(Control.LOCALHOST)
        .setPort(0)
        .setAcceptBacklog(ACCEPT_BACKLOG);
  }

  private Future<HttpServer> listen(Vertx vertx, HttpServerOptions options) {
    return vertx.createHttpServer(options).requestHandler(this::handle).listen();
  }

  private Future<?> listenEncrypted(Vertx vertx, String[] directory)
      throws IOException, InterruptedException {
    if (directory.length == 0) {
      return Future.succeededFuture();
    }
    TestAuthority authority = TestAuthority.in(Path.of(directory[0]));
    authority.make();
    HttpServerOptions options =
        options()
            .setSsl(true)
            .setUseAlpn(false)
            .setKeyCertOptions(
                new PfxOptions()
                    .setPath(authority.keys().toString())
                    .setPassword(TestAuthority.PASSWORD)
                    .setAlias("receiver"));
    if (OpenSSLEngineOptions.isAvailable()) {
      options.setSslEngineOptions(new OpenSSLEngineOptions());
    }
    return listen(vertx, options).onSuccess(server -> httpsPort = server.actualPort());
  }

  /** Where most comes in, at the least expense. */
  private Future<?> listenForPosts(Vertx vertx) {
    return vertx
        .createNetServer(
            new NetServerOptions()
                .setHost(Control.LOCALHOST)
                .setPort(0)
                .setAcceptBacklog(ACCEPT_BACKLOG))
        .connectHandler(this::takePosts)
        .listen()
        .onSuccess(server -> postPort = server.actualPort());
  }

  /** Nothing of Vert.x's comes between what is read and its reader. */
  private void takePosts(NetSocket socket) {
    ChannelHandlerContext ofVertx = ((NetSocketInternal) socket).channelHandlerContext();
    ofVertx.pipeline().addFirst(new PostReader(this));
  }

  private void handle(HttpServerRequest request) {
    String path = String.valueOf(request.path());
    if (path.startsWith(CONTROL)) {
      request.response().end(control(request, path.substring(CONTROL.length())));
      return;
    }
    Arrival arrival = new Arrival(request, group(path.length() > 1 ? path.charAt(1) : 'e'));
    request.handler(arrival);
    request.endHandler(arrival::end);
  }

  /** Counts a request; what it is to be answered with, or {@link #NO_ANSWER}. */
  int take(Group group, @Nullable Mark mark) {
    group.requests++;
    if (group.hang) {
      group.hung++;
      group.hanging++;
      return NO_ANSWER;
    }
    long now = System.nanoTime();
    int status = group.status(now);
    if (mark == null) {
      unmarked++;
    } else if (status < 300) {
      group.arrived(mark, now);
    } else {
      group.failed++;
    }
    return status;
  }

  Group group(char letter) {
    int index = Math.clamp(letter - 'a', 0, groups.length - 1);
    Group group = groups[index];
    if (group == null) {
      group = new Group();
      groups[index] = group;
    }
    return group;
  }

  private String control(HttpServerRequest request, String command) {
    return switch (command) {
      case "stats" -> stats();
      case "https-port" -> Integer.toString(httpsPort);
      case "post-port" -> Integer.toString(postPort);
      case "delivered" -> {
        char letter = Control.required(request.params(), "group").charAt(0);
        yield Long.toString(letter == Rig.ALL ? allNumbers() : group(letter).numbers);
      }
      case "answer" -> {
        String how = Control.required(request.params(), "how");
        groupOf(request).answer(how);
        yield "ok\n";
      }
      case "mark" -> {
        for (Group group : groups) {
          if (group != null) {
            group.latency.reset();
          }
        }
        yield "ok\n";
      }
      case "reset" -> {
        Arrays.fill(groups, null);
        unmarked = 0;
        yield "ok\n";
      }
      default -> "unknown command " + command + "\n";
    };
  }

  private Group groupOf(HttpServerRequest request) {
    return group(Control.required(request.params(), "group").charAt(0));
  }

  private long allNumbers() {
    long sum = 0;
    for (Group group : groups) {
      sum += group == null ? 0 : group.numbers;
    }
    return sum;
  }

  private String stats() {
    StringBuilder text = new StringBuilder();
    text.append("at ").append(System.nanoTime()).append('\n');
    text.append("unmarked ").append(unmarked).append('\n');
    Group.line(text, "numbers", Rig.ALL, allNumbers());
    for (int i = 0; i < groups.length; i++) {
      Group group = groups[i];
      if (group != null) {
        group.describe((char) ('a' + i), text);
      }
    }
    return text.toString();
  }

  /** What is counted about the paths that begin with one letter. */
  static final class Group {
    private final BitSet seen = new BitSet();
    private final Histogram latency = Control.histogram();
    private long requests;
    private int numbers;
    private long repeats;
    private long failed;
    private long hung;
    private long hanging;
    private long firstAt;
    private long lastAt;
    private int status = 200;
    private boolean hang;
    private boolean close;
    private boolean flap;

    /** From now on with this status, or {@code hang}, {@code close} or {@code flap}. */
    void answer(String how) {
      hang = how.equals(HANG);
      close = how.equals(CLOSE);
      flap = how.equals(FLAP);
      boolean isStatus = !hang && !close && !flap;
      status = isStatus ? Integer.parseInt(how) : 200;
    }

    private int status(long now) {
      return flap && now / FLAP_NANOS % 2 == 1 ? 500 : status;
    }

    /** Whether a connection ends with its answer. */
    boolean closes() {
      return close;
    }

    /** A connection without an answer was given up. */
    void hangsNoLonger() {
      hanging--;
    }

    private void arrived(Mark mark, long now) {
      if (mark.number() < 0 || mark.number() > HIGHEST_NUMBER || seen.get(mark.number())) {
        repeats++;
        return;
      }
      seen.set(mark.number());
      if (numbers++ == 0) {
        firstAt = now;
      }
      lastAt = now;
      if (mark.sentAtNanos() != Mark.UNTIMED) {
        Control.record(latency, now - mark.sentAtNanos());
      }
    }

    void describe(char letter, StringBuilder text) {
      line(text, "requests", letter, requests);
      line(text, "numbers", letter, numbers);
      line(text, "repeats", letter, repeats);
      line(text, "failed", letter, failed);
      line(text, "hung", letter, hung);
      line(text, "hanging", letter, hanging);
      line(text, "first", letter, firstAt);
      line(text, "last", letter, lastAt);
      text.append("latency.").append(letter).append(' ');
      text.append(Control.encode(latency)).append('\n');
    }

    private static void line(StringBuilder text, String name, char letter, long value) {
      text.append(name).append('.').append(letter).append(' ').append(value).append('\n');
    }
  }

  /** One request, from its head to its end. */
  private final class Arrival implements Handler<Buffer> {
    private final HttpServerRequest request;
    private final Group group;
    private @Nullable Mark mark;
    private @Nullable Buffer sofar;

    Arrival(HttpServerRequest request, Group group) {
      this.request = request;
      this.group = group;
    }

    @Override
    public void handle(Buffer chunk) {
      if (mark != null) {
        return;
      }
      Buffer body = sofar == null ? chunk : sofar.appendBuffer(chunk);
      int length = Math.min(body.length(), scratch.length);
      body.getBytes(0, length, scratch);
      mark = Mark.find(scratch, 0, length);
      if (mark == null && length < scratch.length) {
        sofar = sofar == null ? Buffer.buffer().appendBuffer(chunk) : body;
      }
    }

    void end(@Nullable Void nothing) {
      int status = take(group, mark);
      if (status == NO_ANSWER) {
        request.connection().closeHandler(_ -> group.hangsNoLonger());
        return;
      }
      if (group.closes()) {
        request.response().putHeader("connection", "close");
      }
      if (status != 200) {
        request.response().setStatusCode(status);
      }
      request.response().end();
    }
  }
}
