package dev.holdfast.server.cli;

import java.util.Locale;

/**
 * Something that can be set.
 *
 * @param key its name in the file and on the command line, such as {@code retry.unit}
 * @param kind what it may be
 * @param defaultText its value when nobody gives one
 * @param description what it means, as a sentence or two
 */
record Setting<T>(String key, Kind<T> kind, String defaultText, String description) {
  static final String VARIABLE_PREFIX = "HOLDFAST_";

  /** Its name as an environment variable, such as {@code HOLDFAST_RETRY_UNIT}. */
  String variable() {
    return VARIABLE_PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
