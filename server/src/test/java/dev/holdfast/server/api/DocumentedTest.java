package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.Documented.Answer;
import dev.holdfast.server.api.Documented.Request;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whether an answer or request that is otherwise than the document says would be noticed. */
class DocumentedTest {
  private static final String MESSAGE =
      """
      {"id":"msg_0000000000001","event":"mine","subscription":"sub_0000000000001",
      "endpoint":"ep_0000000000001","type":"t","subject":null,"status":"delivered","reason":null,
      "createdAt":"2026-03-01T12:00:00Z","deadline":null,"nextAttemptAt":null,"replayOf":null,"version":null,
      "attempts":[{"number":1,"at":"2026-03-01T12:00:00.5Z","durationMillis":7,"scheduled":true,
      "outcome":"success","status":204,"error":null,"response":""}]}""";

  private static final String PROBLEM =
      """
      {"type":"urn:holdfast:problem:overloaded","title":"Too much at once","status":429,
      "detail":"Send it again."}""";

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Map<String, String> headers(String type) {
    Map<String, String> headers = new HashMap<>();
    headers.put("content-type", type);
    headers.put("content-length", "1");
    headers.put("cache-control", "no-store");
    return headers;
  }

  private static List<String> problemsOfMessage(String json) {
    return Documented.problems(
        new Request("GET", "/v1/messages/msg_0000000000001", new byte[0]),
        new Answer(200, headers("application/json"), bytes(json)));
  }

  private static List<String> problemsOfRefusal(Map<String, String> headers, String json) {
    return Documented.problems(
        new Request("POST", "/v1/events", bytes("{}")), new Answer(429, headers, bytes(json)));
  }

  private static List<String> problemsOfEvent(String path, String event) {
    return Documented.problems(
        new Request("POST", path, bytes(event)),
        new Answer(
            202,
            Map.of("content-type", "application/json"),
            bytes("{\"id\":\"mine\",\"messages\":1}")));
  }

  @Test
  void an_answer_as_documented_is_fine() {
    assertThat(problemsOfMessage(MESSAGE)).isEmpty();
  }

  @Test
  void a_body_that_is_otherwise_is_noticed() {
    List<String> others =
        List.of(
            "{}",
            MESSAGE.replace("\"reason\":null,", ""),
            MESSAGE.replace("\"reason\":null", "\"reason\":\"expired\""),
            MESSAGE.replace("\"reason\":null", "\"reason\":null,\"more\":1"),
            MESSAGE.replace("\"response\":\"\"", "\"response\":\"\",\"more\":1"),
            MESSAGE.replace("msg_0000000000001", "msg_1"),
            MESSAGE.replace("delivered", "done"),
            MESSAGE.replace("delivered", "dropped"),
            MESSAGE.replace("\"createdAt\":\"2026-03-01T12:00:00Z\"", "\"createdAt\":\"today\""),
            MESSAGE.replace("2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.5+00:00"),
            MESSAGE.replace("2026-03-01T12:00:00.5Z", "2026-02-30T12:00:00.5Z"),
            MESSAGE.replace("\"number\":1", "\"number\":0"),
            MESSAGE.replace("\"status\":204", "\"status\":304"),
            MESSAGE.replace("\"durationMillis\":7", "\"durationMillis\":\"7\""));
    for (String other : others) {
      assertThat(problemsOfMessage(other)).as(other).isNotEmpty();
    }
  }

  @Test
  void another_status_content_type_or_header_is_noticed() {
    Map<String, String> headers = headers("application/problem+json");
    assertThat(problemsOfRefusal(headers, PROBLEM)).anyMatch(it -> it.contains("Retry-After"));
    headers.put("retry-after", "1");
    assertThat(problemsOfRefusal(headers, PROBLEM)).isEmpty();
    headers.put("retry-after", "soon");
    assertThat(problemsOfRefusal(headers, PROBLEM)).isNotEmpty();
    headers.put("retry-after", "1");
    assertThat(problemsOfRefusal(headers, PROBLEM.replace("overloaded", "stopping"))).isNotEmpty();
    headers.put("x-powered-by", "guesses");
    assertThat(problemsOfRefusal(headers, PROBLEM)).isNotEmpty();
    headers.remove("x-powered-by");
    headers.put("content-type", "application/json");
    assertThat(problemsOfRefusal(headers, PROBLEM)).isNotEmpty();
    Request delete = new Request("DELETE", "/v1/subscriptions/sub_0000000000001", new byte[0]);
    assertThat(Documented.problems(delete, new Answer(204, Map.of(), new byte[0]))).isEmpty();
    assertThat(Documented.problems(delete, new Answer(205, Map.of(), new byte[0]))).isNotEmpty();
    assertThat(Documented.problems(delete, new Answer(204, Map.of(), new byte[1]))).isNotEmpty();
  }

  @Test
  void a_challenge_for_another_header_than_the_call_takes_is_noticed() {
    String problem =
        """
        {"type":"urn:holdfast:problem:unauthenticated","title":"A valid key is needed","status":401,
        "detail":"Send one."}""";
    Map<String, String> headers = headers("application/problem+json");
    Request bySession =
        new Request("PUT", WorkfrontApi.PATH + "/subscriptions/version", bytes("{}"));
    Request byBearer = new Request("GET", "/v1/subscriptions", new byte[0]);
    for (String challenge : List.of("Bearer", "sessionID")) {
      headers.put("www-authenticate", challenge);
      Answer answer = new Answer(401, headers, bytes(problem));
      boolean isBearer = challenge.equals("Bearer");
      assertThat(Documented.problems(bySession, answer).isEmpty()).isNotEqualTo(isBearer);
      assertThat(Documented.problems(byBearer, answer).isEmpty()).isEqualTo(isBearer);
    }
  }

  @Test
  void a_call_that_is_not_documented_is_noticed_when_it_is_done() {
    for (String call : List.of("PUT /v1/subscriptions", "GET /v1/secrets", "POST /v1/events/17")) {
      String[] both = call.split(" ", 2);
      assertThat(
              Documented.problems(
                  new Request(both[0], both[1], new byte[0]),
                  new Answer(200, headers("application/json"), bytes("{}"))))
          .as(call)
          .isNotEmpty();
    }
  }

  @Test
  void a_request_that_is_done_though_the_document_forbids_it_is_noticed() {
    String good = "{\"type\":\"t\",\"data\":1}";
    assertThat(problemsOfEvent("/v1/events", good)).isEmpty();
    assertThat(problemsOfEvent("/v1/events?dry=1", good)).isNotEmpty();
    for (String bad :
        List.of(
            "",
            "{\"type\":\"t\"}",
            "{\"type\":\"t*\",\"data\":1}",
            "{\"type\":\"a\\u0007b\",\"data\":1}",
            "{\"type\":\"t\\n\",\"data\":1}",
            "{\"type\":\"t\",\"data\":1,\"id\":\"evt_mine\"}",
            "{\"type\":\"t\",\"data\":1,\"id\":\"a b\"}",
            "{\"type\":\"t\",\"data\":1,\"occurredAt\":\"2026-03-01T12:00:00\"}",
            "{\"type\":\"t\",\"data\":1,\"more\":1}",
            "{\"type\":\"" + "t".repeat(257) + "\",\"data\":1}")) {
      assertThat(problemsOfEvent("/v1/events", bad)).as(bad).isNotEmpty();
    }
    Answer page =
        new Answer(200, headers("application/json"), bytes("{\"items\":[],\"next\":null}"));
    for (String query : List.of("status=gone", "status=waiting,", "limit=1001", "limit=x", "a=b")) {
      Request list = new Request("GET", "/v1/messages?" + query, new byte[0]);
      assertThat(Documented.problems(list, page)).as(query).isNotEmpty();
    }
    Request list =
        new Request(
            "GET", "/v1/messages?status=waiting,parked&status=dropped&limit=5", new byte[0]);
    assertThat(Documented.problems(list, page)).isEmpty();
  }
}
