package dev.holdfast.core.path;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is counted of each tenant, and of whom anything was since somebody last asked. */
final class Activities {
  private final Map<String, TenantCounts> tenants = new HashMap<>();
  private final List<TenantCounts> counted = new ArrayList<>();

  TenantCounts of(String tenant) {
    TenantCounts known = tenants.get(tenant);
    if (known == null) {
      known = new TenantCounts(tenant, this);
      tenants.put(tenant, known);
    }
    return known;
  }

  View.TenantNow now(String tenant) {
    @Nullable TenantCounts known = tenants.get(tenant);
    return known == null ? View.TenantNow.NOTHING : known.now();
  }

  /** Of how many tenants something is known. */
  int size() {
    return tenants.size();
  }

  /** Something is counted of a tenant, for the first time since it was asked for. */
  void counted(TenantCounts counts) {
    counted.add(counts);
  }

  /**
   * What was counted since the last time, in the order in which it began. Tenants without endpoints
   * are forgotten by it: events can be sent for any.
   */
  List<Activity> take() {
    List<Activity> taken = new ArrayList<>(counted.size());
    for (TenantCounts counts : counted) {
      Activity of = counts.take();
      taken.add(of);
      if (counts.lanes == 0) {
        tenants.remove(of.tenant());
      }
    }
    counted.clear();
    return taken;
  }
}
