package dev.holdfast.proof.torture;

import java.util.Locale;

/** What an endpoint does to whoever delivers to it. {@link HostileHost} plays it. */
enum Hostility {
  /** Reads everything and never answers. */
  SILENT,
  /** Does not even read. Its messages are large, so that they do not fit into what is sent. */
  UNREAD,
  DRIPPING_HEADERS,
  DRIPPING_BODY,
  ENDLESS_BODY,
  ENDLESS_HEADERS,
  /** A header that goes on over thousands of lines. */
  FOLDED_HEADERS,
  INTERIM_ANSWERS,
  GZIP_BOMB,
  BROKEN_CHUNKS,
  ENDLESS_TRAILERS,
  EARLY_CLOSE,
  RESET,
  TLS_SILENT,
  /** Handshake records that mean nothing, without end. */
  TLS_FLOOD,
  TLS_DRIPPING,
  TLS_EXPIRED,
  TLS_SELF_SIGNED,
  TLS_OTHER_NAME,
  /** A good handshake, and then nothing. */
  TLS_THEN_SILENT,
  TLS_THEN_ENDLESS,
  /** Frames without end; to a client that speaks no HTTP/2, nothing. */
  H2_PING,
  H2_SETTINGS,
  H2_RESET,
  H2_CONTINUATION;

  boolean overTls() {
    return name().startsWith("TLS") || overHttp2();
  }

  boolean overHttp2() {
    return name().startsWith("H2");
  }

  /** Which certificate it shows. */
  Certificates.Entry certificate() {
    return switch (this) {
      case TLS_EXPIRED -> Certificates.Entry.EXPIRED;
      case TLS_SELF_SIGNED -> Certificates.Entry.OWN;
      case TLS_OTHER_NAME -> Certificates.Entry.OTHER;
      default -> Certificates.Entry.RIGHT;
    };
  }

  String title() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
