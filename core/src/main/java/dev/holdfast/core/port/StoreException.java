package dev.holdfast.core.port;

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

  public StoreException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
