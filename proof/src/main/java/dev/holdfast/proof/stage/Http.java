package dev.holdfast.proof.stage;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** How we talk with our processes and with the server, beside what is measured. */
public final class Http implements AutoCloseable {
  private static final String LOCALHOST = "127.0.0.1";

  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Where the key has another header. */
  private static final String WORKFRONT = "/attask/";

  private final Duration limit;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();

  public Http() {
    this(LIMIT);
  }

  /**
   * For calls that somebody else can be asked instead.
   *
   * @param limit of a call, from connecting to the last byte of the answer
   */
  public Http(Duration limit) {
    this.limit = limit;
  }

  public HttpResponse<String> call(String method, int port, String path, String key, String body)
      throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://%s:%d%s".formatted(LOCALHOST, port, path)))
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    if (!key.isEmpty()) {
      if (path.startsWith(WORKFRONT)) {
        request.header("sessionID", key);
      } else {
        request.header("Authorization", "Bearer " + key);
      }
    }
    CompletableFuture<HttpResponse<String>> answer =
        client.sendAsync(request.build(), BodyHandlers.ofString());
    try {
      return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new IOException(path + " takes too long", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProofException("interrupted", e);
    }
  }

  /** What a process of ours answers. */
  public String ask(int port, String path) {
    try {
      HttpResponse<String> response = call("GET", port, path, "", "");
      if (response.statusCode() != 200) {
        throw new ProofException(path + " answered " + response.statusCode());
      }
      return response.body();
    } catch (IOException e) {
      throw new ProofException(path + " is not answered", e);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
