package dev.holdfast.engine;

import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.egress.EndpointUrl;
import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the log about endpoints that fail: at their first failure, and then once a minute each with
 * a count.
 *
 * <p>Only failures come here, so that deliveries which succeed pay nothing. Of very many failing
 * endpoints the first {@link #MOST} are told one by one, the others together.
 */
final class Failing {
  private static final Logger log = LoggerFactory.getLogger(Failing.class);

  static final int MOST = 10_000;

  private final Map<Long, Failures> byEndpoint = new HashMap<>();
  private final Seldom others = new Seldom();
  private final Consumer<Line> lines;

  /**
   * What the log tells.
   *
   * @param failures how many there were since the line before
   * @param last how the last of them went wrong, and which message it was
   */
  record Line(long endpoint, String tenant, String url, long failures, String last, long message) {}

  /** The failures of one endpoint. Nothing of events is held. */
  private static final class Failures {
    final Seldom seldom = new Seldom();
    final long endpoint;
    final String tenant;
    final String url;
    String last = "";
    long message;

    Failures(Delivery delivery) {
      endpoint = delivery.message().endpoint();
      tenant = delivery.event().tenant();
      url = delivery.url();
    }
  }

  Failing() {
    this(Failing::log);
  }

  /** With somebody else to tell, for tests. */
  Failing(Consumer<Line> lines) {
    this.lines = lines;
  }

  void failed(Delivery delivery, Outcome.Failure failure, Instant now) {
    Long endpoint = delivery.message().endpoint();
    Failures failures = byEndpoint.get(endpoint);
    if (failures == null) {
      if (byEndpoint.size() >= MOST) {
        logOthers(others.happened(now));
        return;
      }
      failures = new Failures(delivery);
      byEndpoint.put(endpoint, failures);
    }
    failures.last = name(failure);
    failures.message = delivery.message().id();
    tell(failures, failures.seldom.happened(now));
  }

  private static String name(Outcome.Failure failure) {
    Integer status = failure.status();
    return status == null ? failure.kind().name().toLowerCase(Locale.ROOT) : status.toString();
  }

  /** Tells what has gathered untold, and forgets endpoints that have stopped failing. */
  void sweep(Instant now) {
    for (Iterator<Failures> all = byEndpoint.values().iterator(); all.hasNext(); ) {
      Failures failures = all.next();
      if (failures.seldom.isOver(now)) {
        all.remove();
      } else {
        tell(failures, failures.seldom.sweep(now));
      }
    }
    logOthers(others.sweep(now));
  }

  private void tell(Failures failures, long count) {
    if (count > 0) {
      lines.accept(
          new Line(
              failures.endpoint,
              failures.tenant,
              failures.url,
              count,
              failures.last,
              failures.message));
    }
  }

  private static void log(Line line) {
    log.info(
        "delivery.failing endpoint={} tenant={} host={} failures={} last={} message={}",
        Id.text(Id.ENDPOINT, line.endpoint()),
        line.tenant(),
        host(line.url()),
        line.failures(),
        line.last(),
        Id.text(Id.MESSAGE, line.message()));
  }

  private static void logOthers(long count) {
    if (count > 0) {
      log.info("delivery.failing-others failures={} endpointsTold={}", count, MOST);
    }
  }

  /** Of a URL only this: its path or query may hold a token. */
  private static String host(String url) {
    return EndpointUrl.check(url) instanceof EndpointUrl.Checked.Accepted(EndpointUrl parsed)
        ? parsed.host()
        : "none";
  }
}
