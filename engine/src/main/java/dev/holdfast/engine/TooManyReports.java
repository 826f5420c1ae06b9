package dev.holdfast.engine;

/** So many reports are under way that another one has to wait. */
public final class TooManyReports extends Exception {
  private static final long serialVersionUID = 1L;

  TooManyReports() {
    super("too many reports are under way");
  }
}
