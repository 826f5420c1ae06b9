package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.engine.store.Damaged;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the errors of PostgreSQL mean. */
public final class SqlStates {
  /** Raised by our own functions: the node's row is gone. */
  static final String FENCED = "HF001";

  /** Raised by our own functions: what is to be changed is not as it should be. */
  static final String REFUSED = "HF002";

  /** Raised by our own functions: something has changed that this was decided by. */
  static final String STALE = "HF003";

  private static final String NO_RIGHT = "42501";
  private static final Set<String> AGAIN = Set.of("40001", "40P01");
  private static final Set<String> DAMAGE = Set.of("XX001", "XX002");
  private static final Set<String> FULL = Set.of("53000", "53100", "53200");
  private static final Set<String> CUT_SHORT = Set.of("57P01", "57P02", "57P03", "57P05", "25P03");

  private SqlStates() {}

  /** What an error means for the one who asked. */
  public static StoreException failure(String doing, SQLException cause) {
    // A pool says how long it has waited, and what for is behind that.
    Throwable said =
        cause instanceof SQLTransientConnectionException && cause.getCause() != null
            ? cause.getCause()
            : cause;
    return new StoreException(kind(cause), doing + ": " + said.getMessage(), cause);
  }

  /** What a person can do about rights that are missing, after what went wrong; else nothing. */
  static String remedyOfRights(StoreException failure) {
    return failure.getCause() instanceof SQLException cause && NO_RIGHT.equals(state(cause))
        ? ". " + remedy(cause, "")
        : "";
  }

  /** What a person can do about a database that cannot be connected to. */
  static String remedy(SQLException cause, String place) {
    String state = state(cause);
    return switch (state) {
      case "3D000" -> "Make it: createdb " + place.substring(place.lastIndexOf('/') + 1);
      case "28P01", "28000" ->
          "Correct store.user and store.password (HOLDFAST_STORE_PASSWORD), and see pg_hba.conf of"
              + " the server.";
      case "53300" ->
          "Raise max_connections of the server, or give each node fewer (store.connections).";
      case NO_RIGHT ->
          "Let the user own the database, or a schema in it: docs/postgresql.md, User and rights.";
      default ->
          state.startsWith("08")
              ? "Make sure that PostgreSQL runs there and lets this machine connect; with TLS, that"
                  + " its certificate is valid (sslmode, sslrootcert)."
              : "Try again when that is over.";
    };
  }

  /**
   * Whatever says nothing about what was asked nor about what is on disk may work later, on this
   * server or the one that takes its place.
   */
  static Kind kind(SQLException cause) {
    String state = state(cause);
    if (cause instanceof Damaged || DAMAGE.contains(state)) {
      return Kind.BROKEN;
    }
    if (FULL.contains(state)) {
      return Kind.FULL;
    }
    return switch (state) {
      case FENCED -> Kind.FENCED;
      case STALE -> Kind.STALE;
      case REFUSED -> Kind.REFUSED;
      default ->
          state.startsWith("22") || state.startsWith("23") || state.startsWith("54")
              ? Kind.REFUSED
              : Kind.AWAY;
    };
  }

  /** Whether the same works at once if it is tried again. */
  static boolean isWorthAnotherTry(SQLException cause) {
    return AGAIN.contains(state(cause));
  }

  /** Whether the session has ended, so that nobody has said what became of what was asked. */
  static boolean isCutShort(SQLException cause) {
    String state = state(cause);
    return !(cause instanceof Damaged)
        && (state.startsWith("08") || state.isEmpty() || CUT_SHORT.contains(state));
  }

  /** Whether a connection that was there is not any more, and another may be had. */
  static boolean isLost(SQLException cause) {
    return !(cause instanceof SQLTransientConnectionException) && isCutShort(cause);
  }

  private static String state(SQLException cause) {
    for (Throwable at = cause; at != null; at = at.getCause()) {
      @Nullable String state = at instanceof SQLException known ? known.getSQLState() : null;
      if (state != null) {
        return state;
      }
    }
    return "";
  }
}
