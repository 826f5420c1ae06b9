package dev.holdfast.engine.store;

import java.sql.SQLException;

/** What is on disk is not what was written. The message says what it is, and what to do. */
public final class Damaged extends SQLException {
  private static final long serialVersionUID = 1L;

  public static final String WHAT_TO_DO =
      "Restore the data directory from a backup; ./holdfast check names all that is damaged.";

  private final String what;

  /** Found without another error. */
  public Damaged(String what) {
    super("the store is damaged: " + what + ". " + WHAT_TO_DO);
    this.what = what;
  }

  /** Found by another error. */
  public Damaged(String what, Throwable cause) {
    super("the store is damaged: " + what + ". " + WHAT_TO_DO, cause);
    this.what = what;
  }

  /** What is damaged, without what to do. */
  public String what() {
    return what;
  }

  /** A value that is made of a row, whatever may be wrong with that. */
  public interface Decoding<T> {
    T decode() throws SQLException;
  }

  /** The sum of what was read. */
  public interface Summing<T> {
    long sum(T value);
  }

  /** Makes a value of a row, and refuses it if it is not what was written. */
  public static <T> T orIntact(
      String table, long row, long kept, Decoding<T> decoding, Summing<T> summing)
      throws SQLException {
    T value;
    try {
      value = decoding.decode();
    } catch (RuntimeException e) {
      throw new Damaged("row " + row + " of " + table + " cannot be read", e);
    }
    if (summing.sum(value) != kept) {
      throw new Damaged("row " + row + " of " + table + " is not as it was written");
    }
    return value;
  }
}
