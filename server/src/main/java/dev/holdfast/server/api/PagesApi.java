package dev.holdfast.server.api;

import dev.holdfast.server.pages.PageFile;
import dev.holdfast.server.pages.Pages;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Serves the files of the dashboard. No key is needed for them: there is nothing in them that is
 * not in the program. What they show they ask for by the calls of this interface.
 */
final class PagesApi {
  private static final CharSequence GZIP = HttpHeaders.createOptimized("gzip");

  private final Pages pages;

  PagesApi(Pages pages) {
    this.pages = pages;
  }

  /** Not described as calls are, and free to have parameters that only scripts know. */
  List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    pages.files().forEach((path, file) -> routes.add(route(path, file)));
    return routes;
  }

  private static Route route(String path, PageFile file) {
    CharSequence type = HttpHeaders.createOptimized(file.contentType());
    Buffer plain = Buffer.buffer(file.plain().bytes());
    Buffer compressed = Buffer.buffer(file.compressed().bytes());
    return Route.get(
        path,
        Access.OPEN,
        Set.of(),
        (exchange, _) -> {
          boolean isCompressed =
              takesGzip(exchange.request().headers().get(HttpHeaders.ACCEPT_ENCODING));
          exchange.answerTagged(
              type,
              isCompressed ? compressed : plain,
              isCompressed ? file.compressed().tag() : file.plain().tag(),
              headers -> {
                Pages.headers().forEach(headers::set);
                headers.set(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
                if (isCompressed) {
                  headers.set(HttpHeaders.CONTENT_ENCODING, GZIP);
                }
              });
        });
  }

  /** Whether an answer may come in gzip. Whoever says so with a weight is not asked how heavy. */
  static boolean takesGzip(@Nullable String acceptEncoding) {
    if (acceptEncoding == null) {
      return false;
    }
    for (String coding : acceptEncoding.toLowerCase(Locale.ROOT).split(",", -1)) {
      String[] parts = coding.split(";", 2);
      if (parts[0].strip().equals("gzip")) {
        return parts.length == 1 || !parts[1].replace(" ", "").matches("q=0(\\.0*)?");
      }
    }
    return false;
  }
}
