package dev.holdfast.server.api;

import io.vertx.core.http.HttpMethod;
import java.util.Set;

/**
 * One call of the interface.
 *
 * @param path its segments; {@code {id}} stands for any one
 * @param parameters the query parameters that it knows
 */
record Route(
    HttpMethod method,
    String path,
    Access access,
    Body body,
    int bodyBytes,
    Set<String> parameters,
    Action action) {

  enum Body {
    NONE,
    /** Nothing, or an empty object, which some clients send with every POST. */
    EMPTY,
    /** Nothing, or JSON. */
    OPTIONAL,
    JSON
  }

  /** What a route does. A {@link Refusal} is answered with its problem. */
  @FunctionalInterface
  interface Action {
    void run(Exchange exchange, byte[] body);
  }

  static Route get(String path, Access access, Set<String> parameters, Action action) {
    return new Route(HttpMethod.GET, path, access, Body.NONE, 0, parameters, action);
  }

  static Route delete(String path, Access access, Action action) {
    return new Route(HttpMethod.DELETE, path, access, Body.NONE, 0, Set.of(), action);
  }

  static Route patch(String path, Access access, int bodyBytes, Action action) {
    return new Route(HttpMethod.PATCH, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }

  static Route post(String path, Access access, Action action) {
    return new Route(
        HttpMethod.POST, path, access, Body.EMPTY, ApiLimits.ACTION_BYTES, Set.of(), action);
  }

  static Route postOptional(String path, Access access, int bodyBytes, Action action) {
    return new Route(HttpMethod.POST, path, access, Body.OPTIONAL, bodyBytes, Set.of(), action);
  }

  static Route patchJson(String path, Access access, int bodyBytes, Action action) {
    return new Route(HttpMethod.PATCH, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }

  static Route postJson(String path, Access access, int bodyBytes, Action action) {
    return new Route(HttpMethod.POST, path, access, Body.JSON, bodyBytes, Set.of(), action);
  }
}
