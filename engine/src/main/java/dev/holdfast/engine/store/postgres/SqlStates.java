package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.engine.store.Damaged;
import io.vertx.core.json.JsonArray;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

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

  /** By a constraint of a table or of the part of it that the row would be in. */
  private static final String NOT_ALLOWED = "23514";

  private static final Set<String> DAMAGE = Set.of("XX001", "XX002");
  private static final String DISK_FULL = "53100";

  /** Of memory: nearly always the table of locks, which has a fixed size. */
  private static final String NO_MEMORY = "53200";

  private static final Set<String> CUT_SHORT =
      Set.of("57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04");

  /** The server cannot be had, or not for this, whatever it is asked. */
  private static final Set<String> AWAY = Set.of("53300", "25006", "3D000");

  /** By their first two characters: connections, who may connect, the server's end. */
  private static final Set<String> AWAY_CLASSES = Set.of("08", "28");

  private SqlStates() {}

  /** What an error means for the one who asked. */
  public static StoreException failure(String doing, SQLException cause) {
    return failure(doing, cause, kind(cause));
  }

  /**
   * What an error means for the path's own batches. They are tried again until they are written,
   * unless something about them is wrong.
   */
  static StoreException writeFailure(String doing, SQLException cause) {
    Kind kind = writeKind(cause);
    return kind == Kind.STALE
        ? StoreException.stale(doing + ": " + cause.getMessage(), cause, tenants(cause))
        : failure(doing, cause, kind);
  }

  /** Whose part of a batch is stale, as our own function says it; nobody if it does not. */
  private static Set<String> tenants(SQLException cause) {
    ServerErrorMessage said = cause instanceof PSQLException e ? e.getServerErrorMessage() : null;
    String names = said == null ? null : said.getDetail();
    return names == null
        ? Set.of()
        : new JsonArray(names).stream().map(String.class::cast).collect(Collectors.toSet());
  }

  private static StoreException failure(String doing, SQLException cause, Kind kind) {
    // A pool says how long it has waited, and what for is behind that.
    Throwable said =
        cause instanceof SQLTransientConnectionException && cause.getCause() != null
            ? cause.getCause()
            : cause;
    String remedy = state(cause).equals(NO_MEMORY) ? ". " + remedy(cause, "") : "";
    return new StoreException(kind, doing + ": " + said.getMessage() + remedy, cause);
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
      case NO_MEMORY ->
          "Raise max_locks_per_transaction of the server: docs/postgresql.md, Settings; or give it"
              + " more memory.";
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
   * Only what says that there is no server is about the server. What it does not do, takes too long
   * or has no table for is about what was asked.
   */
  static Kind kind(SQLException cause) {
    String state = state(cause);
    if (cause instanceof Damaged || DAMAGE.contains(state)) {
      return Kind.BROKEN;
    }
    return switch (state) {
      case DISK_FULL -> Kind.FULL;
      case FENCED -> Kind.FENCED;
      case STALE -> Kind.STALE;
      case REFUSED -> Kind.REFUSED;
      default -> isAway(cause, state) ? Kind.AWAY : Kind.REFUSED;
    };
  }

  private static boolean isAway(SQLException cause, String state) {
    if (cause instanceof SQLTransientConnectionException) {
      // There was no connection to be had; without a reason, all of the pool's were in use.
      return cause.getCause() != null;
    }
    return state.isEmpty()
        || AWAY.contains(state)
        || CUT_SHORT.contains(state)
        || AWAY_CLASSES.contains(state.substring(0, Math.min(2, state.length())));
  }

  /**
   * Whatever says nothing about what was asked nor about what is on disk may work later, on this
   * server or the one that takes its place. Tables that are not as they should be, or may not be
   * used, are another's doing: the process ends, and says so when it starts again.
   */
  static Kind writeKind(SQLException cause) {
    String state = state(cause);
    Kind kind = kind(cause);
    if (kind != Kind.REFUSED || state.equals(REFUSED)) {
      return kind;
    }
    if (isAboutTables(cause)) {
      return Kind.BROKEN;
    }
    return state.startsWith("22") || state.startsWith("23") || state.startsWith("54")
        ? Kind.REFUSED
        : Kind.AWAY;
  }

  /** Whether the same works at once if it is tried again. */
  static boolean isWorthAnotherTry(SQLException cause) {
    return AGAIN.contains(state(cause)) || isOfAPartMadeMeanwhile(cause);
  }

  /**
   * Whether a row was on its way into the rest when a part was made that it belongs to. A
   * constraint that we have made ourselves has a name.
   */
  private static boolean isOfAPartMadeMeanwhile(SQLException cause) {
    ServerErrorMessage said = cause instanceof PSQLException e ? e.getServerErrorMessage() : null;
    return state(cause).equals(NOT_ALLOWED) && said != null && said.getConstraint() == null;
  }

  /** Whether there is no such table, or it may not be used. */
  static boolean isAboutTables(SQLException cause) {
    return state(cause).startsWith("42");
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
