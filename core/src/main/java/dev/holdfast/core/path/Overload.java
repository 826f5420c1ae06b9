package dev.holdfast.core.path;

import java.time.Duration;
import java.util.Map;

/**
 * What is refused beyond the {@link Limits} of the whole, so that no tenant and no full disk takes
 * the rest down.
 *
 * @param everyTenant the quota of each tenant that has none of its own
 * @param tenants quotas of single tenants, by their names
 * @param burst how much of its events a second a tenant may send at once: those of this long
 * @param reserveBytes room on disk that is left for the outcomes of attempts; 0 for none
 */
public record Overload(
    Quota everyTenant, Map<String, Quota> tenants, Duration burst, long reserveBytes) {
  public static final Overload NONE = new Overload(Quota.NONE, Map.of(), Duration.ofSeconds(10), 0);

  public Overload {
    tenants = Map.copyOf(tenants);
  }

  Quota of(String tenant) {
    return tenants.getOrDefault(tenant, everyTenant);
  }
}
