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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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

  /** What is in use, or could not be read; and what was seen at the last look. */
  private Stamp done;

  private Stamp seen;

  /** What could be read, but not be used when it was last tried; it is tried again. */
  private @Nullable Stamp refused;

  private final AtomicBoolean isLooking = new AtomicBoolean();

  /** By which it is known whether the files have changed. */
  record Stamp(String certificate, String key) {

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

  /** A certificate that is to take the place of the one in use. */
  record Renewal(ServerIdentity identity, Stamp stamp) {}

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

  private static ServerSSLOptions options(ServerIdentity identity) {
    return new ServerSSLOptions()
        .setKeyCertOptions(identity.options())
        .setUseAlpn(false)
        .setEnabledSecureTransportProtocols(PROTOCOLS)
        .setSslHandshakeTimeout(ApiLimits.HANDSHAKE_TIME.toMillis())
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
  }

  /** How many connections were closed in their handshakes, to make room for others. */
  long handshakesClosed() {
    return handshakes.closed();
  }

  /** Looks at the files from now on, until the timer that it returns is cancelled. */
  long watch(Vertx vertx, HttpServer server) {
    return vertx.setPeriodic(
        ApiLimits.CERTIFICATE_LOOK.toMillis(),
        _ -> {
          handshakes.tell(Connections.now());
          if (isLooking.compareAndSet(false, true)) {
            vertx
                .executeBlocking(this::look)
                .compose(found -> use(Objects.requireNonNull(found), server::updateSSLOptions))
                .onComplete(_ -> isLooking.set(false));
          }
        });
  }

  /** A new certificate, if there is one to be used. Blocking. */
  synchronized Optional<Renewal> look() {
    Stamp now = Stamp.of(certificateFile, keyFile);
    boolean isSettled = now.equals(seen);
    seen = now;
    if (now.equals(done) || !isSettled) {
      return Optional.empty();
    }
    try {
      return Optional.of(new Renewal(ServerIdentity.read(certificateFile, keyFile), now));
    } catch (Unusable e) {
      done = now;
      unchanged(e);
      return Optional.empty();
    }
  }

  /**
   * Uses a new certificate, if there is one. If that fails, the next look finds it again.
   *
   * @param update has the server use something else
   */
  Future<Boolean> use(Optional<Renewal> found, Function<ServerSSLOptions, Future<Boolean>> update) {
    if (found.isEmpty()) {
      return Future.succeededFuture(false);
    }
    Renewal renewal = found.get();
    return update
        .apply(options(renewal.identity))
        .onSuccess(_ -> used(renewal))
        .onFailure(e -> failed(renewal, e));
  }

  private synchronized void used(Renewal renewal) {
    identity = renewal.identity;
    done = renewal.stamp;
    refused = null;
    log.info("server.certificate-changed ends={}", identity.end());
    warn();
  }

  /** Tells of each only once: it is tried again and again. */
  private synchronized void failed(Renewal renewal, Throwable cause) {
    if (!renewal.stamp.equals(refused)) {
      refused = renewal.stamp;
      unchanged(cause);
    }
  }

  private static void unchanged(Throwable cause) {
    log.warn(
        "server.certificate-unchanged reason=\"{}\" next=\"the old one is used\"",
        cause.getMessage());
  }
}
