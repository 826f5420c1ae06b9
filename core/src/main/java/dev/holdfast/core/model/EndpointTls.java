package dev.holdfast.core.model;

import org.jspecify.annotations.Nullable;

/**
 * What is special about encrypted connections to an endpoint.
 *
 * @param certificates who we are, if it wants to know: our certificate and those between it and an
 *     authority, in PEM
 * @param privateKey the key of our certificate, in PEM (PKCS #8); there if the certificates are
 * @param roots certificates of authorities that are trusted for it besides the usual ones, in PEM
 */
public record EndpointTls(
    @Nullable String certificates, @Nullable String privateKey, @Nullable String roots) {
  public EndpointTls {
    if ((certificates == null) != (privateKey == null)) {
      throw new IllegalArgumentException("a certificate and its key belong together");
    }
  }

  /** Never the key: what is printed can be read by others. */
  @Override
  public String toString() {
    return "EndpointTls[certificates="
        + (certificates == null ? "none" : "…")
        + ", privateKey="
        + (privateKey == null ? "none" : "…")
        + ", roots="
        + (roots == null ? "none" : "…")
        + "]";
  }
}
