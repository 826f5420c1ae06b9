package dev.holdfast.proof.torture;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.holdfast.proof.stage.Child;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A process that plays thousands of endpoints that mean harm.
 *
 * <p>Its first argument is the file of {@link Certificates}; each of the others names what to do on
 * a port of its own, as in {@code SILENT=40001}.
 */
final class HostileHost {
  private static final int BACKLOG = 4_096;
  private static final int DRIP_MILLIS = 250;
  private static final int PIECE_BYTES = 16 * 1024;

  /** As good as without end: far more than anybody should read. */
  private static final int ENDLESS_BYTES = 1 << 20;

  private static final String HEAD = "HTTP/1.1 200 OK\r\n";
  private static final String CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n";

  private HostileHost() {}

  public static void main(String[] arguments) throws Exception {
    Certificates certificates = new Certificates(Path.of(arguments[0]));
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    for (int i = 1; i < arguments.length; i++) {
      int at = arguments[i].indexOf('=');
      Hostility hostility = Hostility.valueOf(arguments[i].substring(0, at));
      listen(loops, hostility, Integer.parseInt(arguments[i].substring(at + 1)), certificates);
    }
    System.out.println(Child.LISTENING + 0);
    System.out.flush();
    while (System.in.read() >= 0) {
      // It ends with whoever started it.
    }
    System.exit(0);
  }

  private static void listen(
      EventLoopGroup loops, Hostility hostility, int port, Certificates certificates)
      throws Exception {
    Part part = Part.of(hostility);
    boolean handshake = hostility.overTls() && !part.beforeHandshake();
    SslContext tls = handshake ? tls(hostility, certificates) : null;
    new ServerBootstrap()
        .group(loops)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .childOption(ChannelOption.AUTO_READ, hostility != Hostility.UNREAD)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                if (tls != null) {
                  channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                }
                channel.pipeline().addLast(new Player(part, hostility.overHttp2()));
              }
            })
        .bind(InetAddress.getLoopbackAddress(), port)
        .sync();
  }

  private static SslContext tls(Hostility hostility, Certificates certificates)
      throws IOException, GeneralSecurityException {
    Certificates.Entry entry = hostility.certificate();
    SslContextBuilder builder =
        SslContextBuilder.forServer(certificates.key(entry), certificates.chain(entry));
    if (hostility.overHttp2()) {
      builder.applicationProtocolConfig(
          new ApplicationProtocolConfig(
              ApplicationProtocolConfig.Protocol.ALPN,
              ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
              ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
              ApplicationProtocolNames.HTTP_2,
              ApplicationProtocolNames.HTTP_1_1));
    }
    return builder.build();
  }

  /**
   * What is sent, once the other side has sent something.
   *
   * @param beginning sent once
   * @param piece sent over and over, when there is one
   * @param dripping a piece at a time, slowly
   * @param end whether and how the connection is ended afterwards
   * @param beforeHandshake instead of a handshake
   */
  private record Part(
      byte[] beginning, byte[] piece, boolean dripping, End end, boolean beforeHandshake) {

    enum End {
      NEVER,
      CLOSED,
      RESET
    }

    static Part once(byte[] bytes, End end) {
      return new Part(bytes, new byte[0], false, end, false);
    }

    static Part endless(String beginning, String piece) {
      return new Part(bytes(beginning), repeated(bytes(piece)), false, End.NEVER, false);
    }

    static Part dripping(String beginning, String piece) {
      return new Part(bytes(beginning), bytes(piece), true, End.NEVER, false);
    }

    static Part frames(String... frames) {
      return endless(frame(4, 0, 0, 0) + frames[0], frames[frames.length - 1]);
    }

    Part insteadOfHandshake() {
      return new Part(beginning, piece, dripping, end, true);
    }

    static Part of(Hostility hostility) throws IOException {
      return switch (hostility) {
        case SILENT, TLS_THEN_SILENT, TLS_EXPIRED, TLS_SELF_SIGNED, TLS_OTHER_NAME ->
            once(new byte[0], End.NEVER);
        case UNREAD -> once(new byte[0], End.NEVER);
        case TLS_SILENT -> once(new byte[0], End.NEVER).insteadOfHandshake();
        case DRIPPING_HEADERS -> dripping(HEAD, "x: y\r\n");
        case DRIPPING_BODY -> dripping(HEAD + "\r\n", "x");
        case ENDLESS_BODY, TLS_THEN_ENDLESS -> endless(HEAD + "\r\n", "x");
        case ENDLESS_HEADERS -> endless(HEAD, "x-header: of no use\r\n");
        case FOLDED_HEADERS -> endless(HEAD + "x: y\r\n", " z\r\n");
        case INTERIM_ANSWERS -> endless("", "HTTP/1.1 102 Processing\r\nx: y\r\n\r\n");
        case GZIP_BOMB -> once(bomb(), End.CLOSED);
        case BROKEN_CHUNKS -> once(bytes(CHUNKED + "3\r\nabc\r\nzz\r\nnonsense"), End.NEVER);
        case ENDLESS_TRAILERS -> endless(CHUNKED + "0\r\n", "x: y\r\n");
        case EARLY_CLOSE -> once(bytes(HEAD + "x: y\r\n"), End.CLOSED);
        case RESET -> once(bytes(HEAD + "x: y\r\n"), End.RESET);
        case TLS_FLOOD -> endless("", "\u0016\3\3\0\4\0\0\0\0").insteadOfHandshake();
        case TLS_DRIPPING -> dripping("\u0016\3\3\100\0\2\0\77\370\3\3", "x").insteadOfHandshake();
        case H2_PING -> frames(frame(6, 0, 0, 8));
        case H2_SETTINGS -> frames(frame(4, 0, 0, 0));
        case H2_RESET -> frames(frame(3, 0, 1, 4));
        case H2_CONTINUATION -> frames(frame(1, 0, 1, 1), frame(9, 0, 1, 1));
      };
    }

    /** A frame of HTTP/2 with zeros in it. */
    private static String frame(int type, int flags, int stream, int length) {
      return new String(
              new char[] {0, 0, (char) length, (char) type, (char) flags, 0, 0, 0, (char) stream})
          + "\0".repeat(length);
    }

    private static byte[] bytes(String text) {
      return text.getBytes(ISO_8859_1);
    }

    private static byte[] repeated(byte[] piece) {
      int times = Math.max(1, PIECE_BYTES / piece.length);
      byte[] all = new byte[times * piece.length];
      for (int i = 0; i < times; i++) {
        System.arraycopy(piece, 0, all, i * piece.length, piece.length);
      }
      return all;
    }

    /** 100 MB in 100 KB. */
    private static byte[] bomb() throws IOException {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.write(bytes(HEAD + "Content-Encoding: gzip\r\n\r\n"));
      try (GZIPOutputStream gzip = new GZIPOutputStream(all)) {
        byte[] zeros = new byte[1 << 20];
        for (int i = 0; i < 100; i++) {
          gzip.write(zeros);
        }
      }
      return all.toByteArray();
    }
  }

  /** Plays its part on one connection. */
  private static final class Player extends ChannelInboundHandlerAdapter {
    private final Part part;
    private final boolean overHttp2;
    private boolean begun;
    private boolean mute;
    private int pumped;
    private @Nullable ScheduledFuture<?> drip;

    Player(Part part, boolean overHttp2) {
      this.part = part;
      this.overHttp2 = overHttp2;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      SslHandler tls = context.pipeline().get(SslHandler.class);
      if (overHttp2 && event instanceof SslHandshakeCompletionEvent && tls != null) {
        mute = !ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol());
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
      if (begun || mute) {
        return;
      }
      begun = true;
      var _ = context.write(Unpooled.wrappedBuffer(part.beginning()));
      if (part.piece().length > 0 && part.dripping()) {
        drip =
            context
                .executor()
                .scheduleAtFixedRate(
                    () -> drip(context), DRIP_MILLIS, DRIP_MILLIS, TimeUnit.MILLISECONDS);
      }
      context.flush();
      switch (part.end()) {
        case NEVER -> pump(context);
        case CLOSED ->
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        case RESET -> {
          context.channel().config().setOption(ChannelOption.SO_LINGER, 0);
          context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      if (begun && !mute) {
        pump(context);
      }
    }

    private void drip(ChannelHandlerContext context) {
      var _ = context.writeAndFlush(Unpooled.wrappedBuffer(part.piece()));
    }

    private void pump(ChannelHandlerContext context) {
      if (part.piece().length == 0 || part.dripping()) {
        return;
      }
      ByteBuf piece = Unpooled.wrappedBuffer(part.piece());
      while (pumped < ENDLESS_BYTES
          && context.channel().isActive()
          && context.channel().isWritable()) {
        pumped += part.piece().length;
        var _ = context.write(piece.retainedDuplicate());
      }
      piece.release();
      context.flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      if (drip != null) {
        drip.cancel(false);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
