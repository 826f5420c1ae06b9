package dev.holdfast.server.api;

import dev.holdfast.server.api.ServerIdentity.Unusable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts connections to the server, with a certificate that can be replaced while it runs.
 *
 * <p>Java's own engine does it, since it gives the costly part of a handshake to other threads: the
 * event loop has deliveries to make. The files are looked at now and then. What is new is used once
 * it has stayed the same from one look to the next, so that nobody reads a file that is being
 * written.
 */
public final class ServerTls {
  private static final Logger log = LoggerFactory.getLogger(ServerTls.class);

  private static final Set<String> PROTOCOLS = Set.of("TLSv1.3", "TLSv1.2");

  static {
    // A handshake costs the server more than the client, who may not begin another one.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
  }

  private final Path certificateFile;
  private final Path keyFile;
  private final InstantSource clock;
  private final Handshakes handshakes = new Handshakes(ApiLimits.HANDSHAKES);
  private ServerIdentity identity;

  /** What is in use, or could not be used; and what was seen at the last look. */
  private Stamp done;

  private Stamp seen;

  /** By which it is known whether the files have changed. */
  private record Stamp(String certificate, String key) {

    static Stamp of(Path certificateFile, Path keyFile) {
      return new Stamp(of(certificateFile), of(keyFile));
    }

    private static String of(Path file) {
      try {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        return attributes.lastModifiedTime() + " " + attributes.size() + " " + attributes.fileKey();
      } catch (IOException e) {
        return e.getClass().getSimpleName();
      }
    }
  }

  private ServerTls(
      Path certificateFile,
      Path keyFile,
      InstantSource clock,
      ServerIdentity identity,
      Stamp stamp) {
    this.certificateFile = certificateFile;
    this.keyFile = keyFile;
    this.clock = clock;
    this.identity = identity;
    this.done = stamp;
    this.seen = stamp;
  }

  /** Reads and checks the files. */
  public static ServerTls of(Path certificateFile, Path keyFile, InstantSource clock)
      throws Unusable {
    Stamp stamp = Stamp.of(certificateFile, keyFile);
    ServerTls tls =
        new ServerTls(
            certificateFile, keyFile, clock, ServerIdentity.read(certificateFile, keyFile), stamp);
    tls.warn();
    return tls;
  }

  private synchronized void warn() {
    Instant end = identity.end();
    if (end.isBefore(clock.instant().plus(ApiLimits.CERTIFICATE_ENDS_SOON))) {
      log.warn("server.certificate-ends at={} next=\"clients refuse it from then on\"", end);
    }
  }

  HttpServerOptions applyTo(HttpServerOptions options) {
    return options
        .setSsl(true)
        .setUseAlpn(false)
        .setKeyCertOptions(current().options())
        .setSslEngineOptions(handshakes.engine())
        .setEnabledSecureTransportProtocols(PROTOCOLS)
        .setSslHandshakeTimeout(ApiLimits.HANDSHAKE_TIME.toMillis())
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
  }

  private synchronized ServerIdentity current() {
    return identity;
  }

  private ServerSSLOptions options() {
    return new ServerSSLOptions()
        .setKeyCertOptions(current().options())
        .setUseAlpn(false)
        .setEnabledSecureTransportProtocols(PROTOCOLS)
        .setSslHandshakeTimeout(ApiLimits.HANDSHAKE_TIME.toMillis())
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
  }

  /** Looks at the files from now on, until the timer that it returns is cancelled. */
  long watch(Vertx vertx, HttpServer server) {
    return vertx.setPeriodic(
        ApiLimits.CERTIFICATE_LOOK.toMillis(),
        _ ->
            vertx
                .executeBlocking(this::look)
                .compose(
                    isNew ->
                        Objects.requireNonNull(isNew)
                            ? server.updateSSLOptions(options())
                            : Future.succeededFuture(false))
                .onFailure(
                    e ->
                        log.warn(
                            "server.certificate-unchanged reason=\"{}\" next=\"the old one is used\"",
                            e.getMessage())));
  }

  /** Whether there is a new certificate to be used. Blocking. */
  synchronized boolean look() {
    Stamp now = Stamp.of(certificateFile, keyFile);
    boolean isSettled = now.equals(seen);
    seen = now;
    if (now.equals(done) || !isSettled) {
      return false;
    }
    done = now;
    try {
      identity = ServerIdentity.read(certificateFile, keyFile);
    } catch (Unusable e) {
      log.warn(
          "server.certificate-unchanged reason=\"{}\" next=\"the old one is used\"",
          e.getMessage());
      return false;
    }
    log.info("server.certificate-changed ends={}", identity.end());
    warn();
    return true;
  }
}
