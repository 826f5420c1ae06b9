package dev.holdfast.server.api;

/**
 * A setting as the running server uses it.
 *
 * @param value without secrets
 * @param defaultValue what it is where nobody sets it
 * @param about what it means
 */
public record SettingInUse(
    String name, String value, String defaultValue, From from, String about) {

  /** Who has given it its value. */
  public enum From {
    DEFAULT,
    FILE,
    ENVIRONMENT,
    /** On the command line. */
    ARGUMENT
  }
}
