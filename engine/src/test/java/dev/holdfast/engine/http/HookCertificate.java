package dev.holdfast.engine.http;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PfxOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;

/** A certificate for hook.test and 127.0.0.1 that signs itself, and servers that show it. */
final class HookCertificate {
  private static final String PASSWORD = "password";

  private final byte[] store;
  private final SSLContext server;

  /** Trusts it, and offers HTTP/2. */
  final SslContext trusting;

  HookCertificate(Path directory) throws Exception {
    Path file = directory.resolve("hook.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "hook",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=hook.test",
                "-ext",
                "san=dns:hook.test,ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                file.toString())
            .inheritIO()
            .start();
    if (!keytool.waitFor(30, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IllegalStateException("keytool made no certificate");
    }
    store = Files.readAllBytes(file);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    server = server(keys);
    TrustManagerFactory trustManagers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trustManagers.init(keys);
    trusting =
        SslContextBuilder.forClient()
            .trustManager(trustManagers)
            .applicationProtocolConfig(Tls.PROTOCOLS)
            .build();
  }

  private static SSLContext server(KeyStore keys) throws GeneralSecurityException {
    KeyManagerFactory keyManagers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keyManagers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keyManagers.getKeyManagers(), null, null);
    return context;
  }

  /** The certificate for a server of Vert.x. */
  PfxOptions pfx() {
    return new PfxOptions().setValue(Buffer.buffer(store)).setPassword(PASSWORD);
  }

  /**
   * A receiver that shows the certificate.
   *
   * @param protocols what it offers to speak
   */
  Receiver receiver(Receiver.Script script, String... protocols) throws IOException {
    return receiverAt(0, script, protocols);
  }

  Receiver receiverAt(int port, Receiver.Script script, String... protocols) throws IOException {
    ServerSocket socket =
        server
            .getServerSocketFactory()
            .createServerSocket(port, 4_096, InetAddress.getLoopbackAddress());
    SSLParameters parameters = ((SSLServerSocket) socket).getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    ((SSLServerSocket) socket).setSSLParameters(parameters);
    return Receiver.start(socket, script);
  }

  static String url(Receiver receiver) {
    return "https://127.0.0.1:" + receiver.port() + "/hook";
  }
}
