package dev.holdfast.server.cli;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Asks a running server, and says what to do when that goes wrong. */
final class ApiClient implements AutoCloseable {
  private static final Duration CONNECT_TIME = Duration.ofSeconds(5);

  /** Longer than the server itself takes to say that it does not know yet. */
  private static final Duration ANSWER_TIME = Duration.ofSeconds(90);

  private static final int PAGE_ITEMS = 1_000;
  private static final byte[] NO_BODY = new byte[0];

  private final URI server;
  private final @Nullable Key key;
  private final @Nullable String tenant;
  private final HttpClient client;

  /**
   * The key that is sent.
   *
   * @param origin where it comes from, for a person
   */
  record Key(String text, String origin) {
    @Override
    public String toString() {
      return "the key from " + origin;
    }
  }

  /** What the server said, whatever it is. */
  record Answer(int status, String text, @Nullable Duration retryAfter) {

    boolean isRefusal() {
      return status >= 300;
    }

    /** Whether the same request may succeed later. */
    boolean isForLater() {
      return status == 429 || status == 503;
    }

    Item item() throws CommandFailed {
      Item item = Item.read(text);
      if (item == null) {
        throw new CommandFailed(
            "The answer is not what a Holdfast answers. Check what runs at the address.");
      }
      return item;
    }
  }

  /**
   * @param trust whom to take for the server; as usual when absent
   */
  ApiClient(URI server, @Nullable Key key, @Nullable String tenant, @Nullable SSLContext trust) {
    this.server = server;
    this.key = key;
    this.tenant = tenant;
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_TIME);
    this.client = (trust == null ? builder : builder.sslContext(trust)).build();
  }

  URI server() {
    return server;
  }

  Item get(String path) throws CommandFailed {
    return granted(send("GET", path, NO_BODY)).item();
  }

  Item post(String path, String json) throws CommandFailed {
    return granted(send("POST", path, json.getBytes(StandardCharsets.UTF_8))).item();
  }

  void delete(String path) throws CommandFailed {
    granted(send("DELETE", path, NO_BODY));
  }

  /**
   * Reads a list page by page.
   *
   * @param path with its query, if any
   * @return whether there is more than {@code most}
   */
  boolean list(String path, int most, Consumer<Item> each) throws CommandFailed {
    int left = most;
    String next = null;
    do {
      List<String> query = new ArrayList<>();
      query.add("limit=" + Math.min(left, PAGE_ITEMS));
      if (next != null) {
        query.add("cursor=" + encoded(next));
      }
      Item page = get(path + (path.contains("?") ? "&" : "?") + String.join("&", query));
      List<Item> items = page.list("items");
      items.forEach(each);
      left -= items.size();
      next = page.isNull("next") ? null : page.text("next");
    } while (next != null && left > 0);
    return next != null;
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Gives the answer back, unless it is a refusal: that is told. */
  Answer granted(Answer answer) throws CommandFailed {
    if (answer.isRefusal()) {
      throw refused(answer);
    }
    return answer;
  }

  CommandFailed refused(Answer answer) {
    Item problem = Item.read(answer.text());
    if (answer.status() == 401) {
      return new CommandFailed(
          unwelcome(problem)
              + " Put a key into HOLDFAST_KEY, or into a file named by --key-file. The server"
              + " prints an admin key at its first start; ./holdfast key create makes more.");
    }
    if (problem == null || problem.text("detail").isEmpty()) {
      return new CommandFailed(
          "%s answered %d, and not as a Holdfast does. Check the address, and what stands before it."
              .formatted(server, answer.status()));
    }
    String field = problem.text("field");
    return new CommandFailed(
        Printable.text(
            "%s (%d)%s: %s"
                .formatted(
                    problem.text("title"),
                    answer.status(),
                    field.isEmpty() ? "" : ", " + field,
                    problem.text("detail")),
            1_000));
  }

  private String unwelcome(@Nullable Item problem) {
    if (key == null) {
      return "The server wants a key, and none was given.";
    }
    if (problem != null && problem.text("type").endsWith(":key-expired")) {
      return Printable.text(
          "The key from %s has expired. %s".formatted(key.origin(), problem.text("detail")), 500);
    }
    return "The server does not know the key from " + key.origin() + ".";
  }

  /** Asks, and gives back whatever is answered. */
  Answer send(String method, String path, byte[] json) throws CommandFailed {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server + path))
            .timeout(ANSWER_TIME)
            .header("User-Agent", "holdfast-cli/" + Version.NUMBER)
            .method(
                method,
                json.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(json));
    if (json.length > 0) {
      request.header("Content-Type", "application/json");
    }
    if (key != null) {
      request.header("Authorization", "Bearer " + key.text());
    }
    if (tenant != null) {
      request.header("Holdfast-Tenant", tenant);
    }
    try {
      HttpResponse<String> response =
          client.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
      return new Answer(
          response.statusCode(),
          response.body(),
          retryAfter(response.headers().firstValue("retry-after")));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("Interrupted while waiting for " + server + ".");
    } catch (HttpTimeoutException e) {
      throw new ServerUnreachable(
          server + " does not answer in time. Check that the server runs and is not overloaded.");
    } catch (SSLException e) {
      throw new CommandFailed(
          "No encrypted connection to %s: %s. Is it http instead of https, or the certificate of an authority that --ca FILE should name?"
              .formatted(server, Printable.text(String.valueOf(e.getMessage()), 200)));
    } catch (ConnectException e) {
      throw unreachable(e);
    } catch (IOException e) {
      throw new ServerUnreachable(
          "The connection to %s broke: %s. Check that the server runs, and whether it is http or https."
              .formatted(server, Printable.text(String.valueOf(e.getMessage()), 200)));
    }
  }

  private ServerUnreachable unreachable(ConnectException problem) {
    for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException) {
        return new ServerUnreachable(
            "The name %s is not known here. Check --server or HOLDFAST_SERVER."
                .formatted(server.getHost()));
      }
    }
    return new ServerUnreachable(
        "No server answers at %s. Start one with ./holdfast serve, or name the right one with --server URL or HOLDFAST_SERVER."
            .formatted(server));
  }

  private static @Nullable Duration retryAfter(Optional<String> header) {
    return header
        .filter(text -> text.matches("\\d{1,6}"))
        .map(text -> Duration.ofSeconds(Long.parseLong(text)))
        .orElse(null);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
