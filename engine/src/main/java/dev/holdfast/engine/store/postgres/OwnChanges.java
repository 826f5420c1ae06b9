package dev.holdfast.engine.store.postgres;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What this node has changed itself of what everyone knows, and has not read again: it knows that
 * already, so nothing that it decides by it is stale. May be used by any thread.
 */
final class OwnChanges {
  private static final long NONE = -1;

  private final Map<String, Change> ofTenants = new ConcurrentHashMap<>();

  /**
   * The last change of a tenant.
   *
   * @param basis who knows all up to that knows all before the change
   */
  private record Change(long basis, long version) {}

  /** The node has changed something of tenants, by what it knew up to a version. */
  void wrote(Set<String> tenants, long basis, long version) {
    for (String tenant : tenants) {
      ofTenants.compute(
          tenant,
          (name, before) ->
              new Change(
                  before == null || before.version() <= basis ? basis : before.basis(), version));
    }
  }

  /** The version of a tenant's things that the node has made itself, for what it knew before. */
  long known(String tenant, long basis) {
    Change change = ofTenants.get(tenant);
    return change != null && change.basis() <= basis ? change.version() : NONE;
  }

  /** The node has read all changes up to a version. */
  void learned(long version) {
    ofTenants.values().removeIf(change -> change.version() <= version);
  }
}
