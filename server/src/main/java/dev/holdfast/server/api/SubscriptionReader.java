package dev.holdfast.server.api;

import dev.holdfast.core.filter.Filter;
import dev.holdfast.core.filter.FilterReader;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.filter.InvalidFilter;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.NewHeaders;
import dev.holdfast.core.model.Form.NewSecret;
import dev.holdfast.core.model.Form.NewToken;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Interest.NewSubject;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Secret.Signature;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.server.api.Problem.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads subscriptions from request bodies.
 *
 * <p>Null is the same as what a field is when nobody has given it, wherever there is such a thing.
 * Only what a version is then goes by the format; so its null is the same as if it were not there.
 */
final class SubscriptionReader {
  private static final String CHANGEABLE =
      "url, types, subject, filters, filterConnector, format, version, base64Encoding, authToken,"
          + " headers, rateLimit, tls";

  private static final String SIGNATURE = "signature";

  private static final Duration OLD_SECRETS_LONGEST = Duration.ofDays(30);

  private static final JsonBody JSON = new JsonBody(1);
  private static final JsonBody MANY = new JsonBody(3);
  private static final byte[] EMPTY = {'{', '}'};

  private final EndpointUrls urls;
  private final InstantSource clock;
  private final Secrets secrets = new Secrets();

  SubscriptionReader(EndpointUrls urls, InstantSource clock) {
    this.urls = urls;
    this.clock = clock;
  }

  /** What the fields of a subscription are there for. */
  private enum Purpose {
    CREATE(CHANGEABLE + ", secret, signature, since"),
    IMPORT(CHANGEABLE + ", secret, signature"),
    PREVIEW(CHANGEABLE + ", secret, signature, since"),
    CHANGE(CHANGEABLE);

    private final String known;

    Purpose(String known) {
      this.known = known;
    }
  }

  /**
   * A subscription that a caller wants.
   *
   * @param since from when on it wants also what was before
   * @param hasMadeSecret whether its secret was made here, so that its owner does not know it yet
   */
  record Asked(Wish wish, @Nullable Instant since, boolean hasMadeSecret) {}

  /** Subscriptions that a caller wants to have, in its order. */
  record AskedImport(List<Asked> subscriptions, boolean dryRun) {}

  /**
   * A secret that is to take the place of those before.
   *
   * @param isMade whether it was made here, so that its owner does not know it yet
   */
  record Rotation(NewSecret secret, boolean isMade) {}

  Asked read(byte[] body) {
    return JSON.read(body, parser -> asked(fields(parser, Purpose.CREATE)));
  }

  /** What is to be changed of a subscription, as a JSON merge patch. */
  Patch readPatch(byte[] body) {
    return JSON.read(
        body,
        parser -> {
          Fields fields = fields(parser, Purpose.CHANGE);
          return new Patch(
              fields.url,
              new Interest.Change(fields.types, fields.subject, fields.filters, fields.connector),
              new Form.Change(
                  fields.format,
                  fields.version,
                  fields.base64,
                  fields.authToken,
                  fields.headers,
                  null),
              null,
              fields.rateLimit,
              fields.tls);
        });
  }

  AskedImport readImport(byte[] body) {
    return MANY.read(body, this::askedImport);
  }

  Rotation readRotation(byte[] body) {
    return JSON.read(body.length == 0 ? EMPTY : body, this::rotation);
  }

  /** Which events are wanted by the subscription whose start is the current token. */
  Interest interest(JsonParser parser) {
    Fields fields = fields(parser, Purpose.PREVIEW);
    Secrets.check(fields.signature, fields.secret);
    form(fields, fields.secret == null ? "" : fields.secret);
    return interest(fields);
  }

  private AskedImport askedImport(JsonParser parser) {
    List<Asked> subscriptions = null;
    boolean dryRun = false;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "subscriptions" -> subscriptions = subscriptions(parser);
        case "dryRun" -> dryRun = Boolean.TRUE.equals(JsonBody.optionalFlag(parser, name));
        default -> throw JsonBody.unknownField(name, "subscriptions, dryRun");
      }
    }
    if (subscriptions == null) {
      throw JsonBody.missing("subscriptions");
    }
    return new AskedImport(subscriptions, dryRun);
  }

  private List<Asked> subscriptions(JsonParser parser) {
    if (parser.nextToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrongType(parser, "subscriptions", "an array of subscriptions");
    }
    List<Asked> subscriptions = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      String place = "subscriptions[" + subscriptions.size() + "]";
      if (subscriptions.size() == ApiLimits.IMPORT_SUBSCRIPTIONS) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            "subscriptions",
            "There can be "
                + ApiLimits.IMPORT_SUBSCRIPTIONS
                + " subscriptions in one import. Send the others in another one.");
      }
      if (parser.currentToken() != JsonToken.START_OBJECT) {
        throw JsonBody.wrongType(parser, place, "a subscription");
      }
      try {
        subscriptions.add(imported(parser));
      } catch (Refusal refusal) {
        throw new Refusal(refusal.problem().at(place));
      }
    }
    return subscriptions;
  }

  private Asked imported(JsonParser parser) {
    int start = JsonBody.offset(parser);
    Asked asked = asked(fields(parser, Purpose.IMPORT));
    if (JsonBody.offset(parser) + 1 - start > ApiLimits.IMPORTED_BYTES) {
      throw Refusal.of(
          Kind.TOO_LARGE,
          "A subscription may have at most %d bytes. Use fewer or shorter filters."
              .formatted(ApiLimits.IMPORTED_BYTES));
    }
    return asked;
  }

  private Rotation rotation(JsonParser parser) {
    String given = null;
    Signature signature = null;
    Duration oldValidFor = Form.OLD_SECRETS_VALID;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "secret" -> given = secret(parser, name);
        case SIGNATURE -> signature = signature(parser, name);
        case "oldValidFor" -> {
          String text = JsonBody.optionalText(parser, name);
          oldValidFor = text == null ? Form.OLD_SECRETS_VALID : oldValidFor(text, name);
        }
        default -> throw JsonBody.unknownField(name, "secret, signature, oldValidFor");
      }
    }
    return new Rotation(new NewSecret(secret(given, signature), oldValidFor), given == null);
  }

  private static Duration oldValidFor(String text, String field) {
    return DurationText.parse(text)
        .filter(duration -> duration.compareTo(OLD_SECRETS_LONGEST) <= 0)
        .orElseThrow(
            () ->
                Refusal.of(
                    Kind.INVALID_FIELD,
                    field,
                    "Give a duration from 0s to 30d (units: ms s m h d), such as \"24h\"."));
  }

  private Asked asked(Fields fields) {
    if (fields.url == null) {
      throw JsonBody.missing("url");
    }
    Interest interest = interest(fields);
    boolean isMade = fields.secret == null;
    Form form = form(fields, secret(fields.secret, fields.signature));
    return new Asked(
        new Wish(
            fields.url,
            null,
            interest,
            form,
            fields.rateLimit == null ? null : fields.rateLimit.limit(),
            TlsFields.checkUrl(fields.tls == null ? null : fields.tls.applyTo(null), fields.url)),
        fields.since,
        isMade);
  }

  private static Interest interest(Fields fields) {
    if (fields.types == null) {
      throw JsonBody.missing("types");
    }
    return consistent(
        new Interest(
            fields.types,
            fields.subject == null ? null : fields.subject.text(),
            new Filters(
                fields.connector == null ? Connector.AND : fields.connector,
                fields.filters == null ? List.of() : fields.filters)));
  }

  /** Refuses filters that cannot work with the types. */
  static Interest consistent(Interest interest) {
    interest
        .contradiction()
        .ifPresent(
            found -> {
              throw refusal(found);
            });
    return interest;
  }

  private Form form(Fields fields, String secret) {
    Form.Change asked =
        new Form.Change(
            fields.format, fields.version, fields.base64, fields.authToken, fields.headers, null);
    if (!asked.isBase64Possible(Form.PLAIN)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          "base64Encoding",
          "Only the format \"workfront\" can be in Base64. Use that format, or leave this out.");
    }
    if (!asked.isVersionPossible(Form.PLAIN)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          "version",
          "Only the format \"workfront\" has versions. Use that format, or leave this out.");
    }
    Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
    Form unsigned = asked.applyTo(Form.PLAIN, now);
    if (unsigned.authorizesTwice()) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          OwnHeaders.FIELD,
          "There cannot be both an authToken and a header Authorization. Leave one of them out.");
    }
    return new Form(
        unsigned.format(),
        unsigned.edition(),
        unsigned.base64(),
        unsigned.authToken(),
        unsigned.headers(),
        List.of(new Secret(secret, now, null)));
  }

  private static final class Fields {
    private @Nullable String url;
    private @Nullable List<TypePattern> types;
    private @Nullable NewSubject subject;
    private @Nullable List<Filter> filters;
    private @Nullable Connector connector;
    private @Nullable Format format;
    private @Nullable Version version;
    private @Nullable Boolean base64;
    private @Nullable NewToken authToken;
    private @Nullable NewHeaders headers;
    private @Nullable NewRateLimit rateLimit;
    private EndpointTls.@Nullable Change tls;
    private @Nullable String secret;
    private @Nullable Signature signature;
    private @Nullable Instant since;
  }

  private Fields fields(JsonParser parser, Purpose purpose) {
    boolean isChange = purpose == Purpose.CHANGE;
    Fields fields = new Fields();
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "url" -> fields.url = url(JsonBody.text(parser, name));
        case "types" -> fields.types = types(parser);
        case "subject" -> {
          String given = JsonBody.optionalText(parser, name);
          fields.subject =
              new NewSubject(
                  given == null ? null : Text.clean(given, name, ApiLimits.SUBJECT_CHARS));
        }
        case "filters" -> fields.filters = filters(parser);
        case "filterConnector" ->
            fields.connector =
                constant(parser, name, Connector.values(), Connector::name, Connector.AND);
        case "format" ->
            fields.format = constant(parser, name, Format.values(), Json::kebab, Format.HOLDFAST);
        case "version" ->
            fields.version = optionalConstant(parser, name, Version.values(), Json::kebab);
        case "base64Encoding" ->
            fields.base64 = Boolean.TRUE.equals(JsonBody.optionalFlag(parser, name));
        case "authToken" -> fields.authToken = new NewToken(token(parser, name, isChange));
        case OwnHeaders.FIELD -> fields.headers = OwnHeaders.read(parser, isChange);
        case RateLimits.FIELD -> fields.rateLimit = new NewRateLimit(RateLimits.read(parser));
        case TlsFields.FIELD -> fields.tls = TlsFields.read(parser, clock.instant(), isChange);
        default -> rare(parser, name, fields, purpose);
      }
    }
    return fields;
  }

  /** Fields that not everybody may give. */
  private void rare(JsonParser parser, String name, Fields fields, Purpose purpose) {
    String elsewhere = elsewhere(name, purpose);
    if (elsewhere != null) {
      throw Refusal.of(Kind.INVALID_FIELD, name, elsewhere);
    }
    switch (name) {
      case "secret" -> fields.secret = secret(parser, name);
      case SIGNATURE -> fields.signature = signature(parser, name);
      case "since" -> fields.since = since(parser, name);
      default -> throw JsonBody.unknownField(name, purpose.known);
    }
  }

  /** Where a field that cannot be given here has its place, if it has one. */
  private static @Nullable String elsewhere(String name, Purpose purpose) {
    boolean isChange = purpose == Purpose.CHANGE;
    return switch (name) {
      case "paused" ->
          isChange ? "Use POST /v1/subscriptions/{id}/pause or /resume for this." : null;
      case "secret", SIGNATURE ->
          isChange ? "Use POST /v1/subscriptions/{id}/rotate for this." : null;
      case "since" ->
          isChange || purpose == Purpose.IMPORT
              ? "Only a new subscription can ask for what was before it: give this to POST"
                  + " /v1/subscriptions."
              : null;
      default -> null;
    };
  }

  String url(String given) {
    Text.clean(given, "url", ApiLimits.URL_CHARS);
    if (MaskedUrl.isMasked(given)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          "url",
          "This is how the URL is shown, with the values of its query hidden, and not the URL. Give"
              + " the URL; a change that leaves it out keeps it.");
    }
    try {
      return urls.normalise(given);
    } catch (IllegalArgumentException e) {
      String why = e.getMessage();
      throw Refusal.of(
          Kind.INVALID_FIELD, "url", why == null ? "This URL cannot be an endpoint's." : why);
    }
  }

  private static List<TypePattern> types(JsonParser parser) {
    if (parser.nextToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrongType(parser, "types", "an array of types or patterns");
    }
    Set<TypePattern> types = new LinkedHashSet<>();
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      String field = "types[" + count + "]";
      if (parser.currentToken() != JsonToken.VALUE_STRING) {
        throw JsonBody.wrongType(parser, field, "a string");
      }
      types.add(new TypePattern(Text.clean(parser.getString(), field, ApiLimits.TYPE_CHARS)));
      count++;
      if (count > ApiLimits.SUBSCRIPTION_TYPES) {
        throw typesSize("more than that");
      }
    }
    if (count == 0) {
      throw typesSize("none");
    }
    return new ArrayList<>(types);
  }

  private static Refusal typesSize(String found) {
    return Refusal.of(
        Kind.INVALID_FIELD,
        "types",
        "Give 1 to "
            + ApiLimits.SUBSCRIPTION_TYPES
            + " types or patterns, not "
            + found
            + "; \"*\" stands for any text.");
  }

  static List<Filter> filters(JsonParser parser) {
    if (parser.nextToken() == JsonToken.VALUE_NULL) {
      return List.of();
    }
    try {
      return FilterReader.read(parser);
    } catch (InvalidFilter invalid) {
      throw refusal(invalid);
    }
  }

  private static Refusal refusal(InvalidFilter invalid) {
    return Refusal.of(Kind.INVALID_FIELD, Text.shown(invalid.place()), invalid.reason());
  }

  /** One of some words; the usual one when it is null. */
  static <E extends Enum<E>> E constant(
      JsonParser parser, String field, E[] values, Function<E, String> word, E usual) {
    String given = JsonBody.optionalText(parser, field);
    return given == null
        ? usual
        : constant(
            given, field, values, word, ", or leave it out for \"" + word.apply(usual) + "\"");
  }

  /** One of some words; absent when it is null. */
  private static <E extends Enum<E>> @Nullable E optionalConstant(
      JsonParser parser, String field, E[] values, Function<E, String> word) {
    String given = JsonBody.optionalText(parser, field);
    return given == null ? null : constant(given, field, values, word, ", or leave it out");
  }

  /** One of some words, which must be there. */
  static <E extends Enum<E>> E constant(
      JsonParser parser, String field, E[] values, Function<E, String> word) {
    return constant(JsonBody.text(parser, field), field, values, word, "");
  }

  private static <E extends Enum<E>> E constant(
      String given, String field, E[] values, Function<E, String> word, String otherwise) {
    List<String> words = new ArrayList<>();
    for (E value : values) {
      if (word.apply(value).equals(given)) {
        return value;
      }
      words.add("\"" + word.apply(value) + "\"");
    }
    throw Refusal.of(
        Kind.INVALID_FIELD,
        field,
        "Use one of %s, written like that%s.".formatted(String.join(", ", words), otherwise));
  }

  /**
   * The token that comes next; absent when it is null.
   *
   * @param isChange whether there may be one already, which stays if none is given
   */
  static @Nullable String token(JsonParser parser, String field, boolean isChange) {
    String given = JsonBody.optionalText(parser, field);
    if (given == null) {
      return null;
    }
    boolean isVisible = given.chars().allMatch(c -> c > ' ' && c < 0x7f);
    if (given.isEmpty() || given.length() > ApiLimits.AUTH_TOKEN_CHARS || !isVisible) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "It must have 1 to "
              + ApiLimits.AUTH_TOKEN_CHARS
              + " visible ASCII characters and no blanks. It is sent after \"Bearer \".");
    }
    return Mask.refuse(given, field, isChange);
  }

  private static @Nullable String secret(JsonParser parser, String field) {
    String given = JsonBody.optionalText(parser, field);
    return given == null ? null : Secrets.check(given, field);
  }

  private static @Nullable Signature signature(JsonParser parser, String field) {
    return optionalConstant(parser, field, Signature.values(), Json::kebab);
  }

  /** The secret that is given, or one that makes such signatures. */
  private String secret(@Nullable String given, @Nullable Signature signature) {
    Secrets.check(signature, given);
    return given == null ? secrets.make(signature == null ? Signature.V1 : signature) : given;
  }

  private @Nullable Instant since(JsonParser parser, String field) {
    String given = JsonBody.optionalText(parser, field);
    if (given == null) {
      return null;
    }
    Instant since = Text.time(given, field);
    if (since.isAfter(clock.instant())) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "It is in the future. Leave it out: what comes from now on is delivered anyway.");
    }
    return since;
  }
}
