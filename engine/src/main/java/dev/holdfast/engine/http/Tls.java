package dev.holdfast.engine.http;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/** Agrees on encryption with servers, and verifies who they are. */
final class Tls {

  /** What is spoken over TLS, in the order of preference. */
  static final ApplicationProtocolConfig PROTOCOLS =
      new ApplicationProtocolConfig(
          ApplicationProtocolConfig.Protocol.ALPN,
          ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
          ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_2,
          ApplicationProtocolNames.HTTP_1_1);

  /** How long closing a connection may wait for the goodbye that TLS asks for. */
  private static final long GOODBYE_MILLIS = 100;

  private final SslContext context;

  Tls(SslContext context) {
    this.context = context;
  }

  /**
   * Trusts the authorities that Java trusts.
   *
   * @param trusted and these
   */
  static Tls verifying(List<X509Certificate> trusted) {
    try {
      return new Tls(SslContextBuilder.forClient().applicationProtocolConfig(PROTOCOLS).build());
    } catch (SSLException e) {
      throw new IllegalStateException("this Java cannot make TLS connections", e);
    }
  }

  /** Verifies the certificate against the name, whichever address it was looked up to. */
  SslHandler handler(Channel channel, Origin origin) {
    SslHandler handler = context.newHandler(channel.alloc(), origin.tlsHost, origin.key.port());
    SSLParameters parameters = handler.engine().getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    if (!origin.serverNames.isEmpty()) {
      parameters.setServerNames(origin.serverNames);
    }
    handler.engine().setSSLParameters(parameters);
    handler.setHandshakeTimeoutMillis(0);
    handler.setCloseNotifyFlushTimeoutMillis(GOODBYE_MILLIS);
    return handler;
  }
}
