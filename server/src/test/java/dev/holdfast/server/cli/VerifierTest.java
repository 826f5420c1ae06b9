package dev.holdfast.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import dev.holdfast.server.cli.Receiver.Manner;
import dev.holdfast.server.cli.Verifier.Verdict;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** What it verifies was signed by a library that others wrote. */
@Timeout(60)
class VerifierTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final String ONE = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String TWO = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
  private static final String PAIR =
      "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
  private static final String PUBLIC = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
  private static final String BODY = "{\"type\":\"order.paid\",\"n\":\"é\"}";

  @Test
  void a_signature_of_the_secret_is_good() throws Exception {
    assertThat(verdict(List.of(ONE), sign(ONE, NOW), BODY)).isEqualTo(Verdict.GOOD);
  }

  @Test
  void a_signature_of_another_secret_is_wrong() throws Exception {
    assertThat(verdict(List.of(ONE), sign(TWO, NOW), BODY)).isEqualTo(Verdict.WRONG);
  }

  @Test
  void a_signature_of_another_body_is_wrong() throws Exception {
    assertThat(verdict(List.of(ONE), sign(ONE, NOW), BODY + " ")).isEqualTo(Verdict.WRONG);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "v1,", "v1", "v2,AAAA", "nothing of that kind", "v1,é"})
  void what_is_no_signature_is_wrong(String signature) throws Exception {
    assertThat(verdict(List.of(ONE), signature, BODY)).isEqualTo(Verdict.WRONG);
  }

  @Test
  void one_good_signature_of_several_is_enough() throws Exception {
    String both = sign(TWO, NOW) + " " + sign(ONE, NOW);
    assertThat(verdict(List.of(ONE), both, BODY)).isEqualTo(Verdict.GOOD);
    assertThat(verdict(List.of(TWO), both, BODY)).isEqualTo(Verdict.GOOD);
    assertThat(verdict(List.of(ONE, TWO), sign(TWO, NOW), BODY)).isEqualTo(Verdict.GOOD);
  }

  @Test
  void what_has_no_signature_is_not_signed() throws Exception {
    assertThat(verdict(List.of(ONE), null, BODY)).isEqualTo(Verdict.UNSIGNED);
  }

  @Test
  void without_a_secret_nothing_is_known() throws Exception {
    assertThat(verdict(List.of(), sign(ONE, NOW), BODY)).isEqualTo(Verdict.UNKNOWN);
    assertThat(verdict(List.of(), null, BODY)).isEqualTo(Verdict.UNKNOWN);
  }

  @Test
  void a_signature_counts_for_five_minutes() throws Exception {
    for (int seconds : new int[] {-301, -300, 0, 300, 301}) {
      Instant signedAt = NOW.plusSeconds(seconds);
      assertThat(
              new Verifier(List.of(Verifier.Key.read(ONE)))
                  .verify(headers(sign(ONE, signedAt), signedAt), BODY.getBytes(UTF_8), NOW))
          .as("%s s", seconds)
          .isEqualTo(Math.abs(seconds) > 300 ? Verdict.OUTDATED : Verdict.GOOD);
    }
  }

  @Test
  void a_time_that_is_none_is_outdated_even_if_it_is_signed() throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(ONE.substring(6)), "HmacSHA256"));
    mac.update("msg_1.soon.".getBytes(UTF_8));
    String signature =
        "v1," + Base64.getEncoder().encodeToString(mac.doFinal(BODY.getBytes(UTF_8)));
    MultiMap headers = headers(signature, NOW).set("webhook-timestamp", "soon");
    assertThat(
            new Verifier(List.of(Verifier.Key.read(ONE)))
                .verify(headers, BODY.getBytes(UTF_8), NOW))
        .isEqualTo(Verdict.OUTDATED);
  }

  @Test
  void a_signature_of_a_pair_of_keys_is_verified_with_its_public_key() throws Exception {
    for (String key : List.of(PUBLIC, PAIR)) {
      assertThat(verdict(List.of(key), signWithPair(), BODY)).isEqualTo(Verdict.GOOD);
      assertThat(verdict(List.of(ONE, key), sign(TWO, NOW) + " " + signWithPair(), BODY))
          .isEqualTo(Verdict.GOOD);
      assertThat(verdict(List.of(key), signWithPair(), BODY + " ")).isEqualTo(Verdict.WRONG);
      assertThat(verdict(List.of(key), sign(ONE, NOW), BODY)).isEqualTo(Verdict.WRONG);
      for (String none : List.of("v1a,", "v1a,AAAA", "v1a,%", "v1a,é", "v1a")) {
        assertThat(verdict(List.of(key), none, BODY)).isEqualTo(Verdict.WRONG);
      }
    }
    assertThat(
            new Verifier(List.of(Verifier.Key.read(PUBLIC)))
                .verify(headers(signWithPair(), NOW), BODY.getBytes(UTF_8), NOW.plusSeconds(301)))
        .isEqualTo(Verdict.OUTDATED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "whpk_",
        "whpk_planted",
        "whsk_AAAA",
        "",
        "whsec_",
        "planted",
        "whsec_planted!",
        "whsec_a",
        "WHSEC_AAAA"
      })
  void a_secret_that_is_none_is_refused_and_not_repeated(String text) {
    assertThatThrownBy(() -> Verifier.Key.read(text))
        .isInstanceOf(BadValue.class)
        .message()
        .doesNotContain("planted");
  }

  @Test
  void a_receiver_says_of_each_message_how_it_is_signed() throws Exception {
    Vertx vertx = Vertx.vertx();
    BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    try (HttpClient client = HttpClient.newHttpClient()) {
      Receiver receiver =
          new Receiver(
              vertx,
              InstantSource.fixed(NOW),
              new Manner(200, Duration.ZERO, 0),
              new Verifier(List.of(Verifier.Key.read(ONE))),
              arrivals::add);
      URI url =
          URI.create("http://127.0.0.1:" + receiver.listen("127.0.0.1", 0).await().actualPort());
      for (@Nullable String signature :
          new @Nullable String[] {
            sign(ONE, NOW), sign(TWO, NOW), null, sign(ONE, NOW.minusSeconds(400))
          }) {
        HttpRequest.Builder request =
            HttpRequest.newBuilder(url)
                .header("webhook-id", "msg_1")
                .header(
                    "webhook-timestamp",
                    "" + NOW.minusSeconds(arrivals.size() == 3 ? 400 : 0).getEpochSecond())
                .POST(BodyPublishers.ofString(BODY));
        if (signature != null) {
          request.header("webhook-signature", signature);
        }
        client.send(request.build(), BodyHandlers.discarding());
      }
    } finally {
      vertx.close().await();
    }
    assertThat(arrivals)
        .extracting(arrival -> arrival.line(Ansi.OFF).replaceFirst(".* B  (.*)  -> 200.*", "$1"))
        .containsExactly(
            "signature ok",
            "signature WRONG",
            "not signed",
            "signature WRONG: its time is not within 5 minutes of now");
    assertThat(arrivals.toString()).doesNotContain(ONE.substring(6));
  }

  @Test
  void listen_takes_secrets_from_the_command_line_and_the_environment() throws Exception {
    Listen listen = listen(Map.of("HOLDFAST_LISTEN_SECRET", " " + TWO + "\n"));
    new CommandLine(listen).parseArgs("--secret", ONE);
    for (String secret : List.of(ONE, TWO)) {
      assertThat(
              listen.verifier().verify(headers(sign(secret, NOW), NOW), BODY.getBytes(UTF_8), NOW))
          .isEqualTo(Verdict.GOOD);
    }
    assertThat(listen(Map.of()).verifier().verify(headers(null, NOW), new byte[0], NOW))
        .isEqualTo(Verdict.UNKNOWN);
  }

  @Test
  void listen_does_not_repeat_what_could_be_a_secret() {
    Typed typed = new Typed();
    assertThat(typed.run("listen", "--secret", "whsec_planted!")).isEqualTo(2);
    assertThat(typed.err).contains("--secret", "whsec_ and a key in Base64");
    assertThat(typed.out + typed.err).doesNotContain("planted");
    typed.environment.put("HOLDFAST_LISTEN_SECRET", "planted");
    assertThat(typed.run("listen", "--port", "0")).isEqualTo(2);
    assertThat(typed.err).contains("HOLDFAST_LISTEN_SECRET is no secret: that is whsec_");
    assertThat(typed.out + typed.err).doesNotContain("planted");
  }

  private static Listen listen(Map<String, String> environment) {
    return new Listen(
        new Surroundings(
            environment,
            InstantSource.fixed(NOW),
            new ByteArrayInputStream(new byte[0]),
            () -> Screen.NONE,
            () -> _ -> true));
  }

  private static Verdict verdict(List<String> secrets, @Nullable String signature, String body)
      throws Exception {
    List<Verifier.Key> keys = new ArrayList<>();
    for (String secret : secrets) {
      keys.add(Verifier.Key.read(secret));
    }
    return new Verifier(keys).verify(headers(signature, NOW), body.getBytes(UTF_8), NOW);
  }

  private static MultiMap headers(@Nullable String signature, Instant signedAt) {
    MultiMap headers =
        MultiMap.caseInsensitiveMultiMap()
            .add("Webhook-Id", "msg_1")
            .add("webhook-timestamp", "" + signedAt.getEpochSecond());
    return signature == null ? headers : headers.add("webhook-signature", signature);
  }

  private static String signWithPair() throws Exception {
    Signature signature = Signature.getInstance("Ed25519");
    byte[] seed = Arrays.copyOf(Base64.getDecoder().decode(PAIR.substring(5)), 32);
    signature.initSign(
        KeyFactory.getInstance("Ed25519")
            .generatePrivate(new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed)));
    signature.update(("msg_1." + NOW.getEpochSecond() + "." + BODY).getBytes(UTF_8));
    return "v1a," + Base64.getEncoder().encodeToString(signature.sign());
  }

  private static String sign(String secret, Instant at) throws Exception {
    return new Webhook(secret).sign("msg_1", at.getEpochSecond(), BODY);
  }
}
