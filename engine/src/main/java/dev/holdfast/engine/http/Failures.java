package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome.Failure.Kind;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What an exception says about an attempt, given how far the attempt had got. */
final class Failures {
  private static final Logger log = LoggerFactory.getLogger(Failures.class);

  private Failures() {}

  /** While a TLS session was being agreed on: whatever the two cannot agree on is a TLS failure. */
  static Kind inHandshake(Throwable cause) {
    boolean reset =
        cause instanceof IOException
            && !(cause instanceof SSLException)
            && !(cause instanceof ClosedChannelException);
    return reset ? Kind.RESET : Kind.TLS;
  }

  /** On an open connection. */
  static Kind afterSending(Throwable cause) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (t instanceof SSLException) {
        return Kind.TLS;
      }
      if (t instanceof IOException) {
        return Kind.RESET;
      }
    }
    if (!(cause instanceof DecoderException) && !(cause instanceof Http2Exception)) {
      log.error("attempt.broken where=\"on an open connection\" next=\"the attempt fails\"", cause);
    }
    return Kind.PROTOCOL;
  }

  /** While connecting. */
  static Kind inConnect(Throwable cause) {
    if (!(cause instanceof IOException)) {
      log.error("attempt.broken where=\"while connecting\" next=\"the attempt fails\"", cause);
    }
    return Kind.CONNECT;
  }
}
