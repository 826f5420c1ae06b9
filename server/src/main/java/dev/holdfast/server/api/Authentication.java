package dev.holdfast.server.api;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.server.api.FailedKeys.Reason;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who sends a request, and for which tenant.
 *
 * <p>Only the hash of a key leaves this class, and no key is kept. Lives on the event loop.
 */
final class Authentication {
  private static final CharSequence TENANT_HEADER = HttpHeaders.createOptimized("holdfast-tenant");
  private static final CharSequence SESSION_ID = HttpHeaders.createOptimized("sessionid");
  private static final CharSequence CSRF_HEADER = HttpHeaders.createOptimized("holdfast-csrf");
  private static final String SCHEME = "Bearer ";
  private static final String DEFAULT_TENANT = "default";

  private final Authenticator authenticator;
  private final InstantSource clock;
  private final FailedKeys failedKeys;
  private final SignedIn signedIn;
  private final MessageDigest sha256;

  Authentication(
      Authenticator authenticator, InstantSource clock, FailedKeys failedKeys, SignedIn signedIn) {
    this.authenticator = authenticator;
    this.clock = clock;
    this.failedKeys = failedKeys;
    this.signedIn = signedIn;
    try {
      this.sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /**
   * Somebody who is known.
   *
   * @param session by which it is known; absent where it has sent its key
   */
  record Known(Principal principal, SignedIn.@Nullable Open session) {}

  /** Who sends the request, if the key allows the call. */
  Caller caller(HttpServerRequest request, Route route) {
    Principal principal = known(request, route.credential()).principal();
    Access access = route.access();
    if (!access.allows(principal.role())) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "A key with the role "
              + Json.kebab(principal.role())
              + " may not do this. Use one with a role out of: "
              + access.roles()
              + ".");
    }
    if (access.isWide() && principal.tenant() != null) {
      throw Refusal.of(
          Kind.NOT_ALLOWED, "This is about all tenants together. Use a key for all tenants.");
    }
    return caller(principal, request.headers().get(TENANT_HEADER));
  }

  /**
   * Who sends the request: the one whose key is in the header for keys. Only where that header is
   * not there a cookie is looked at.
   */
  Known known(HttpServerRequest request, Route.Credential credential) {
    String key = key(request.headers(), credential);
    if (key != null) {
      return new Known(ofKey(request, key, unauthenticated(credential)), null);
    }
    String cookie = credential == Route.Credential.BEARER ? cookie(request.headers()) : null;
    if (cookie == null) {
      throw new Refusal(unauthenticated(credential));
    }
    return ofSession(request, cookie);
  }

  private static @Nullable String key(MultiMap headers, Route.Credential credential) {
    return switch (credential) {
      case BEARER -> afterScheme(headers.get(HttpHeaders.AUTHORIZATION));
      case SESSION_ID -> headers.get(SESSION_ID);
    };
  }

  private static List<String> cookies(MultiMap headers) {
    return headers.contains(HttpHeaders.AUTHORIZATION)
        ? List.of()
        : SessionCookie.in(headers.get(HttpHeaders.COOKIE));
  }

  /** The first that is of a session, or else the first. */
  private @Nullable String cookie(MultiMap headers) {
    List<String> all = cookies(headers);
    if (all.size() > 1) {
      Instant now = clock.instant();
      for (String cookie : all) {
        if (signedIn.find(cookie, now) != null) {
          return cookie;
        }
      }
    }
    return all.isEmpty() ? null : all.getFirst();
  }

  /**
   * Whose a key is. One that is not valid is counted.
   *
   * @param otherwise what is answered when it is nobody's
   */
  Principal ofKey(HttpServerRequest request, String key, Problem otherwise) {
    return switch (recognise(key)) {
      case Authenticator.Valid valid -> valid.principal();
      case Authenticator.Expired expired ->
          throw failed(request, Reason.EXPIRED, Problem.expired(expired.at()));
      case Authenticator.Unknown _ -> throw failed(request, Reason.UNKNOWN, otherwise);
    };
  }

  /**
   * Whose a session is. One that has ended is not counted: browsers go on sending its cookie, and
   * nobody guesses one.
   */
  private Known ofSession(HttpServerRequest request, String cookie) {
    Instant now = clock.instant();
    SignedIn.Open session = signedIn.find(cookie, now);
    if (session == null) {
      throw new Refusal(Problem.SESSION_ENDED);
    }
    Principal principal =
        switch (authenticator.authenticate(session.keyHash(), now)) {
          case Authenticator.Valid valid -> valid.principal();
          case Authenticator.Expired expired -> throw new Refusal(Problem.expired(expired.at()));
          case Authenticator.Unknown _ -> throw new Refusal(Problem.SESSION_ENDED);
        };
    if (changes(request.method()) && !session.isCsrf(request.headers().get(CSRF_HEADER))) {
      throw new Refusal(Problem.CSRF_TOKEN);
    }
    return new Known(principal, session);
  }

  /**
   * Whether the key, or session, of a request that goes on being answered still opens what it did.
   * Says nothing to anybody if not, and counts as no try.
   */
  boolean stillOpens(HttpServerRequest request, Route route) {
    String key = key(request.headers(), route.credential());
    Authenticator.Recognition recognition = key == null ? ofCookie(request) : recognise(key);
    return recognition instanceof Authenticator.Valid valid
        && route.access().allows(valid.principal().role());
  }

  private Authenticator.Recognition ofCookie(HttpServerRequest request) {
    String cookie = cookie(request.headers());
    Instant now = clock.instant();
    SignedIn.Open session = cookie == null ? null : signedIn.find(cookie, now);
    return session == null
        ? Authenticator.UNKNOWN
        : authenticator.authenticate(session.keyHash(), now);
  }

  private static boolean changes(HttpMethod method) {
    return !method.equals(HttpMethod.GET) && !method.equals(HttpMethod.HEAD);
  }

  /** Something to be looked for before a request is gone on with. Blocking, on any thread. */
  interface Search {
    void run() throws StoreException;
  }

  /** What is to be looked for first, if anything: a key or a session from elsewhere. */
  @Nullable Search search(HttpServerRequest request) {
    MultiMap headers = request.headers();
    String bearer = afterScheme(headers.get(HttpHeaders.AUTHORIZATION));
    String key = bearer == null ? headers.get(SESSION_ID) : bearer;
    if (key != null) {
      return searchKey(key);
    }
    for (String cookie : cookies(headers)) {
      if (signedIn.mayBeNew(cookie)) {
        return () -> signedIn.lookFor(cookie);
      }
    }
    return null;
  }

  /** The same for a key. */
  @Nullable Search searchKey(String key) {
    if (key.length() > ApiLimits.KEY_CHARS) {
      return null;
    }
    byte[] hash = hash(key);
    return authenticator.mayBeNew(hash) ? () -> authenticator.lookFor(hash) : null;
  }

  byte[] hash(String key) {
    return sha256.digest(key.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static Problem unauthenticated(Route.Credential credential) {
    return Problem.of(Kind.UNAUTHENTICATED, credential.remedy);
  }

  private Authenticator.Recognition recognise(String key) {
    if (key.length() > ApiLimits.KEY_CHARS) {
      return Authenticator.UNKNOWN;
    }
    return authenticator.authenticate(hash(key), clock.instant());
  }

  private Refusal failed(HttpServerRequest request, Reason reason, Problem problem) {
    SocketAddress address = request.remoteAddress();
    int wait =
        failedKeys.refused(
            address == null ? null : address.hostAddress(), reason, Connections.now());
    return new Refusal(wait == 0 ? problem : Problem.tooManyFailedKeys(wait));
  }

  private static @Nullable String afterScheme(@Nullable String header) {
    return header != null && header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        ? header.substring(SCHEME.length())
        : null;
  }

  private static Caller caller(Principal principal, @Nullable String named) {
    String own = principal.tenant();
    if (named == null) {
      return new Caller(own == null ? DEFAULT_TENANT : own, own, principal.actor());
    }
    if (!TenantName.isValid(named)) {
      throw Refusal.of(Kind.INVALID_PARAMETER, "Holdfast-Tenant", TenantName.RULE);
    }
    if (own != null && !own.equals(named)) {
      throw Refusal.of(
          Kind.NOT_ALLOWED,
          "The key belongs to another tenant. Leave the header Holdfast-Tenant out.");
    }
    return new Caller(named, named, principal.actor());
  }
}
