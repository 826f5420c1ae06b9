package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.engine.format.Body;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The request that an attempt sends, for people: without what only its receiver should know.
 *
 * <p>It is written by the same code as the real one, over HTTP/1.1. What is secret is replaced
 * before that, so there is nothing that could be overlooked afterwards.
 *
 * @param url with the values in its query masked
 * @param headers in the order in which they are sent
 */
public record ShownRequest(String url, List<Header> headers, byte[] body) {
  /** What stands for a value that is not shown. */
  public static final String HIDDEN = "****";

  /** A header, its value masked if that is secret. */
  public record Header(String name, String value) {}

  /**
   * The request of an attempt; empty if its URL cannot be sent to.
   *
   * @param userAgent what receivers see as {@code User-Agent}
   */
  public static Optional<ShownRequest> of(Delivery delivery, String userAgent) {
    Target target = new Targets(userAgent, 1, _ -> {}).of(delivery.url(), null);
    if (target == null) {
      return Optional.empty();
    }
    Form masked = masked(delivery.subscription().form());
    Subscription subscription =
        delivery
            .subscription()
            .with(delivery.subscription().interest(), masked, delivery.subscription().changedAt());
    Delivery shown =
        new Delivery(
            delivery.message(),
            delivery.event(),
            subscription,
            delivery.url(),
            delivery.startedAt(),
            false);
    Body body = Body.of(shown);
    Sending sending = new Sending(shown, (_, _) -> {}, target, new Letterhead(masked), null);
    sending.signatures = HIDDEN.getBytes(US_ASCII);
    return Optional.of(
        new ShownRequest(
            MaskedUrl.of(delivery.url()),
            headers(new RequestWriter().headOf(sending, body)),
            joined(body)));
  }

  private static Form masked(Form form) {
    NavigableMap<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    form.headers().keySet().forEach(name -> headers.put(name, HIDDEN));
    if (form.authToken() != null) {
      headers.remove(Letterhead.AUTHORIZATION);
      headers.put(Letterhead.AUTHORIZATION, HIDDEN);
    }
    return new Form(form.format(), form.edition(), form.base64(), null, headers, form.secrets());
  }

  /** The lines of a head between the first, which has the URL, and the empty one at its end. */
  private static List<Header> headers(byte[] head) {
    List<Header> headers = new ArrayList<>();
    for (String line : new String(head, US_ASCII).lines().skip(1).toList()) {
      int colon = line.indexOf(": ");
      if (colon > 0) {
        headers.add(new Header(line.substring(0, colon), line.substring(colon + 2)));
      }
    }
    return headers;
  }

  private static byte[] joined(Body body) {
    byte[] whole = new byte[body.length()];
    int at = 0;
    for (byte[] part : body.parts()) {
      System.arraycopy(part, 0, whole, at, part.length);
      at += part.length;
    }
    return whole;
  }
}
