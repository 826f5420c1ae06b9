package dev.holdfast.server.api;

import io.vertx.core.http.HttpMethod;
import java.util.Set;

/**
 * One call of the interface.
 *
 * @param path its segments; {@code {id}} stands for any one
 * @param parameters the query parameters that it knows
 * @param credential the header by which it knows its callers
 */
record Route(
    HttpMethod method,
    String path,
    Access access,
    Body body,
    int bodyBytes,
    Set<String> parameters,
    Credential credential,
    Action action) {

  enum Body {
    NONE,
    /** Nothing, or an empty object, which some clients send with every POST. */
    EMPTY,
    /** Nothing, or JSON. */
    OPTIONAL,
    JSON
  }

  /** The header in which a caller sends its key. */
  enum Credential {
    BEARER("Bearer", "Send the header \"Authorization: Bearer <key>\" with a valid key."),
    SESSION_ID("sessionID", "Send the header \"sessionID: <key>\" with a valid key.");

    /** What a caller without a key is asked for. */
    final String challenge;

    final String remedy;

    Credential(String challenge, String remedy) {
      this.challenge = challenge;
      this.remedy = remedy;
    }
  }

  /** What a route does. A {@link Refusal} is answered with its problem. */
  @FunctionalInterface
  interface Action {
    void run(Exchange exchange, byte[] body);
  }

  private static Route of(
      HttpMethod method,
      String path,
      Access access,
      Body body,
      int bodyBytes,
      Set<String> parameters,
      Action action) {
    return new Route(method, path, access, body, bodyBytes, parameters, Credential.BEARER, action);
  }

  static Route get(String path, Access access, Set<String> parameters, Action action) {
    return of(HttpMethod.GET, path, access, Body.NONE, 0, parameters, action);
  }

  static Route delete(String path, Access access, Action action) {
    return of(HttpMethod.DELETE, path, access, Body.NONE, 0, Set.of(), action);
  }

  static Route patch(String path, Access access, int bodyBytes, Action action) {
    return of(HttpMethod.PATCH, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }

  static Route post(String path, Access access, Action action) {
    return of(HttpMethod.POST, path, access, Body.EMPTY, ApiLimits.ACTION_BYTES, Set.of(), action);
  }

  static Route postOptional(String path, Access access, int bodyBytes, Action action) {
    return of(HttpMethod.POST, path, access, Body.OPTIONAL, bodyBytes, Set.of(), action);
  }

  static Route patchJson(String path, Access access, int bodyBytes, Action action) {
    return of(HttpMethod.PATCH, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }

  static Route postJson(String path, Access access, int bodyBytes, Action action) {
    return of(HttpMethod.POST, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }

  static Route putJson(String path, Access access, int bodyBytes, Action action) {
    return of(HttpMethod.PUT, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }

  /** The same, with callers that send their key as a session's id. */
  Route bySessionId() {
    return new Route(
        method, path, access, body, bodyBytes, parameters, Credential.SESSION_ID, action);
  }
}
