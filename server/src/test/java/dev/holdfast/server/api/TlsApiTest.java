package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.buffer.Buffer;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Certificates and authorities of endpoints, over HTTP. */
@Timeout(60)
class TlsApiTest {
  private static final String PASSWORD = "password";
  private static final String URL = "https://127.0.0.1:9/hook";

  @TempDir static Path directory;

  private static Pair one;
  private static Pair two;
  private static Pair expired;

  private final RealEngine engine;
  private final TestServer server;

  TlsApiTest(@TempDir Path data) throws Exception {
    engine = new RealEngine(data);
    server = TestServer.start(Engine.of(engine.holdfast), ApiLimits.defaults());
  }

  /** A certificate that signs itself and its key, in PEM as they stand in JSON. */
  private record Pair(X509Certificate x509, String certificate, String key) {}

  @BeforeAll
  static void make_keys() throws Exception {
    one = pair("one");
    two = pair("two");
    expired = pair("expired", "-startdate", "-3d", "-validity", "1");
  }

  @AfterEach
  void close() throws Exception {
    server.close();
    engine.close();
  }

  private static Pair pair(String name, String... more) throws Exception {
    Path store = directory.resolve(name + ".p12");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", "it", "-keyalg", "EC"));
    command.addAll(List.of("-dname", "CN=" + name, "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", PASSWORD, "-keystore", store.toString()));
    command.addAll(List.of(more));
    Process keytool = new ProcessBuilder(command).inheritIO().start();
    assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    X509Certificate certificate = (X509Certificate) keys.getCertificate("it");
    return new Pair(
        certificate,
        pem("CERTIFICATE", certificate.getEncoded()),
        pem("PRIVATE KEY", keys.getKey("it", PASSWORD.toCharArray()).getEncoded()));
  }

  private static String pem(String label, byte[] content) {
    return "\"-----BEGIN %s-----\\n%s\\n-----END %s-----\\n\""
        .formatted(
            label, Base64.getMimeEncoder().encodeToString(content).replace("\r\n", "\\n"), label);
  }

  private Reply create(String tls) throws Exception {
    return server.post(
        "/v1/subscriptions", "{\"url\":\"" + URL + "\",\"types\":[\"a\"],\"tls\":" + tls + "}");
  }

  private static String identity(Pair pair) {
    return "\"certificate\":%s,\"privateKey\":%s".formatted(pair.certificate, pair.key);
  }

  private Reply patch(String path, String body) throws Exception {
    return server.send(
        "PATCH", path, body.getBytes(UTF_8), "Content-Type", "application/merge-patch+json");
  }

  private static JsonNode answered(int status, Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    return reply.json();
  }

  @Test
  void an_endpoint_shows_whose_certificates_it_has_and_never_a_key() throws Exception {
    Reply reply = create("{" + identity(one) + ",\"roots\":" + two.certificate + "}");
    JsonNode created = answered(201, reply);
    JsonNode tls = created.get("tls");
    assertThat(tls.get("certificate").get("subject").asString()).isEqualTo("CN=one");
    assertThat(tls.get("certificate").get("issuer").asString()).isEqualTo("CN=one");
    assertThat(Instant.parse(tls.get("certificate").get("notAfter").asString()))
        .isEqualTo(one.x509.getNotAfter().toInstant());
    assertThat(tls.get("certificate").get("fingerprint").asString()).matches("[0-9a-f]{64}");
    assertThat(tls.get("roots").size()).isEqualTo(1);
    assertThat(tls.get("roots").get(0).get("subject").asString()).isEqualTo("CN=two");
    String endpoint = "/v1/endpoints/" + created.get("endpoint").asString();
    String subscription = "/v1/subscriptions/" + created.get("id").asString();
    String planted = one.key.substring(60, 100);
    for (String path : List.of(endpoint, subscription, "/v1/endpoints", "/v1/subscriptions")) {
      Reply shown = server.get(path);
      assertThat(shown.text()).contains("\"tls\":" + tls).doesNotContain(planted);
    }
    assertThat(reply.text()).doesNotContain(planted);
  }

  @Test
  void what_is_shown_is_read_once_however_many_endpoints_there_are() {
    List<EndpointTls> all = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      EndpointTls tls = new EndpointTls(null, null, "authority " + i);
      assertThat(TlsFields.isUnread(tls)).isTrue();
      Buffer _ =
          Json.write(
              out -> {
                out.writeStartObject();
                TlsFields.write(out, tls);
                out.writeEndObject();
              });
      all.add(tls);
    }
    assertThat(all).noneMatch(TlsFields::isUnread);
    assertThat(TlsFields.isUnread(null)).isFalse();
  }

  @Test
  void what_a_change_does_not_name_stays() throws Exception {
    JsonNode created = answered(201, create("{" + identity(one) + "}"));
    String endpoint = "/v1/endpoints/" + created.get("endpoint").asString();
    String subscription = "/v1/subscriptions/" + created.get("id").asString();
    JsonNode more =
        answered(200, patch(endpoint, "{\"tls\":{\"roots\":" + two.certificate + "}}")).get("tls");
    assertThat(more.get("certificate")).isEqualTo(created.get("tls").get("certificate"));
    assertThat(more.get("roots").size()).isEqualTo(1);
    assertThat(answered(200, patch(endpoint, "{\"rateLimit\":5}")).get("tls")).isEqualTo(more);
    JsonNode less =
        answered(200, patch(subscription, "{\"tls\":{\"certificate\":null,\"privateKey\":null}}"))
            .get("tls");
    assertThat(less.get("certificate").isNull()).isTrue();
    assertThat(less.get("roots")).isEqualTo(more.get("roots"));
    assertThat(answered(200, patch(endpoint, "{\"tls\":null}")).get("tls").isNull()).isTrue();
    assertThat(server.get(subscription).json().get("tls").isNull()).isTrue();
  }

  @Test
  void what_cannot_be_used_is_refused_with_its_field() throws Exception {
    assertRefused(create("7"), "tls");
    assertRefused(create("{\"colour\":\"red\"}"), "tls.colour");
    assertRefused(create("{\"certificate\":" + one.certificate + "}"), "tls.privateKey");
    assertRefused(create("{\"privateKey\":" + one.key + "}"), "tls.certificate");
    assertRefused(
        create("{\"certificate\":" + one.certificate + ",\"privateKey\":" + two.key + "}"),
        "tls.privateKey");
    assertRefused(
        create("{\"certificate\":" + one.key + ",\"privateKey\":" + one.key + "}"),
        "tls.certificate");
    assertRefused(
        create("{\"certificate\":\"nonsense\",\"privateKey\":" + one.key + "}"), "tls.certificate");
    assertRefused(create("{" + identity(expired) + "}"), "tls.certificate");
    assertRefused(create("{\"roots\":" + expired.certificate + "}"), "tls.roots");
    assertRefused(create("{\"roots\":\"" + "x".repeat(24_577) + "\"}"), "tls.roots");
    assertRefused(create("{\"roots\":\"\"}"), "tls.roots");
    assertRefused(
        server.post(
            "/v1/subscriptions",
            "{\"url\":\"http://127.0.0.1:9/\",\"types\":[\"a\"],\"tls\":{\"roots\":"
                + one.certificate
                + "}}"),
        "tls");
    assertThat(server.get("/v1/endpoints").json().get("items").size()).isZero();
  }

  @Test
  void a_url_without_encryption_has_none() throws Exception {
    JsonNode plain =
        answered(
            201,
            server.post(
                "/v1/subscriptions", "{\"url\":\"http://127.0.0.1:9/\",\"types\":[\"a\"]}"));
    String roots = "{\"tls\":{\"roots\":" + one.certificate + "}}";
    assertRefused(patch("/v1/endpoints/" + plain.get("endpoint").asString(), roots), "tls");
    assertRefused(patch("/v1/subscriptions/" + plain.get("id").asString(), roots), "tls");
  }

  private static void assertRefused(Reply reply, String field) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(reply.json().get("field").asString()).isEqualTo(field);
    for (Pair pair : List.of(one, two)) {
      assertThat(reply.text()).doesNotContain(pair.key.substring(60, 100));
    }
  }
}
