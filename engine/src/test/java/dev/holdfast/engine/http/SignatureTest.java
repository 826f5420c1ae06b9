package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.Seeds;
import dev.holdfast.engine.format.Body;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** Verifies what is sent with a library that others wrote, which goes by the clock on the wall. */
@Timeout(60)
class SignatureTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  /** The key in the example. */
  private static final String KNOWN_PAIR =
      "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";

  private static final List<Format> FORMATS = List.of(Format.values());

  private final Instant now = Instant.now();
  private final SplittableRandom random = new SplittableRandom(20260304);
  private final Receiver receiver = Receiver.answering(OK);
  private final Senders senders = Senders.with().build();

  @AfterEach
  void close() {
    senders.close();
    receiver.close();
  }

  @Test
  void a_message_is_signed_with_its_subscriptions_secret() throws Exception {
    Secret secret = secret(24, null);

    Receiver.Request request = send(signed(secret), Senders.event("{\"total\": 1.10}"));

    assertThat(request.header("webhook-signature")).matches("v1,[A-Za-z0-9+/]{43}=");
    verify(secret, request);
    assertThatThrownBy(() -> verify(secret(24, null), request))
        .isInstanceOf(WebhookVerificationException.class);
    Receiver.Request other =
        new Receiver.Request(
            request.lines(), (new String(request.body(), UTF_8) + " ").getBytes(UTF_8));
    assertThatThrownBy(() -> verify(secret, other))
        .isInstanceOf(WebhookVerificationException.class);
  }

  /** The example of the specification's own reference implementations. */
  @Test
  void known_signatures_come_out() throws Exception {
    byte[] key = Base64.getDecoder().decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    Body body = new Body("{\"test\": 2432".getBytes(UTF_8), "232314}".getBytes(UTF_8));
    Signer signer = new Signer();
    byte[] start = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.".getBytes(UTF_8);

    signer.add(new SecretKeySpec(key, Signer.HMAC), start, body);
    signer.add(Ed25519.privateKey(Secret.keyOf(KNOWN_PAIR).orElseThrow()), start, body);

    assertThat(new String(signer.text, 0, signer.length, UTF_8))
        .isEqualTo(
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
                + " v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==");
  }

  @Test
  void each_secret_that_is_valid_when_the_attempt_starts_signs_the_newest_first() throws Exception {
    Secret newest = secret(24, null);
    Secret ending = secret(32, now.plusMillis(1));
    Secret ended = secret(64, now);
    Secret older = secret(64, now.plus(Duration.ofDays(1)));

    Receiver.Request request = send(signed(newest, ending, ended, older), Senders.event("1"));

    List<String> signatures = Arrays.asList(request.header("webhook-signature").split(" ", -1));
    assertThat(signatures).hasSize(3).doesNotHaveDuplicates();
    List<Secret> valid = List.of(newest, ending, older);
    for (int i = 0; i < valid.size(); i++) {
      verify(valid.get(i), request);
      assertThat(
              new Webhook(valid.get(i).text())
                  .sign(
                      request.header("webhook-id"),
                      now.getEpochSecond(),
                      new String(request.body(), UTF_8)))
          .isEqualTo(signatures.get(i));
    }
    assertThatThrownBy(() -> verify(ended, request))
        .isInstanceOf(WebhookVerificationException.class);
  }

  @Test
  void without_a_valid_secret_nothing_is_signed() throws Exception {
    assertThat(send(Form.PLAIN, Senders.event("1")).headers("webhook-signature")).isEmpty();
    Receiver.Request request = send(signed(secret(24, now)), Senders.event("1"));
    assertThat(request.headers("webhook-signature")).isEmpty();
    assertThat(request.lines()).noneMatch(line -> line.contains("v1,"));
  }

  @Test
  void a_rotated_secret_signs_the_next_attempt() throws Exception {
    Secret before = secret(24, null);
    Secret after = secret(24, null);
    verify(before, send(signed(before), Senders.event("1")));
    Receiver.Request request = send(signed(after), Senders.event("1"));
    verify(after, request);
    assertThatThrownBy(() -> verify(before, request))
        .isInstanceOf(WebhookVerificationException.class);
  }

  @Test
  void a_pair_of_keys_signs_what_its_public_key_verifies() throws Exception {
    Secret pair = pair(null);

    Receiver.Request request = send(signed(pair), Senders.event("{\"total\": 1.10}"));

    assertThat(request.header("webhook-signature")).matches("v1a,[A-Za-z0-9+/]{86}==");
    assertThat(isVerified(pair, request, request.body())).isTrue();
    assertThat(isVerified(pair, request, "{}".getBytes(UTF_8))).isFalse();
    assertThat(isVerified(pair(null), request, request.body())).isFalse();
  }

  @Test
  void both_kinds_sign_while_one_takes_the_place_of_the_other() throws Exception {
    Secret newest = pair(null);
    Secret ending = secret(32, now.plusMillis(1));
    Secret ended = pair(now);
    Secret older = pair(now.plus(Duration.ofDays(1)));

    Receiver.Request request = send(signed(newest, ending, ended, older), Senders.event("1"));

    List<String> signatures = Arrays.asList(request.header("webhook-signature").split(" ", -1));
    assertThat(signatures)
        .extracting(one -> one.replaceAll(",.*", ""))
        .containsExactly("v1a", "v1", "v1a");
    verify(ending, request);
    assertThat(isVerified(newest, request, request.body())).isTrue();
    assertThat(isVerified(older, request, request.body())).isTrue();
    assertThat(isVerified(ended, request, request.body())).isFalse();
  }

  @Test
  void many_that_are_slow_to_sign_are_all_sent() throws Exception {
    Form slow = signed(pair(null));
    Form quick = signed(secret(32, null));
    List<CompletableFuture<Senders.Ending>> endings = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      endings.add(senders.start(delivery(i % 2 == 0 ? slow : quick, Senders.event("" + i))));
    }
    for (CompletableFuture<Senders.Ending> ending : endings) {
      assertThat(Senders.await(ending).outcome()).isInstanceOf(Outcome.Success.class);
    }
    for (int i = 0; i < 100; i++) {
      Receiver.Request request = receiver.seen();
      int number =
          Integer.parseInt(
              new String(request.body(), UTF_8).replaceAll(".*\"data\":(\\d+).*", "$1"));
      Form form = number % 2 == 0 ? slow : quick;
      if (number % 2 == 0) {
        assertThat(isVerified(form.secrets().getFirst(), request, request.body())).isTrue();
      } else {
        verify(form.secrets().getFirst(), request);
      }
    }
  }

  @Test
  void other_peoples_libraries_verify_what_is_sent() throws Exception {
    Secret shared = secret(32, null);
    Secret pair = pair(null);
    Secret ending = secret(24, now.plus(Duration.ofDays(1)));
    Secret ended = secret(24, now);
    Event event = Senders.event("{\"price\": 1.10, \"name\": \"é😀\"}");
    Receiver.Request plain = send(signed(shared), event);
    Receiver.Request asymmetric = send(signed(pair), event);
    Receiver.Request rotated = send(signed(pair, ending, ended), event);
    Receiver.Request forged =
        new Receiver.Request(
            rotated.lines(), (new String(rotated.body(), UTF_8) + " ").getBytes(UTF_8));

    verifyInJava(shared, plain);
    verifyInJava(ending, rotated);
    for (Receiver.Request other : List.of(asymmetric, forged)) {
      assertThatThrownBy(() -> verifyInJava(ending, other)).isInstanceOf(Exception.class);
    }
    String half = pair.publicKey().orElseThrow();
    String otherHalf = pair(null).publicKey().orElseThrow();
    assertThat(
            NodeVerifier.verify(
                List.of(
                    new NodeVerifier.Question(shared.text(), plain),
                    new NodeVerifier.Question(half, asymmetric),
                    new NodeVerifier.Question(ending.text(), rotated),
                    new NodeVerifier.Question(half, rotated),
                    new NodeVerifier.Question(ended.text(), rotated),
                    new NodeVerifier.Question(otherHalf, rotated),
                    new NodeVerifier.Question(ending.text(), forged),
                    new NodeVerifier.Question(half, forged),
                    new NodeVerifier.Question(half, plain))))
        .containsExactly(true, true, true, true, false, false, false, false, false);
  }

  @Test
  void whatever_is_sent_in_whatever_format_can_be_verified() {
    Seeds.each(
        60,
        seeded -> {
          Secret secret = secret(24 + seeded.nextInt(41), null);
          Format format = FORMATS.get(seeded.nextInt(FORMATS.size()));
          Form form =
              new Form(
                  format,
                  format == Format.WORKFRONT && seeded.nextBoolean(),
                  null,
                  new TreeMap<>(),
                  List.of(secret));
          String data =
              "\"" + "é😀x".repeat(seeded.nextInt(seeded.nextBoolean() ? 50 : 20_000)) + "\"";
          Event event =
              new Event(
                  seeded.nextLong(1L << 60),
                  "default",
                  "order.paid",
                  "ü",
                  null,
                  data.getBytes(UTF_8),
                  seeded.nextBoolean() ? null : "{\"a\":1.0}".getBytes(UTF_8),
                  null,
                  null);

          Receiver.Request request = send(form, event);

          verify(secret, request);
          assertThat(request.header("content-type")).isEqualTo("application/json");
        });
  }

  @Test
  void token_and_headers_go_with_every_attempt() throws Exception {
    Form form =
        new Form(
            Format.HOLDFAST,
            false,
            "s3cr3t",
            new TreeMap<>(Map.of("X-Shop", "one two", "x-empty", "")),
            List.of(secret(24, null)));
    for (int i = 0; i < 2; i++) {
      Receiver.Request request = send(form, Senders.event("1"));
      assertThat(request.header("authorization")).isEqualTo("Bearer s3cr3t");
      assertThat(request.header("x-shop")).isEqualTo("one two");
      assertThat(request.header("x-empty")).isEmpty();
    }
  }

  @Test
  void a_form_that_cannot_be_sent_fails_its_attempt_and_tells_nobody_what_is_in_it()
      throws Exception {
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    root.addAppender(logged);
    try {
      for (Form form :
          List.of(
              signed(new Secret("whsec_planted!", now, null)),
              signed(new Secret("whsk_planted!", now, null)),
              new Form(Format.HOLDFAST, false, "planted\r\nx: y", new TreeMap<>(), List.of()),
              new Form(
                  Format.HOLDFAST,
                  false,
                  null,
                  new TreeMap<>(Map.of("x", "planted\r\n\r\nGET / HTTP/1.1")),
                  List.of()))) {
        Outcome outcome = senders.send(delivery(form, Senders.event("1"))).outcome();
        assertThat(((Outcome.Failure) outcome).kind()).isEqualTo(Kind.PROTOCOL);
      }
    } finally {
      root.detachAppender(logged);
    }
    assertThat(receiver.unreadRequests()).isZero();
    assertThat(logged.list).hasSize(4);
    assertThat(logged.list)
        .allSatisfy(
            line ->
                assertThat(
                        line.getFormattedMessage()
                            + ThrowableProxyUtil.asString(line.getThrowableProxy()))
                    .contains("attempt.broken")
                    .doesNotContain("planted"));
  }

  private Receiver.Request send(Form form, Event event) throws InterruptedException {
    assertThat(senders.send(delivery(form, event)).outcome()).isInstanceOf(Outcome.Success.class);
    return receiver.seen();
  }

  private Delivery delivery(Form form, Event event) {
    return new Delivery(
        Message.pending(42, event.id(), 1, 1, event.size()),
        event,
        Senders.subscription(1, form),
        receiver.url(),
        now);
  }

  private static Form signed(Secret... secrets) {
    return new Form(Format.HOLDFAST, false, null, new TreeMap<>(), List.of(secrets));
  }

  private Secret secret(int bytes, @Nullable Instant validUntil) {
    byte[] key = new byte[bytes];
    random.nextBytes(key);
    return new Secret("whsec_" + Base64.getEncoder().encodeToString(key), now, validUntil);
  }

  private Secret pair(@Nullable Instant validUntil) {
    return new Secret(
        "whsk_" + Base64.getEncoder().encodeToString(Ed25519.make()), now, validUntil);
  }

  private static boolean isVerified(Secret pair, Receiver.Request request, byte[] body)
      throws Exception {
    Signature engine = Signature.getInstance("Ed25519");
    boolean found = false;
    for (String one : request.header("webhook-signature").split(" ", -1)) {
      if (one.startsWith("v1a,")) {
        engine.initVerify(
            Ed25519.publicKey(Secret.publicKeyOf(pair.publicKey().orElseThrow()).orElseThrow()));
        engine.update(
            (request.header("webhook-id") + "." + request.header("webhook-timestamp") + ".")
                .getBytes(UTF_8));
        engine.update(body);
        found |= engine.verify(Base64.getDecoder().decode(one.substring(4)));
      }
    }
    return found;
  }

  /** By both libraries there are. */
  private static void verifyInJava(Secret secret, Receiver.Request request) throws Exception {
    verify(secret, request);
    new com.svix.Webhook(secret.text())
        .verify(
            new String(request.body(), UTF_8),
            Map.of(
                "webhook-id", request.headers("webhook-id"),
                "webhook-timestamp", request.headers("webhook-timestamp"),
                "webhook-signature", request.headers("webhook-signature")));
  }

  private static void verify(Secret secret, Receiver.Request request) throws Exception {
    new Webhook(secret.text())
        .verify(
            new String(request.body(), UTF_8),
            Map.of(
                "webhook-id", request.headers("webhook-id"),
                "webhook-timestamp", request.headers("webhook-timestamp"),
                "webhook-signature", request.headers("webhook-signature")));
  }
}
