package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.engine.egress.EndpointUrl;

/** An endpoint's URL with all that is the same for every attempt to it. */
final class Target {
  final Origin origin;

  /** The request line and the headers that never change. */
  final byte[] head;

  Target(Origin origin, EndpointUrl url, String userAgent) {
    this.origin = origin;
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
}
