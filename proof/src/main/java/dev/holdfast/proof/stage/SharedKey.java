package dev.holdfast.proof.stage;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Base64;

/** The master key of servers that share a store: all must have the same, so it is no secret. */
public final class SharedKey {
  private static final String BYTES = "only for servers of the proof...";

  private SharedKey() {}

  /** How servers are told. */
  public static String setting() {
    return "secrets.key=" + Base64.getEncoder().encodeToString(BYTES.getBytes(US_ASCII));
  }
}
