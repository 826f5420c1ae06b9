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

  private static final EndpointTls NOTHING = new EndpointTls(null, null, null);

  public EndpointTls {
    if ((certificates == null) != (privateKey == null)) {
      throw new IllegalArgumentException("a certificate and its key belong together");
    }
  }

  /** Whether encrypted connections are made to that URL at all. */
  public static boolean isPossible(String url) {
    return url.startsWith("https:");
  }

  /**
   * What is to be changed of it.
   *
   * @param only whether what is not set goes, instead of staying as it is
   * @param certificates set together with {@code privateKey}
   */
  public record Change(
      boolean only,
      boolean setsCertificates,
      @Nullable String certificates,
      @Nullable String privateKey,
      boolean setsRoots,
      @Nullable String roots) {

    /** Nothing special any more. */
    public static final Change TO_NOTHING = new Change(true, false, null, null, false, null);

    public Change {
      if ((certificates == null) != (privateKey == null)) {
        throw new IllegalArgumentException("a certificate and its key belong together");
      }
    }

    /** That and nothing else. */
    public static Change to(EndpointTls tls) {
      return new Change(true, true, tls.certificates, tls.privateKey, true, tls.roots);
    }

    /** What there is after the change, if there is anything. */
    public @Nullable EndpointTls applyTo(@Nullable EndpointTls before) {
      EndpointTls rest = only || before == null ? NOTHING : before;
      EndpointTls after =
          new EndpointTls(
              setsCertificates ? certificates : rest.certificates,
              setsCertificates ? privateKey : rest.privateKey,
              setsRoots ? roots : rest.roots);
      return after.equals(NOTHING) ? null : after;
    }

    /** Never the key: what is printed can be read by others. */
    @Override
    public String toString() {
      return "Change[only="
          + only
          + ", setsCertificates="
          + setsCertificates
          + ", setsRoots="
          + setsRoots
          + "]";
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
