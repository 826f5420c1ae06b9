package dev.holdfast.server.cli;

import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.egress.EndpointUrl;
import dev.holdfast.engine.egress.IpLiteral;
import dev.holdfast.server.api.EndpointUrls;
import io.vertx.core.Future;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/** URLs that the egress rules let through. Attempts are checked again, each for itself. */
final class PermittedUrls implements EndpointUrls {

  /** How long somebody who wants one subscription waits for a name server. */
  static final Duration PATIENCE = Duration.ofSeconds(2);

  /** How long somebody who wants many waits for it. */
  static final Duration PATIENCE_FOR_MANY = Duration.ofSeconds(3);

  private final EgressRules rules;
  private final boolean looksUpNames;
  private final BiFunction<Set<String>, Duration, Future<Set<String>>> findForbidden;

  /**
   * @param findForbidden looks up hosts and finds those that are forbidden, as far as that is known
   *     after some time
   */
  PermittedUrls(
      Egress egress, BiFunction<Set<String>, Duration, Future<Set<String>>> findForbidden) {
    this.rules = egress.rules();
    this.looksUpNames = egress.proxy() == null || !egress.proxy().looksUpNames();
    this.findForbidden = findForbidden;
  }

  @Override
  public String normalise(String text) {
    EndpointUrl url = accepted(text);
    if (!rules.permitsPort(url.port())) {
      throw new IllegalArgumentException(
          "The URL's port %d may not be used; allowed are %s. Use one of them, or ask the operator to allow it with egress.ports."
              .formatted(url.port(), rules.ports()));
    }
    InetAddress address = IpLiteral.parse(url.host());
    if (address != null) {
      rules
          .whyForbidden(address)
          .ifPresent(
              why -> {
                throw new IllegalArgumentException(
                    "The URL's host %s is %s, and nothing may be sent there. Use another one, or ask the operator whether the egress rules can allow it (egress.allow)."
                        .formatted(url.host(), why));
              });
    }
    return url.normalised();
  }

  @Override
  public Optional<String> nameToLookUp(String normalised) {
    String host = accepted(normalised).host();
    return looksUpNames && IpLiteral.parse(host) == null ? Optional.of(host) : Optional.empty();
  }

  @Override
  public Future<Set<String>> findForbidden(Set<String> names) {
    return findForbidden.apply(names, names.size() == 1 ? PATIENCE : PATIENCE_FOR_MANY);
  }

  private static EndpointUrl accepted(String text) {
    return switch (EndpointUrl.check(text)) {
      case EndpointUrl.Checked.Accepted(EndpointUrl url) -> url;
      case EndpointUrl.Checked.Refused(String problem) ->
          throw new IllegalArgumentException(problem);
    };
  }
}
