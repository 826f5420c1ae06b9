package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes requests in: finds the route, checks the key, and receives the body if all that can be
 * known from the head is in order. Lives on the event loop.
 */
final class Intake {
  private static final CharSequence EXPECT = HttpHeaders.createOptimized("expect");

  private static final Set<String> JSON_TYPES = Set.of("application/json");

  /** A PATCH may also say what it is. */
  private static final Set<String> PATCH_TYPES =
      Set.of("application/json", "application/merge-patch+json");

  private static final byte[] NO_BODY = new byte[0];

  private final Router router;
  private final Router pages;
  private final Authentication authentication;
  private final Connections connections;
  private final BooleanSupplier stopping;

  /**
   * @param router finds calls
   * @param pages finds what is no call: the dashboard's files
   * @param stopping whether only health is still answered
   */
  Intake(
      Router router,
      Router pages,
      Authentication authentication,
      Connections connections,
      BooleanSupplier stopping) {
    this.router = router;
    this.pages = pages;
    this.authentication = authentication;
    this.connections = connections;
    this.stopping = stopping;
  }

  void handle(HttpServerRequest request) {
    long declaredBytes = declaredBytes(request);
    boolean expectsBody =
        declaredBytes > 0 || request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
    Exchange exchange =
        new Exchange(request, connections, connections.peer(request.connection()), expectsBody);
    request.exceptionHandler(exchange::broken);
    request.endHandler(_ -> exchange.ended());
    if (expectsBody) {
      request.handler(exchange::chunk);
    }
    Authentication.Search search = authentication.search(request);
    if (search == null) {
      begin(exchange, declaredBytes, expectsBody);
      return;
    }
    request.pause();
    connections
        .context()
        .executeBlocking(
            () -> {
              search.run();
              return true;
            },
            false)
        .onComplete(
            _ -> {
              if (!exchange.isOver()) {
                begin(exchange, declaredBytes, expectsBody);
              }
              request.resume();
            });
  }

  private void begin(Exchange exchange, long declaredBytes, boolean expectsBody) {
    try {
      Route route = admit(exchange);
      if (expectsBody) {
        receive(exchange, route, declaredBytes);
      } else if (route.body() == Route.Body.JSON) {
        throw Refusal.of(Kind.INVALID_JSON, "The body is empty. Send a JSON object.");
      } else {
        exchange.run(route, NO_BODY);
      }
    } catch (Refusal refusal) {
      exchange.refuse(refusal.problem());
    } catch (RuntimeException e) {
      exchange.fail(e);
    }
  }

  private static long declaredBytes(HttpServerRequest request) {
    String header = request.headers().get(HttpHeaders.CONTENT_LENGTH);
    if (header == null) {
      return -1;
    }
    try {
      return Long.parseLong(header);
    } catch (NumberFormatException _) {
      return Long.MAX_VALUE;
    }
  }

  private Route admit(Exchange exchange) {
    HttpServerRequest request = exchange.request();
    String path = request.path();
    Router.Match match = path == null ? null : router.match(path);
    boolean isCall = match != null;
    if (match == null) {
      match = path == null ? null : pages.match(path);
    }
    if (match == null) {
      throw Refusal.of(
          Kind.NO_SUCH_PATH,
          "Calls begin with /v1/ or "
              + WorkfrontApi.PATH
              + "/; check the path, and that ids in it are percent-encoded.");
    }
    Route route = match.resource().route(request.method());
    if (route == null) {
      throw new Refusal(Problem.methodNotAllowed(match.resource().allow));
    }
    Caller caller = Caller.NOBODY;
    if (route.access() != Access.OPEN) {
      if (stopping.getAsBoolean()) {
        throw new Refusal(Problem.STOPPING);
      }
      exchange.challengeWith(route.credential());
      caller = authentication.caller(request, route);
    }
    Parameters parameters =
        isCall ? Parameters.of(request.query(), route.parameters()) : Parameters.NONE;
    exchange.routed(route, match.variable(), parameters, caller);
    return route;
  }

  private static void receive(Exchange exchange, Route route, long declaredBytes) {
    HttpServerRequest request = exchange.request();
    if (route.body() == Route.Body.NONE) {
      throw Refusal.of(Kind.UNEXPECTED_BODY, "Send this request without a body.");
    }
    if (route.body() != Route.Body.EMPTY
        && !isJson(request.headers().get(HttpHeaders.CONTENT_TYPE), typesOf(request.method()))) {
      throw Refusal.of(
          Kind.UNSUPPORTED_MEDIA_TYPE,
          "Content-Type",
          "Send JSON in UTF-8, with the header \"Content-Type: application/json\".");
    }
    String encoding = request.headers().get(HttpHeaders.CONTENT_ENCODING);
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      throw Refusal.of(
          Kind.UNSUPPORTED_MEDIA_TYPE,
          "Content-Encoding",
          "Send the body as it is, not compressed.");
    }
    if (declaredBytes > route.bodyBytes()) {
      throw new Refusal(Exchange.tooLarge(route.bodyBytes()));
    }
    exchange.receive(route.bodyBytes(), declaredBytes);
    String expected = request.headers().get(EXPECT);
    if (expected != null) {
      if (!expected.equalsIgnoreCase("100-continue")) {
        throw Refusal.of(
            Kind.EXPECTATION_FAILED, "Expect", "Only \"100-continue\" is known. Leave it out.");
      }
      request.response().writeContinue();
    }
  }

  /** Whether a content type is JSON in UTF-8; other parameters than the charset are ignored. */
  static boolean isJson(@Nullable String contentType) {
    return isJson(contentType, JSON_TYPES);
  }

  private static Set<String> typesOf(HttpMethod method) {
    return method.equals(HttpMethod.PATCH) ? PATCH_TYPES : JSON_TYPES;
  }

  private static boolean isJson(@Nullable String contentType, Set<String> types) {
    if (contentType == null) {
      return false;
    }
    if (contentType.equals("application/json")) {
      return true;
    }
    String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    if (!types.contains(parts[0].strip())) {
      return false;
    }
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip();
      if (parameter.startsWith("charset=")) {
        String charset = parameter.substring("charset=".length()).replace("\"", "");
        if (!charset.equals("utf-8") && !charset.equals("utf8")) {
          return false;
        }
      }
    }
    return true;
  }

  /** Answers what is not HTTP; the connection is closed after it. */
  void handleInvalid(HttpServerRequest request) {
    Throwable cause = request.decoderResult().cause();
    Problem problem =
        switch (cause) {
          case TooLongHttpLineException _ ->
              Problem.of(
                  Kind.URI_TOO_LONG,
                  "The request line may have "
                      + ApiLimits.INITIAL_LINE_BYTES
                      + " bytes. Use fewer or shorter parameters.");
          case TooLongHttpHeaderException _ ->
              Problem.of(
                  Kind.HEADERS_TOO_LARGE,
                  "All headers together may have "
                      + ApiLimits.HEADER_BYTES
                      + " bytes. Send fewer or shorter ones.");
          case null, default ->
              Problem.of(
                  Kind.BAD_HTTP,
                  "Send HTTP/1.1, and check the request line, the headers and the framing.");
        };
    Exchange exchange =
        new Exchange(request, connections, connections.peer(request.connection()), true);
    exchange.refuse(problem);
  }
}
