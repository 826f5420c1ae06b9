package dev.holdfast.core.path;

import dev.holdfast.core.path.Answer.Refused;
import dev.holdfast.core.path.Answer.Refused.Excess;
import dev.holdfast.core.path.Answer.Refused.Why;
import dev.holdfast.core.port.Snapshot.Stored;
import dev.holdfast.core.rules.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Before the first step: whether events may come in at all, or whether there is too much already of
 * everything, of this tenant, or on the disk.
 *
 * <p>What waits to be written has a limit, which all tenants share: a tenant may have as much of it
 * as is still free. One that floods is so refused at half of the limit while it is alone, and
 * leaves room for others who come; <i>n</i> of them get one part of <i>n</i> + 1 each. A tenant
 * that has little waiting is refused only when nothing is free.
 */
final class Admission {
  private final Limits limits;
  private final Overload overload;
  private final Reserve reserve;
  private final Commit commit;
  private final Map<String, Tenant> tenants = new HashMap<>();

  long refused;
  long refusedByQuota;

  Admission(
      Limits limits,
      Overload overload,
      Reserve reserve,
      Commit commit,
      Map<String, Stored> stored) {
    this.limits = limits;
    this.overload = overload;
    this.reserve = reserve;
    this.commit = commit;
    stored.forEach((name, kept) -> tenant(name).storedBytes = kept.bytes());
  }

  /** What is known of a tenant. */
  private static final class Tenant {
    final Quota quota;
    final @Nullable TokenBucket bucket;

    /** Of its events, what waits to be written. */
    long unwrittenBytes;

    int unwrittenRows;

    /** The same, as it is reckoned when it is kept. */
    long unwrittenSize;

    /** When its bucket is full again. */
    Instant fullAt = TokenBucket.FULL;

    /** What is kept of its events, and what is about to be. */
    long storedBytes;

    Tenant(Quota quota, Duration burst) {
      this.quota = quota;
      this.bucket =
          quota.eventsPerSecond() == Quota.ANY
              ? null
              : TokenBucket.perSecond(quota.eventsPerSecond(), burst);
    }
  }

  /**
   * What one request brings.
   *
   * @param bytes as they came
   * @param size as they are reckoned when they are kept
   */
  record Amount(String tenant, int events, long bytes, long size) {}

  private Tenant tenant(String name) {
    return tenants.computeIfAbsent(name, key -> new Tenant(overload.of(key), overload.burst()));
  }

  /** Why a request cannot be taken now; absent when it can. */
  @Nullable Refused refusal(Amount amount, Turn turn) {
    Tenant tenant = tenant(amount.tenant());
    Refused refusal = refusal(amount, tenant, turn.now());
    if (refusal != null) {
      refused++;
      if (refusal.excess() != null) {
        refusedByQuota++;
      }
    }
    return refusal;
  }

  /** Refuses a request whose events need more messages than may wait to be made. */
  Refused tooMuchAtOnce() {
    refused++;
    return new Refused(Why.OVERLOADED);
  }

  private @Nullable Refused refusal(Amount amount, Tenant tenant, Instant now) {
    if (!reserve.allowsEvents()) {
      return new Refused(Why.STORE_LOW);
    }
    if (!commit.hasRoomFor(amount.bytes())) {
      return new Refused(Why.OVERLOADED);
    }
    if (isOverItsShare(amount, tenant)) {
      return new Refused(Why.TENANT_OVERLOADED);
    }
    TokenBucket bucket = tenant.bucket;
    if (bucket != null && !bucket.has(amount.events(), tenant.fullAt, now)) {
      Duration wait =
          amount.events() > bucket.most()
              ? null
              : Duration.between(now, bucket.hasAt(amount.events(), tenant.fullAt, now));
      return new Refused(
          Why.EVENT_QUOTA,
          new Excess(tenant.quota.eventsPerSecond(), bucket.most(), amount.events(), wait));
    }
    long most = tenant.quota.storedBytes();
    if (most != Quota.ANY && tenant.storedBytes + amount.size() > most) {
      return new Refused(
          Why.STORED_QUOTA, new Excess(most, tenant.storedBytes, amount.size(), null));
    }
    return null;
  }

  private boolean isOverItsShare(Amount amount, Tenant tenant) {
    return tenant.unwrittenBytes + amount.bytes()
            > limits.acceptingBytes() - commit.acceptingBytes()
        || tenant.unwrittenRows > limits.unwritten() - commit.unwritten();
  }

  /** A request was taken, and is so many rows to be written. */
  void taken(Amount amount, int rows, Turn turn) {
    Tenant tenant = tenant(amount.tenant());
    tenant.unwrittenBytes += amount.bytes();
    tenant.unwrittenRows += rows;
    tenant.unwrittenSize += amount.size();
    tenant.storedBytes += amount.size();
    if (tenant.bucket != null) {
      tenant.fullAt = tenant.bucket.taken(amount.events(), tenant.fullAt, turn.now());
    }
  }

  /**
   * What was taken is written, or given up.
   *
   * @param notKept of it, what was not kept: repeats, or all of it
   */
  void landed(Amount amount, int rows, Amount notKept) {
    Tenant tenant = tenant(amount.tenant());
    tenant.unwrittenBytes -= amount.bytes();
    tenant.unwrittenRows -= rows;
    tenant.unwrittenSize -= amount.size();
    tenant.storedBytes -= notKept.size();
    if (tenant.bucket != null) {
      tenant.fullAt = tenant.bucket.givenBack(notKept.events(), tenant.fullAt);
    }
  }

  /** So much is kept of each tenant's events by all nodes, without what this one is writing. */
  void storedByAll(Map<String, Stored> stored) {
    stored.keySet().forEach(this::tenant);
    tenants.forEach(
        (name, tenant) ->
            tenant.storedBytes =
                stored.getOrDefault(name, Stored.NOTHING).bytes() + tenant.unwrittenSize);
  }

  /** Events were removed from the store. */
  void removed(Map<String, Stored> removed) {
    removed.forEach((name, gone) -> tenant(name).storedBytes -= gone.bytes());
  }
}
