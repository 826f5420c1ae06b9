package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.engine.egress.EndpointUrl;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** An endpoint's URL with all that is the same for every attempt to it. */
final class Target {
  final Origin origin;

  /** The request line and the headers that never change. */
  final byte[] head;

  /** Attempts that wait for signatures, their own or those of one before them, in their order. */
  @Nullable ArrayDeque<Sending> unsigned;

  private final EndpointUrl url;
  private final String userAgent;
  private @Nullable Http2Head http2Head;

  Target(Origin origin, EndpointUrl url, String userAgent) {
    this.origin = origin;
    this.url = url;
    this.userAgent = userAgent;
    this.head =
        ("POST "
                + url.uri()
                + " HTTP/1.1\r\nHost: "
                + url.authority()
                + "\r\nUser-Agent: "
                + userAgent
                + "\r\nContent-Type: application/json\r\n")
            .getBytes(US_ASCII);
  }

  /**
   * What {@link #head} says, for HTTP/2.
   *
   * @param fields names and values, in turns
   */
  record Http2Head(AsciiString authority, AsciiString path, AsciiString... fields) {}

  /** Made when it is first needed: most endpoints do without. */
  Http2Head http2Head() {
    if (http2Head == null) {
      http2Head =
          new Http2Head(
              new AsciiString(url.authority()),
              new AsciiString(url.uri()),
              HttpHeaderNames.USER_AGENT,
              new AsciiString(userAgent),
              HttpHeaderNames.CONTENT_TYPE,
              HttpHeaderValues.APPLICATION_JSON);
    }
    return http2Head;
  }
}
