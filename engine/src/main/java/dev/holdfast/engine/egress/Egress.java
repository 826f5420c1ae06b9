package dev.holdfast.engine.egress;

import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How requests leave.
 *
 * @param rules where they may go
 * @param proxy what they go through; absent when they go directly
 * @param trusted certificates of authorities that are trusted besides the usual ones
 */
public record Egress(EgressRules rules, @Nullable Proxy proxy, List<X509Certificate> trusted) {

  /** Directly, to where these rules allow. */
  public static Egress direct(EgressRules rules) {
    return new Egress(rules, null, List.of());
  }
}
