package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import org.jspecify.annotations.Nullable;

/**
 * Who a key belongs to.
 *
 * @param tenant the only tenant that it may act for; all when absent
 * @param actor in whose name it acts
 */
public record Principal(@Nullable String tenant, Role role, Actor actor) {

  /** What a key may do. */
  public enum Role {
    /** Everything. */
    ADMIN,
    /** Look at everything, manage subscriptions, endpoints and messages. */
    OPERATOR,
    /** Send events, and nothing else. */
    PUBLISHER,
    /** Look at everything. */
    VIEWER
  }
}
