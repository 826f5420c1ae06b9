package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param tenant the tenant that the request is for
 * @param only the only tenant whose keys the caller may see and change: the key's own, or the one
 *     that the request names; all tenants' when absent
 * @param actor in whose name the request is made
 */
record Caller(String tenant, @Nullable String only, Actor actor) {
  /** For calls that need no key. */
  static final Caller NOBODY = new Caller("", null, Actor.SERVER);
}
