package dev.holdfast.server.api;

import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.engine.http.TlsMaterial;
import dev.holdfast.engine.http.TlsMaterial.Part;
import dev.holdfast.engine.http.TlsMaterial.Unusable;
import dev.holdfast.server.api.Problem.Kind;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** What is special about encrypted connections to an endpoint, as it stands in bodies. */
final class TlsFields {
  static final String FIELD = "tls";

  private static final String CERTIFICATE = FIELD + ".certificate";
  private static final String PRIVATE_KEY = FIELD + ".privateKey";
  private static final String ROOTS = FIELD + ".roots";

  /** How much of a certificate's names is shown. */
  private static final int NAME_CHARS = 300;

  /**
   * What is shown of each, for as long as an endpoint has it: to read certificates takes a while.
   */
  private static final Map<EndpointTls, Shown> SHOWN =
      Collections.synchronizedMap(new WeakHashMap<>());

  private TlsFields() {}

  private record Shown(List<Item> own, List<Item> roots) {}

  /** What is shown of a certificate. */
  private record Item(String subject, String issuer, Instant notAfter, String fingerprint) {
    static Item of(X509Certificate certificate) {
      return new Item(
          cut(certificate.getSubjectX500Principal().getName()),
          cut(certificate.getIssuerX500Principal().getName()),
          certificate.getNotAfter().toInstant(),
          TlsMaterial.fingerprint(certificate));
    }

    private static String cut(String name) {
      return name.length() <= NAME_CHARS ? name : name.substring(0, NAME_CHARS) + "…";
    }
  }

  /**
   * Reads what comes next.
   *
   * @param isChange whether there may be something already: then what is not given stays
   */
  static EndpointTls.Change read(JsonParser parser, Instant now, boolean isChange) {
    JsonToken first = parser.nextToken();
    if (first == JsonToken.VALUE_NULL) {
      return EndpointTls.Change.TO_NOTHING;
    }
    if (first != JsonToken.START_OBJECT) {
      throw JsonBody.wrongType(parser, FIELD, "an object with a certificate, a key or roots");
    }
    Map<String, @Nullable String> given = new LinkedHashMap<>();
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      String field = FIELD + "." + name;
      given.put(field, pem(parser, field, most(field)));
    }
    boolean setsCertificate = given.containsKey(CERTIFICATE) || given.containsKey(PRIVATE_KEY);
    String certificates = given.get(CERTIFICATE);
    String key = given.get(PRIVATE_KEY);
    if ((certificates == null) != (key == null)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          certificates == null ? CERTIFICATE : PRIVATE_KEY,
          "A certificate and its private key belong together. Give both, or neither.");
    }
    check(new EndpointTls(certificates, key, given.get(ROOTS)), now);
    return new EndpointTls.Change(
        !isChange, setsCertificate, certificates, key, given.containsKey(ROOTS), given.get(ROOTS));
  }

  private static int most(String field) {
    return switch (field) {
      case CERTIFICATE -> ApiLimits.CERTIFICATE_CHARS;
      case PRIVATE_KEY -> ApiLimits.PRIVATE_KEY_CHARS;
      case ROOTS -> ApiLimits.ROOTS_CHARS;
      default ->
          throw JsonBody.unknownField(
              Text.shown(field), String.join(", ", CERTIFICATE, PRIVATE_KEY, ROOTS));
    };
  }

  private static @Nullable String pem(JsonParser parser, String field, int most) {
    String text = JsonBody.optionalText(parser, field);
    if (text != null && text.length() > most) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "It can have %,d characters, no more. Give only what is needed.".formatted(most));
    }
    return text;
  }

  /** Refuses what cannot be used, without showing it. */
  private static void check(EndpointTls tls, Instant now) {
    TlsMaterial material;
    try {
      material = TlsMaterial.of(tls);
    } catch (Unusable e) {
      throw Refusal.of(Kind.INVALID_FIELD, field(e.part()), e.advice());
    }
    checkEnds(material.certificates(), CERTIFICATE, now);
    checkEnds(material.roots(), ROOTS, now);
  }

  private static void checkEnds(List<X509Certificate> all, String field, Instant now) {
    for (X509Certificate one : all) {
      Instant end = one.getNotAfter().toInstant();
      if (!end.isAfter(now)) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            field,
            "Certificate %d has expired, on %s. Give one that is valid."
                .formatted(all.indexOf(one) + 1, end));
      }
    }
  }

  private static String field(Part part) {
    return switch (part) {
      case CERTIFICATES -> CERTIFICATE;
      case PRIVATE_KEY -> PRIVATE_KEY;
      case ROOTS -> ROOTS;
    };
  }

  /** Refuses what is special about connections that are not encrypted. */
  static @Nullable EndpointTls checkUrl(@Nullable EndpointTls tls, String url) {
    if (tls != null && !EndpointTls.isPossible(url)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          FIELD,
          "Connections to this URL are not encrypted. Use one that begins with https, or leave this"
              + " out.");
    }
    return tls;
  }

  /** Shows whose certificates they are, and never a key. */
  static void write(JsonGenerator out, @Nullable EndpointTls tls) {
    if (tls == null) {
      out.writeNullProperty(FIELD);
      return;
    }
    Shown shown = shown(tls);
    out.writeObjectPropertyStart(FIELD);
    if (shown.own.isEmpty()) {
      out.writeNullProperty("certificate");
    } else {
      out.writeName("certificate");
      write(out, shown.own.getFirst());
    }
    out.writeArrayPropertyStart("roots");
    for (Item root : shown.roots) {
      write(out, root);
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  private static void write(JsonGenerator out, Item item) {
    out.writeStartObject();
    out.writeStringProperty("subject", item.subject);
    out.writeStringProperty("issuer", item.issuer);
    Json.time(out, "notAfter", item.notAfter);
    out.writeStringProperty("fingerprint", item.fingerprint);
    out.writeEndObject();
  }

  /** Nobody waits for another who reads: it may be the event loop. */
  private static Shown shown(EndpointTls tls) {
    Shown known = SHOWN.get(tls);
    if (known != null) {
      return known;
    }
    Shown read = new Shown(items(tls.certificates()), items(tls.roots()));
    SHOWN.put(tls, read);
    return read;
  }

  /** Whether what is shown of it still has to be read, so that it is not for the event loop. */
  static boolean isUnread(@Nullable EndpointTls tls) {
    return tls != null && !SHOWN.containsKey(tls);
  }

  /** What was checked when it came in can be read; if it cannot, nothing is shown of it. */
  private static List<Item> items(@Nullable String pem) {
    if (pem == null) {
      return List.of();
    }
    List<Item> items = new ArrayList<>();
    try {
      TlsMaterial.of(new EndpointTls(null, null, pem)).roots().stream()
          .map(Item::of)
          .forEach(items::add);
    } catch (Unusable _) {
      return List.of();
    }
    return items;
  }
}
