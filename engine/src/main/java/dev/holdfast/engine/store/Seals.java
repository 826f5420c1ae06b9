package dev.holdfast.engine.store;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.engine.vault.NotAuthentic;
import dev.holdfast.engine.vault.Place;
import dev.holdfast.engine.vault.Vault;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * What of the rows is sealed, and how.
 *
 * <p>Of a subscription that is its token, headers, secrets and its URL as it was written, where it
 * has any of them; of an endpoint its URL, and what is special about connections to it. Nothing
 * else of a row depends on it, so that the counts of an endpoint are changed without sealing
 * anything.
 */
public final class Seals {
  private static final String SUBSCRIPTIONS = "subscriptions";
  private static final String ENDPOINTS = "endpoints";

  /** Replaced when there is a new key. */
  private volatile @Nullable Vault vault;

  private volatile @Nullable Renewal renewal;

  private Seals(@Nullable Vault vault) {
    this.vault = vault;
  }

  public static Seals of(Vault vault) {
    return new Seals(vault);
  }

  /** Without keys: what is sealed stays so, and nothing can be sealed. */
  public static Seals closed() {
    return new Seals(null);
  }

  /** Reads the keys once more, since others may have made a new one. */
  public interface Renewal {
    /** All keys that there are now. */
    Vault vault() throws SQLException;
  }

  /** Asks for all keys when something is sealed with one that is not known. */
  public void renewBy(Renewal source) {
    renewal = source;
  }

  private @Nullable Vault vaultFor(byte[] sealed) throws SQLException {
    Vault known = vault;
    Renewal source = renewal;
    if (known == null || source == null || known.knows(sealed)) {
      return known;
    }
    Vault renewed = source.vault();
    vault = renewed;
    return renewed;
  }

  /** Uses these keys from now on. */
  public void use(Vault next) {
    vault = next;
  }

  public Vault vault() {
    Vault open = vault;
    if (open == null) {
      throw new IllegalArgumentException(
          "the store was opened without a master key, so secrets can be neither read nor kept");
    }
    return open;
  }

  /** Whether a subscription has anything that is to be sealed. */
  public static boolean isSealed(Subscription subscription) {
    Form form = subscription.form();
    return form.authToken() != null
        || !form.headers().isEmpty()
        || !form.secrets().isEmpty()
        || subscription.writtenUrl() != null;
  }

  /** What is sealed of a subscription; absent when there is nothing. */
  public byte @Nullable [] seal(Subscription subscription) {
    if (!isSealed(subscription)) {
      return null;
    }
    Form form = subscription.form();
    return vault()
        .seal(
            place(subscription),
            SealedTexts.bytes(
                form.authToken(),
                SubscriptionRow.headers(form.headers()),
                SubscriptionRow.secrets(form.secrets()),
                subscription.writtenUrl()));
  }

  /** The whole subscription; the bare one when there are no keys. */
  public Subscription open(Subscription bare, byte[] sealed) throws SQLException {
    Vault open = vaultFor(sealed);
    if (open == null) {
      return bare;
    }
    try {
      @Nullable String[] texts = SealedTexts.texts(open.open(place(bare), sealed), 4);
      String headers = texts[1];
      String secrets = texts[2];
      Form form = bare.form();
      return new Subscription(
          bare.id(),
          bare.tenant(),
          bare.endpoint(),
          texts[3],
          bare.interest(),
          new Form(
              form.format(),
              form.edition(),
              form.base64(),
              texts[0],
              SubscriptionRow.readHeaders(headers == null ? "" : headers),
              SubscriptionRow.readSecrets(secrets == null ? "" : secrets)),
          bare.createdAt(),
          bare.changedAt(),
          bare.paused(),
          bare.unsettled());
    } catch (NotAuthentic | RuntimeException e) {
      throw damaged(SUBSCRIPTIONS, bare.id(), e);
    }
  }

  /** By which an endpoint is known only once, without its URL. */
  public String digest(Endpoint endpoint) {
    return vault().digest(endpoint.tenant(), endpoint.url());
  }

  public byte[] seal(Endpoint endpoint) {
    EndpointTls tls = endpoint.tls();
    return vault()
        .seal(
            place(endpoint),
            tls == null
                ? SealedTexts.bytes(endpoint.url())
                : SealedTexts.bytes(
                    endpoint.url(), tls.certificates(), tls.privateKey(), tls.roots()));
  }

  /** The whole endpoint; the bare one, with a digest for a URL, when there are no keys. */
  public Endpoint open(Endpoint bare, byte[] sealed) throws SQLException {
    Vault open = vaultFor(sealed);
    if (open == null) {
      return bare;
    }
    try {
      @Nullable String[] texts = SealedTexts.texts(open.open(place(bare), sealed), 4);
      String url = texts[0];
      if (url == null || !open.digest(bare.tenant(), url).equals(bare.url())) {
        throw new IllegalArgumentException("another URL than the row is known by");
      }
      EndpointTls tls =
          texts[1] == null && texts[3] == null
              ? null
              : new EndpointTls(texts[1], texts[2], texts[3]);
      return new Endpoint(
          bare.id(), bare.tenant(), url, bare.health(), bare.rateLimit(), tls, bare.goneAt());
    } catch (NotAuthentic | RuntimeException e) {
      throw damaged(ENDPOINTS, bare.id(), e);
    }
  }

  private static Damaged damaged(String table, long row, Exception cause) {
    return new Damaged(
        "what is sealed in row " + row + " of " + table + " cannot be opened", cause);
  }

  private static Place place(Subscription subscription) {
    return new Place(SUBSCRIPTIONS, subscription.tenant(), subscription.id());
  }

  private static Place place(Endpoint endpoint) {
    return new Place(ENDPOINTS, endpoint.tenant(), endpoint.id());
  }
}
