package dev.holdfast.server.tracing;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.MessageWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.function.Consumer;

/**
 * Posts batches of spans with the client that Java has, so that no other has to come along.
 *
 * <p>It blocks the thread that sends, which has nothing else to do. A batch is tried twice when the
 * connection breaks, since a kept one may have been closed meanwhile, and else once.
 */
final class CollectorSender implements HttpSender {
  private static final int TRIES = 2;

  private final HttpSenderConfig config;
  private final HttpClient client;

  CollectorSender(HttpSenderConfig config) {
    this.config = config;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(config.getConnectTimeout())
            .build();
  }

  @Override
  public void send(
      MessageWriter message, Consumer<HttpResponse> answered, Consumer<Throwable> failed) {
    try {
      ByteArrayOutputStream body = new ByteArrayOutputStream(message.getContentLength());
      message.writeMessage(body);
      HttpRequest request =
          HttpRequest.newBuilder(config.getEndpoint())
              .timeout(config.getTimeout())
              .header("Content-Type", config.getContentType())
              .POST(BodyPublishers.ofByteArray(body.toByteArray()))
              .build();
      answered.accept(post(request));
    } catch (IOException e) {
      failed.accept(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failed.accept(e);
    }
  }

  private Answer post(HttpRequest request) throws IOException, InterruptedException {
    for (int tried = 1; ; tried++) {
      try {
        return new Answer(client.send(request, BodyHandlers.discarding()).statusCode());
      } catch (IOException e) {
        if (tried == TRIES) {
          throw e;
        }
      }
    }
  }

  @Override
  public CompletableResultCode shutdown() {
    client.shutdownNow();
    return CompletableResultCode.ofSuccess();
  }

  /** What the collector said; why, if it took nothing, is for its own log. */
  private record Answer(int status) implements HttpResponse {
    @Override
    public int getStatusCode() {
      return status;
    }

    @Override
    public String getStatusMessage() {
      return "";
    }

    @Override
    public byte[] getResponseBody() {
      return new byte[0];
    }
  }
}
