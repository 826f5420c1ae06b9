package dev.holdfast.engine.http;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.egress.Egress;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes attempts, on two event loops.
 *
 * <p>Those to endpoints that took the last message they were sent are made on the engine's own,
 * which costs least. All others are made on one apart: to endpoints that fail, hang or mean harm,
 * and to new ones, of which that is not known. However much work these make, with connections that
 * have to be opened and handshakes that lead nowhere, the rest does not wait for it.
 */
public final class Attempts {

  /** Hears how an attempt ended. */
  @FunctionalInterface
  public interface Ended {
    void ended(Outcome outcome, long durationMillis);
  }

  private static final Logger log = LoggerFactory.getLogger(Attempts.class);

  private final Context context;
  private final Context apart;
  private final HttpSender proven;
  private final HttpSender unproven;
  private final HostChecks hostChecks;

  /**
   * @param context the engine's event loop, on which this is called and calls back
   * @param apart another event loop
   * @param egress where attempts may go, and how
   * @param timeout the time that an attempt may take, from its start to the end of its answer's
   *     headers
   * @param mostConnections how many connections may be open while some of them are idle
   * @param userAgent what receivers see as {@code User-Agent}
   * @param tracer makes a span of each attempt; absent when nobody wants to see them
   */
  public Attempts(
      Context context,
      Context apart,
      Egress egress,
      Duration timeout,
      int mostConnections,
      String userAgent,
      @Nullable Tracer tracer) {
    this.context = context;
    this.apart = apart;
    Tls tls = Tls.verifying(egress.trusted());
    this.proven =
        new HttpSender(
            context,
            egress,
            timeout,
            mostConnections,
            userAgent,
            tracer,
            Keeping.USUAL,
            tls,
            UnaryOperator.identity(),
            false);
    // an endpoint that has proven itself is not sent to from there again: little is worth keeping
    this.unproven =
        new HttpSender(
            apart,
            egress,
            timeout,
            mostConnections,
            userAgent,
            tracer,
            Keeping.SHORT,
            tls.another(),
            UnaryOperator.identity(),
            true);
    proven.connections.sharesWith(unproven.connections);
    this.hostChecks = HostChecks.on(apart, egress.rules());
  }

  /**
   * Makes an attempt. {@code ended} is called exactly once, on the engine's event loop and never
   * before this method has returned.
   */
  public void send(Delivery delivery, Ended ended) {
    if (delivery.proven()) {
      proven.send(delivery, ended);
    } else {
      apart.runOnContext(
          _ ->
              unproven.send(
                  delivery,
                  (outcome, millis) -> context.runOnContext(_ -> tell(ended, outcome, millis))));
    }
  }

  /** Nobody's mistake in hearing of an attempt ends the others. */
  static void tell(Ended ended, Outcome outcome, long millis) {
    try {
      ended.ended(outcome, millis);
    } catch (RuntimeException | Error e) {
      log.error(
          "attempt.unheard next=\"its outcome is lost; it is made again after a restart\"", e);
    }
  }

  /**
   * Finds among these hosts those that attempts would be forbidden to, as far as their names can be
   * looked up in this time. May be called by any thread.
   *
   * @param told gets them, on the engine's event loop
   */
  public void findForbidden(Set<String> hosts, Duration patience, Consumer<Set<String>> told) {
    apart.runOnContext(
        _ ->
            hostChecks.findForbidden(
                hosts, patience, found -> context.runOnContext(_ -> told.accept(found))));
  }

  /** Closes the connections that are not in use; the others follow when their attempts end. */
  public void close() {
    context.runOnContext(_ -> proven.close());
    apart.runOnContext(_ -> unproven.close());
  }

  /** What encrypts connections: {@code boringssl} or {@code java}. */
  public static String encryption() {
    return Tls.engine();
  }

  /** How many connections are open, in use or kept. */
  public int openConnections() {
    return proven.openConnections() + unproven.openConnections();
  }
}
