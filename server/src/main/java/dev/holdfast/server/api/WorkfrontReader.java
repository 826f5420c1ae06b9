package dev.holdfast.server.api;

import dev.holdfast.core.filter.Filter;
import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.ObjectEvent;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.path.Request.NewEvent;
import dev.holdfast.core.path.Request.Wish;
import dev.holdfast.server.api.Problem.Kind;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads subscriptions, versions and events from request bodies in the words of Adobe Workfront's
 * event subscriptions.
 */
final class WorkfrontReader {
  private static final String KNOWN_OF_SUBSCRIPTION =
      "objCode, eventType, url, authToken, objId, filters, filterConnector, base64Encoding,"
          + " version";
  private static final String KNOWN_OF_EVENT =
      "objCode, eventType, objId, newState, oldState, eventTime, id";
  private static final String KNOWN_OF_VERSIONS =
      "subscriptionIds, allCustomerSubscriptions, version";

  private static final String IDS = "subscriptionIds";
  private static final String ALL = "allCustomerSubscriptions";

  private static final long NANOS_MOST = 999_999_999;

  /** Numbers of so many characters fit into a long, and are read without being asked how large. */
  private static final int LONG_CHARS = 18;

  private static final JsonBody JSON = new JsonBody(1);

  private final SubscriptionReader subscriptions;
  private final int messageBytes;

  WorkfrontReader(SubscriptionReader subscriptions, int messageBytes) {
    this.subscriptions = subscriptions;
    this.messageBytes = messageBytes;
  }

  /**
   * Which subscriptions are to have which version.
   *
   * @param subscriptions as they stand in the body; all of the tenant's when absent
   */
  record AskedVersions(@Nullable List<Long> subscriptions, Version version) {}

  Wish wish(byte[] body) {
    return JSON.read(body, this::wish);
  }

  Version version(byte[] body) {
    return JSON.read(body, WorkfrontReader::onlyVersion);
  }

  AskedVersions versions(byte[] body) {
    return JSON.read(body, WorkfrontReader::askedVersions);
  }

  NewEvent event(byte[] body, @Nullable String traceparent) {
    return JSON.read(body, parser -> event(parser, body, traceparent));
  }

  // ---- a subscription

  private Wish wish(JsonParser parser) {
    String objCode = null;
    ObjectEvent.Kind kind = null;
    String url = null;
    String written = null;
    String authToken = null;
    String objId = null;
    List<Filter> filters = List.of();
    Connector connector = Connector.AND;
    boolean base64 = false;
    Version version = Version.V2;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "objCode" -> objCode = objCode(parser, name);
        case "eventType" -> kind = kind(parser, name);
        case "url" -> {
          written = JsonBody.text(parser, name);
          url = subscriptions.url(written);
        }
        case "authToken" -> authToken = SubscriptionReader.token(parser, name, false);
        case "objId" -> objId = objId(parser, name);
        case "filters" -> filters = SubscriptionReader.filters(parser);
        case "filterConnector" ->
            connector =
                SubscriptionReader.constant(
                    parser, name, Connector.values(), Connector::name, Connector.AND);
        case "base64Encoding" -> base64 = isBase64(parser, name);
        case "version" ->
            version =
                SubscriptionReader.constant(
                    parser, name, Version.values(), Json::kebab, Version.V2);
        default -> throw JsonBody.unknownField(name, KNOWN_OF_SUBSCRIPTION);
      }
    }
    TypePattern type = new TypePattern(happened(objCode, kind).type());
    if (url == null) {
      throw JsonBody.missing("url");
    }
    if (authToken == null) {
      throw JsonBody.missing("authToken");
    }
    return new Wish(
        url,
        url.equals(written) ? null : written,
        SubscriptionReader.consistent(
            new Interest(List.of(type), objId, new Filters(connector, filters))),
        new Form(
            Format.WORKFRONT,
            new Edition(version, null),
            base64,
            authToken,
            Collections.emptyNavigableMap(),
            List.of()),
        null);
  }

  private static ObjectEvent happened(@Nullable String objCode, ObjectEvent.@Nullable Kind kind) {
    if (objCode == null) {
      throw JsonBody.missing("objCode");
    }
    if (kind == null) {
      throw JsonBody.missing("eventType");
    }
    return new ObjectEvent(objCode, kind);
  }

  private static String objCode(JsonParser parser, String field) {
    String given = JsonBody.text(parser, field);
    if (given.isEmpty()
        || given.length() > ApiLimits.OBJ_CODE_CHARS
        || !given.chars().allMatch(WorkfrontReader::isOfObjCode)) {
      throw Refusal.of(
          Kind.INVALID_FIELD,
          field,
          "It must have 1 to "
              + ApiLimits.OBJ_CODE_CHARS
              + " letters A to Z or a to z, digits and _, such as PROJ.");
    }
    return given;
  }

  private static boolean isOfObjCode(int c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  }

  private static ObjectEvent.Kind kind(JsonParser parser, String field) {
    return SubscriptionReader.constant(
        parser, field, ObjectEvent.Kind.values(), ObjectEvent.Kind::name);
  }

  /** The id of one object; absent for any. */
  private static @Nullable String objId(JsonParser parser, String field) {
    String given = JsonBody.optionalText(parser, field);
    return given == null || given.isEmpty()
        ? null
        : Text.clean(given, field, ApiLimits.SUBJECT_CHARS);
  }

  /** A boolean, or one as text, as some programs send it. */
  private static boolean isBase64(JsonParser parser, String field) {
    return switch (parser.nextToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE, VALUE_NULL -> false;
      case VALUE_STRING ->
          switch (parser.getString()) {
            case "true" -> true;
            case "false", "" -> false;
            default -> throw Refusal.of(Kind.INVALID_FIELD, field, "Give true or false.");
          };
      default -> throw JsonBody.wrongType(parser, field, "true or false");
    };
  }

  // ---- versions

  private static Version version(JsonParser parser, String field) {
    return SubscriptionReader.constant(parser, field, Version.values(), Json::kebab);
  }

  private static Version onlyVersion(JsonParser parser) {
    Version version = null;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      if (!name.equals("version")) {
        throw JsonBody.unknownField(name, "version");
      }
      version = version(parser, name);
    }
    if (version == null) {
      throw JsonBody.missing("version");
    }
    return version;
  }

  private static AskedVersions askedVersions(JsonParser parser) {
    List<Long> ids = null;
    boolean all = false;
    Version version = null;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case IDS -> ids = ids(parser);
        case ALL -> all = Boolean.TRUE.equals(JsonBody.optionalFlag(parser, name));
        case "version" -> version = version(parser, name);
        default -> throw JsonBody.unknownField(name, KNOWN_OF_VERSIONS);
      }
    }
    if (version == null) {
      throw JsonBody.missing("version");
    }
    if (all) {
      if (ids != null) {
        throw Refusal.of(
            Kind.INVALID_FIELD,
            ALL,
            "Give either " + IDS + " or \"" + ALL + "\": true, and not both.");
      }
      return new AskedVersions(null, version);
    }
    if (ids == null) {
      throw Refusal.of(
          Kind.INVALID_FIELD, IDS, "Give the ids of subscriptions, or \"" + ALL + "\": true.");
    }
    return new AskedVersions(ids, version);
  }

  /** Absent when there is null instead of a list. */
  private static @Nullable List<Long> ids(JsonParser parser) {
    JsonToken first = parser.nextToken();
    if (first == JsonToken.VALUE_NULL) {
      return null;
    }
    if (first != JsonToken.START_ARRAY) {
      throw JsonBody.wrongType(parser, IDS, "an array of ids");
    }
    List<Long> ids = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      String place = IDS + "[" + ids.size() + "]";
      if (parser.currentToken() != JsonToken.VALUE_STRING) {
        throw JsonBody.wrongType(parser, place, "a string");
      }
      long id =
          Id.parse(Id.SUBSCRIPTION, parser.getString())
              .orElseThrow(
                  () ->
                      Refusal.of(
                          Kind.INVALID_FIELD,
                          place,
                          "Give an id as it came in an answer; it begins with "
                              + Id.SUBSCRIPTION
                              + "_. Nothing was changed."));
      ids.add(id);
      if (ids.size() > ApiLimits.VERSION_CHANGES) {
        throw idsSize("more than that");
      }
    }
    if (ids.isEmpty()) {
      throw idsSize("none");
    }
    return ids;
  }

  private static Refusal idsSize(String found) {
    return Refusal.of(
        Kind.INVALID_FIELD,
        IDS,
        "Give 1 to " + ApiLimits.VERSION_CHANGES + " ids, not " + found + ".");
  }

  // ---- an event

  private NewEvent event(JsonParser parser, byte[] body, @Nullable String traceparent) {
    String objCode = null;
    ObjectEvent.Kind kind = null;
    String objId = null;
    byte[] newState = null;
    byte[] oldState = null;
    Instant eventTime = null;
    String id = null;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "objCode" -> objCode = objCode(parser, name);
        case "eventType" -> kind = kind(parser, name);
        case "objId" -> objId = objId(parser, name);
        case "newState" -> {
          parser.nextToken();
          newState = state(parser, body, name);
        }
        case "oldState" ->
            oldState =
                parser.nextToken() == JsonToken.VALUE_NULL ? null : state(parser, body, name);
        case "eventTime" -> eventTime = eventTime(parser, name);
        case "id" -> {
          String given = JsonBody.optionalText(parser, name);
          id = given == null ? null : Text.eventId(given, name);
        }
        default -> throw JsonBody.unknownField(name, KNOWN_OF_EVENT);
      }
    }
    String type = happened(objCode, kind).type();
    if (newState == null) {
      throw JsonBody.missing("newState");
    }
    EventReader.checkSize(newState, "newState", oldState, "oldState", messageBytes);
    return new NewEvent(type, objId, eventTime, newState, oldState, id, traceparent);
  }

  /** The bytes of the object that begins here. */
  private static byte[] state(JsonParser parser, byte[] body, String field) {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw JsonBody.wrongType(parser, field, "an object");
    }
    int start = JsonBody.offset(parser);
    parser.skipChildren();
    return Arrays.copyOfRange(body, start, JsonBody.offset(parser) + 1);
  }

  /** A time as text, or as seconds and nanoseconds since 1970. */
  private static @Nullable Instant eventTime(JsonParser parser, String field) {
    return switch (parser.nextToken()) {
      case VALUE_NULL -> null;
      case VALUE_STRING -> Text.time(parser.getString(), field);
      case START_OBJECT -> {
        try {
          yield sinceEpoch(parser);
        } catch (Refusal refusal) {
          throw new Refusal(refusal.problem().at(field));
        }
      }
      default -> throw JsonBody.wrongType(parser, field, "a time");
    };
  }

  private static Instant sinceEpoch(JsonParser parser) {
    Long second = null;
    long nano = 0;
    FieldNames names = new FieldNames(parser);
    for (String name = names.next(); name != null; name = names.next()) {
      switch (name) {
        case "epochSecond" ->
            second =
                number(
                    parser, name, Rfc3339.FIRST.getEpochSecond(), Rfc3339.END.getEpochSecond() - 1);
        case "nano" -> nano = number(parser, name, 0, NANOS_MOST);
        default -> throw JsonBody.unknownField(name, "epochSecond, nano");
      }
    }
    if (second == null) {
      throw JsonBody.missing("epochSecond");
    }
    return Instant.ofEpochSecond(second, nano).truncatedTo(ChronoUnit.MICROS);
  }

  private static long number(JsonParser parser, String field, long least, long most) {
    if (parser.nextToken() != JsonToken.VALUE_NUMBER_INT) {
      throw JsonBody.wrongType(parser, field, "a whole number");
    }
    if (parser.getStringLength() <= LONG_CHARS) {
      long number = parser.getLongValue();
      if (number >= least && number <= most) {
        return number;
      }
    }
    throw Refusal.of(
        Kind.INVALID_FIELD, field, "Give a whole number from " + least + " to " + most + ".");
  }
}
