package dev.holdfast.engine.http;

import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.engine.egress.EndpointUrl;
import dev.holdfast.engine.egress.IpLiteral;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import org.jspecify.annotations.Nullable;

/**
 * Scheme, host and port, and who we are there and whom we trust: what a connection can be kept for.
 */
final class Origin {

  /** What makes two origins the same. */
  record Key(boolean https, String host, int port, @Nullable EndpointTls tls) {
    static Key of(EndpointUrl url, @Nullable EndpointTls tls) {
      return new Key(url.https(), url.host(), url.port(), url.https() ? tls : null);
    }
  }

  final Key key;

  /** The address, when the host is one; else it has to be looked up. */
  final @Nullable List<InetAddress> literal;

  /** The host as TLS knows it. */
  final String tlsHost;

  /** The name that TLS asks the server for; an address cannot be asked for. */
  final List<SNIServerName> serverNames;

  /** Kept connections; the one used last is the last. */
  final ArrayDeque<Connection> idle = new ArrayDeque<>();

  /** Connections in use that may carry more attempts at once. */
  final List<Http2Connection> shared = new ArrayList<>(0);

  /** Whether the last connection that was opened speaks HTTP/2. */
  boolean speaksHttp2;

  /** How many attempts at once the server takes on a connection, as far as it has said. */
  int mostStreams = Http2Connection.MOST_STREAMS;

  /** A connection that is being opened and that more than one attempt can wait for. */
  @Nullable Opening opening;

  /** Attempts that wait for their turn to open a connection. */
  int waiting;

  /** How many known targets are on this origin. With the last of them its connections go. */
  int targets;

  Origin(Key key) {
    this.key = key;
    InetAddress address = IpLiteral.parse(key.host());
    this.literal = address == null ? null : List.of(address);
    String host = key.host();
    this.tlsHost = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    this.serverNames = literal == null ? serverNames(tlsHost) : List.of();
  }

  private static List<SNIServerName> serverNames(String host) {
    try {
      return List.of(new SNIHostName(host));
    } catch (IllegalArgumentException e) {
      // A name that DNS knows but TLS cannot ask for, such as my_service.
      return List.of();
    }
  }
}
