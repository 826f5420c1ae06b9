package dev.holdfast.engine.http;

import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.engine.egress.EndpointUrl;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The endpoints that were sent to lately, taken apart once. */
final class Targets {
  private final String userAgent;
  private final int most;
  private final Consumer<Origin> forgotten;

  /** By their URL, or by {@link Special}. */
  private final LinkedHashMap<Object, Target> known = new LinkedHashMap<>(16, 0.75f, true);

  private final Map<Origin.Key, Origin> origins = new HashMap<>();

  /**
   * @param most how many are remembered; beyond it the one unused for longest goes
   * @param forgotten told about each origin that no remembered target is on any more
   */
  Targets(String userAgent, int most, Consumer<Origin> forgotten) {
    this.userAgent = userAgent;
    this.most = most;
    this.forgotten = forgotten;
  }

  /** A URL with something special about encrypted connections to it. */
  private record Special(String url, EndpointTls tls) {}

  /** The target of a URL, or nothing if it is not a URL that can be sent to. */
  @Nullable Target of(String url, @Nullable EndpointTls tls) {
    Object key = tls == null ? url : new Special(url, tls);
    Target before = known.get(key);
    if (before != null) {
      return before;
    }
    if (!(EndpointUrl.check(url) instanceof EndpointUrl.Checked.Accepted(EndpointUrl parsed))) {
      return null;
    }
    Origin origin = origins.computeIfAbsent(Origin.Key.of(parsed, tls), Origin::new);
    origin.targets++;
    Target target = new Target(origin, parsed, userAgent);
    known.put(key, target);
    if (known.size() > most) {
      forget(known.pollFirstEntry().getValue());
    }
    return target;
  }

  private void forget(Target target) {
    Origin origin = target.origin;
    if (--origin.targets == 0) {
      origins.remove(origin.key);
      forgotten.accept(origin);
    }
  }
}
