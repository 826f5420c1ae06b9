package dev.holdfast.server.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** What programs for the event subscriptions of Adobe Workfront have in common. */
final class WorkfrontProgram {
  private static final String API = "/attask/eventsubscription/api/v1";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final HttpClient client = HttpClient.newHttpClient();
  private final String host;
  private final String session;

  WorkfrontProgram(String host, String session) {
    this.host = host;
    this.session = session;
  }

  HttpResponse<String> call(String method, String path, @Nullable String body)
      throws IOException, InterruptedException {
    return call(method, URI.create(host + API + path), body);
  }

  HttpResponse<String> at(String method, URI uri) throws IOException, InterruptedException {
    return call(method, uri, null);
  }

  private HttpResponse<String> call(String method, URI uri, @Nullable String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    if (!session.isEmpty()) {
      request.header("sessionID", session);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  /** Something happens where the programs' data is. */
  JsonNode send(String event) throws IOException, InterruptedException {
    HttpResponse<String> answer = call("POST", "/events", event);
    if (answer.statusCode() != 202) {
      throw new AssertionError(answer.statusCode() + " " + answer.body());
    }
    return json(answer);
  }

  JsonNode json(HttpResponse<String> answer) {
    return MAPPER.readTree(answer.body());
  }
}
