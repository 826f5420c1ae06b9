package dev.holdfast.engine.http;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Subscription;
import java.util.LinkedHashMap;

/** The forms of subscriptions that were sent for lately, made ready once. */
final class Letterheads {
  private final int most;
  private final LinkedHashMap<Long, Letterhead> bySubscription =
      new LinkedHashMap<>(16, 0.75f, true);

  /**
   * @param most how many are remembered; beyond it the one unused for longest goes
   */
  Letterheads(int most) {
    this.most = most;
  }

  /** What a subscription's attempts have in common, by its form as it is now. */
  Letterhead of(Subscription subscription) {
    Form form = subscription.form();
    if (Letterhead.isPlain(form)) {
      return Letterhead.PLAIN;
    }
    Letterhead known = bySubscription.get(subscription.id());
    if (known != null && known.isOf(form)) {
      return known;
    }
    Letterhead made = new Letterhead(form);
    bySubscription.put(subscription.id(), made);
    if (bySubscription.size() > most) {
      bySubscription.pollFirstEntry();
    }
    return made;
  }
}
