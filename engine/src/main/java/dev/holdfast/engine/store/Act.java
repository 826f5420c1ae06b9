package dev.holdfast.engine.store;

import dev.holdfast.core.model.Actor;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * What an entry of the audit log tells, with nothing in it that others should not know.
 *
 * @param tenant whose chain it is in; absent for what concerns all tenants
 * @param action such as {@code subscription.created}
 * @param target the id of what it was done to, as people see it
 * @param before what was otherwise before; absent if there was nothing
 * @param after what is otherwise from then on; absent if there is nothing any more
 */
public record Act(
    Actor by,
    Instant at,
    @Nullable String tenant,
    String action,
    @Nullable String target,
    @Nullable Facts before,
    @Nullable Facts after) {

  /** The chain of what concerns all tenants. */
  static final String OF_ALL = "";

  public Act {
    at = at.truncatedTo(ChronoUnit.MICROS);
  }

  String chain() {
    return tenant == null ? OF_ALL : tenant;
  }

  /** Whom the entry is found by: the id of a key, or else a name. */
  String actor() {
    return by.id() == null ? by.name() : by.id();
  }

  /** The entry itself, as it is hashed. */
  String json(long number) {
    return head(chain(), number, at, action, target)
        + ",\"actor\":{\"kind\":"
        + Facts.quoted(Facts.kebab(by.kind()))
        + ",\"id\":"
        + quoted(by.id())
        + ",\"name\":"
        + Facts.quoted(by.name())
        + "},\"before\":"
        + (before == null ? "null" : before.json())
        + ",\"after\":"
        + (after == null ? "null" : after.json())
        + "}";
  }

  /** What an entry begins with; the same is beside it, to be found by. */
  static String head(
      String chain, long number, Instant at, @Nullable String action, @Nullable String target) {
    return "{\"chain\":"
        + Facts.quoted(chain)
        + ",\"number\":"
        + number
        + ",\"at\":"
        + Facts.quoted(at.toString())
        + ",\"action\":"
        + quoted(action)
        + ",\"target\":"
        + quoted(target);
  }

  private static String quoted(@Nullable String text) {
    return text == null ? "null" : Facts.quoted(text);
  }
}
