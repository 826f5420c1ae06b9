package dev.holdfast.core.port;

import java.util.Set;

/** The store could not do what it was asked, and did none of it. */
public final class StoreException extends Exception {

  /** What it means for the one who asked. */
  public enum Kind {
    /** No room on disk. The same may work later. */
    FULL,
    /** Something in what was asked cannot be kept. The rest may work without it. */
    REFUSED,
    /** The store cannot be reached. The same may work later. */
    AWAY,
    /** Another node has changed what this was decided by. It has to be decided anew. */
    STALE,
    /** Other nodes decide now for what this was about. The node has to begin anew. */
    FENCED,
    /** What is on disk can no longer be vouched for. Nothing may be asked of it any more. */
    BROKEN
  }

  private final Kind kind;
  private final Set<String> tenants;

  public StoreException(Kind kind, String message, Throwable cause) {
    this(kind, message, cause, Set.of());
  }

  private StoreException(Kind kind, String message, Throwable cause, Set<String> tenants) {
    super(message, cause);
    this.kind = kind;
    this.tenants = Set.copyOf(tenants);
  }

  /** Another node has changed what these tenants' part of what was asked was decided by. */
  public static StoreException stale(String message, Throwable cause, Set<String> tenants) {
    return new StoreException(Kind.STALE, message, cause, tenants);
  }

  public Kind kind() {
    return kind;
  }

  /** Whose part of what was asked has to be decided anew; nobody if it may be everybody's. */
  public Set<String> tenants() {
    return tenants;
  }
}
