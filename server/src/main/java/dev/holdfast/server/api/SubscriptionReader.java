package dev.holdfast.server.api;

import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Interest.NewSubject;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.NewRateLimit;
import dev.holdfast.core.path.Request.Patch;
import dev.holdfast.server.api.Problem.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Reads subscriptions from request bodies. */
final class SubscriptionReader {
  static final String FORMAT = "holdfast";

  private static final String KNOWN = "url, types, subject, format, rateLimit";

  /** Part of the contract, but not of this version. */
  private static final Set<String> LATER =
      Set.of("filters", "filterConnector", "authToken", "headers", "secret");

  private static final Set<String> LATER_FORMATS = Set.of("cloudevents", "workfront");

  private static final JsonBody JSON = new JsonBody(1);

  private final EndpointUrls urls;

  SubscriptionReader(EndpointUrls urls) {
    this.urls = urls;
  }

  /**
   * What a caller wants to subscribe to.
   *
   * @param url in its normal form
   * @param rateLimit the endpoint's from now on; absent leaves it as it is
   */
  record Wish(
      String url,
      List<TypePattern> types,
      @Nullable String subject,
      @Nullable RateLimit rateLimit) {}

  Wish read(byte[] body) {
    return JSON.read(body, this::wish);
  }

  /** What is to be changed of a subscription, as a JSON merge patch. */
  Patch readPatch(byte[] body) {
    return JSON.read(
        body,
        parser -> {
          Fields fields = fields(parser, true);
          return new Patch(
              fields.url,
              new Interest.Change(fields.types, fields.subject, null, null),
              Form.Change.NOTHING,
              null,
              fields.rateLimit);
        });
  }

  private Wish wish(JsonParser parser) {
    Fields fields = fields(parser, false);
    if (fields.url == null) {
      throw JsonBody.missing("url");
    }
    if (fields.types == null) {
      throw JsonBody.missing("types");
    }
    return new Wish(
        fields.url,
        fields.types,
        fields.subject == null ? null : fields.subject.text(),
        fields.rateLimit == null ? null : fields.rateLimit.limit());
  }

  private static final class Fields {
    private @Nullable String url;
    private @Nullable List<TypePattern> types;
    private @Nullable NewSubject subject;
    private @Nullable NewRateLimit rateLimit;
  }

  private Fields fields(JsonParser parser, boolean isPatch) {
    Fields fields = new Fields();
    Set<String> seen = new HashSet<>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      if (!seen.add(name)) {
        throw JsonBody.twice(Text.shown(name));
      }
      switch (name) {
        case "url" -> fields.url = url(JsonBody.text(parser, name));
        case "types" -> fields.types = types(parser);
        case "subject" -> {
          String given = JsonBody.optionalText(parser, name);
          fields.subject =
              new NewSubject(
                  given == null ? null : Text.clean(given, name, ApiLimits.SUBJECT_CHARS));
        }
        case "format" -> checkFormat(JsonBody.text(parser, name));
        case RateLimits.FIELD -> fields.rateLimit = new NewRateLimit(RateLimits.read(parser));
        default -> throw isPatch ? notPatched(name) : notTaken(name);
      }
    }
    return fields;
  }

  private static Refusal notPatched(String name) {
    if (name.equals("paused")) {
      return Refusal.of(
          Kind.INVALID_FIELD, name, "Use POST /v1/subscriptions/{id}/pause or /resume for this.");
    }
    return notTaken(name);
  }

  private String url(String given) {
    Text.clean(given, "url", ApiLimits.URL_CHARS);
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

  private static void checkFormat(String format) {
    if (LATER_FORMATS.contains(format)) {
      throw Refusal.of(
          Kind.LATER_VERSION,
          "format",
          "This format comes with a later version. Use \"" + FORMAT + "\", or leave it out.");
    }
    if (!format.equals(FORMAT)) {
      throw Refusal.of(
          Kind.INVALID_FIELD, "format", "Use \"" + FORMAT + "\", or leave the format out.");
    }
  }

  private static Refusal notTaken(String name) {
    if (LATER.contains(name)) {
      return Refusal.of(
          Kind.LATER_VERSION, name, "This field comes with a later version. Leave it out.");
    }
    return JsonBody.unknownField(name, KNOWN);
  }
}
