package dev.holdfast.core.model;

import java.util.Set;

/**
 * The types of events that Holdfast itself sends, to whoever subscribes to them by name. Nobody
 * else can send an event of such a type.
 */
public final class Operational {
  public static final String ENDPOINT_DISABLED = "endpoint.disabled";
  public static final String ENDPOINT_FROZEN = "endpoint.frozen";
  public static final String ENDPOINT_ENABLED = "endpoint.enabled";
  public static final String MESSAGE_DROPPED = "message.dropped";

  public static final Set<String> TYPES =
      Set.of(ENDPOINT_DISABLED, ENDPOINT_FROZEN, ENDPOINT_ENABLED, MESSAGE_DROPPED);

  private Operational() {}

  /**
   * Whether a pattern is meant for operational events of a type: it begins as the type does up to
   * its point. So {@code endpoint.*} is, and {@code *} is not.
   */
  static boolean isNamedBy(String pattern, String type) {
    return pattern.startsWith(type.substring(0, type.indexOf('.') + 1));
  }
}
