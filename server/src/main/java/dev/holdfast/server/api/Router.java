package dev.holdfast.server.api;

import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the resource that a path names, and the route for a method.
 *
 * <p>Paths without a variable, the busy ones, are found by one look into a map.
 */
final class Router {
  private static final String VARIABLE = "{id}";

  private final Map<String, Resource> fixed = new HashMap<>();
  private final List<Pattern> patterns = new ArrayList<>();

  Router(List<Route> routes) {
    Map<String, Map<HttpMethod, Route>> byPath = new HashMap<>();
    for (Route route : routes) {
      Map<HttpMethod, Route> methods = byPath.computeIfAbsent(route.path(), _ -> new HashMap<>());
      if (methods.put(route.method(), route) != null) {
        throw new IllegalArgumentException("two routes for " + route.method() + route.path());
      }
      if (route.method().equals(HttpMethod.GET)) {
        methods.put(HttpMethod.HEAD, route);
      }
    }
    byPath.forEach(
        (path, methods) -> {
          Resource resource = new Resource(Map.copyOf(methods), allow(methods));
          if (path.contains(VARIABLE)) {
            patterns.add(new Pattern(path.split("/", -1), resource));
          } else {
            fixed.put(path, resource);
          }
        });
  }

  private static String allow(Map<HttpMethod, Route> methods) {
    TreeSet<String> names = new TreeSet<>();
    methods.keySet().forEach(method -> names.add(method.name()));
    return String.join(", ", names);
  }

  /** Absent when no route has this path. */
  @Nullable Match match(String path) {
    Resource resource = fixed.get(path);
    if (resource != null) {
      return resource.match;
    }
    String[] segments = path.split("/", -1);
    for (Pattern pattern : patterns) {
      String variable = pattern.variable(segments);
      if (variable != null) {
        return new Match(pattern.resource, variable);
      }
    }
    return null;
  }

  /**
   * A resource that a path names.
   *
   * @param variable what stands in the path for {@code {id}}, decoded; empty when there is none
   */
  record Match(Resource resource, String variable) {}

  /** The routes of one path. */
  static final class Resource {
    private final Map<HttpMethod, Route> methods;
    final String allow;
    private final Match match = new Match(this, "");

    Resource(Map<HttpMethod, Route> methods, String allow) {
      this.methods = methods;
      this.allow = allow;
    }

    @Nullable Route route(HttpMethod method) {
      return methods.get(method);
    }
  }

  private record Pattern(String[] segments, Resource resource) {

    /** Absent when the path is another one, or its variable is empty or not properly encoded. */
    @Nullable String variable(String[] path) {
      if (path.length != segments.length) {
        return null;
      }
      String variable = "";
      for (int i = 0; i < segments.length; i++) {
        if (segments[i].equals(VARIABLE)) {
          String decoded = Parameters.percentDecoded(path[i]);
          if (decoded == null) {
            return null;
          }
          variable = decoded;
        } else if (!segments[i].equals(path[i])) {
          return null;
        }
      }
      return variable.isEmpty() ? null : variable;
    }
  }
}
