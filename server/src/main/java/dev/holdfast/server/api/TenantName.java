package dev.holdfast.server.api;

/** What a tenant can be called: something that can stand in headers, paths and metrics as it is. */
public final class TenantName {
  /** The same for people. */
  public static final String RULE =
      "A tenant's name has 1 to "
          + ApiLimits.TENANT_CHARS
          + " characters out of a-z, 0-9, \"_\" and \"-\".";

  private TenantName() {}

  public static boolean isValid(String name) {
    if (name.isEmpty() || name.length() > ApiLimits.TENANT_CHARS) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-') {
        return false;
      }
    }
    return true;
  }
}
