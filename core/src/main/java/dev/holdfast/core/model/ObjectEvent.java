package dev.holdfast.core.model;

import dev.holdfast.core.model.Form.Format;
import java.util.Optional;

/**
 * What happened to an object of some kind, in the words of Adobe Workfront's event subscriptions.
 * As an event's type it is {@code objCode.eventType}, such as {@code PROJ.UPDATE}.
 */
public record ObjectEvent(String objCode, Kind kind) {

  /** What can happen to an object. */
  public enum Kind {
    CREATE,
    UPDATE,
    DELETE
  }

  public String type() {
    return objCode + "." + kind;
  }

  /** What a type tells of, if it can be said in these words. */
  public static Optional<ObjectEvent> of(String type) {
    for (Kind kind : Kind.values()) {
      String end = "." + kind;
      if (type.endsWith(end) && type.length() > end.length()) {
        return Optional.of(new ObjectEvent(type.substring(0, type.length() - end.length()), kind));
      }
    }
    return Optional.empty();
  }

  /** What a subscription is to, if all of it can be said in these words. */
  public static Optional<ObjectEvent> of(Subscription subscription) {
    if (subscription.form().format() != Format.WORKFRONT || subscription.types().size() != 1) {
      return Optional.empty();
    }
    TypePattern only = subscription.types().getFirst();
    return only.isExact() ? of(only.text()) : Optional.empty();
  }
}
